#include "cuda_driver.h"

#include <dlfcn.h>
#include <string.h>

#include "ordinals.h"

namespace attn::rt {
namespace {

constexpr const char* kNames[] = {"cuInit",
                                  "cuDriverGetVersion",
                                  "cuDeviceGetCount",
                                  "cuDeviceGet",
                                  "cuDeviceGetAttribute",
                                  "cuDevicePrimaryCtxRetain",
                                  "cuDevicePrimaryCtxRelease_v2",
                                  "cuCtxPushCurrent_v2",
                                  "cuCtxPopCurrent_v2",
                                  "cuCtxGetDevice",
                                  "cuStreamCreate",
                                  "cuStreamDestroy_v2",
                                  "cuStreamSynchronize",
                                  "cuMemAlloc_v2",
                                  "cuMemFree_v2",
                                  "cuMemAllocHost_v2",
                                  "cuMemFreeHost",
                                  "cuMemcpyHtoDAsync_v2",
                                  "cuMemcpyDtoHAsync_v2",
                                  "cuMemsetD8Async",
                                  "cuModuleLoadDataEx",
                                  "cuModuleUnload",
                                  "cuModuleGetFunction",
                                  "cuFuncGetAttribute",
                                  "cuFuncSetAttribute",
                                  "cuLaunchKernel",
                                  "cuStreamIsCapturing",
                                  "cuStreamBeginCapture_v2",
                                  "cuStreamEndCapture",
                                  "cuGraphGetNodes",
                                  "cuGraphInstantiate_v2",
                                  "cuGraphDestroy",
                                  "cuGraphLaunch",
                                  "cuGraphExecDestroy",
                                  "cuGetErrorName"};
static_assert(sizeof(CudaFunctions) == sizeof kNames);

// The first that knows compute capability 8.0.
constexpr int kOldestDriver = 11000;
constexpr const char* kTooOld = "the CUDA driver is older than that of CUDA 11.0";

constexpr const char* kCounts[] = ATTN_ORDINAL_TEXTS("CUDA", "");

const char* start_refusal(int code) {
  switch (code) {
    case 0:
      return nullptr;
    case kCudaNoDevice:
      return kCounts[0];
    case kCudaNotInitialised:
      return "the CUDA driver does not start in a child of a process that has used it";
    case kCudaMismatch:
      return "the CUDA driver's library and its kernel module are of different versions";
    default:
      return "the CUDA driver does not start: `nvidia-smi` may say why";
  }
}

}  // namespace

bool is_lost(int code) {
  switch (code) {
    case 4:    // CUDA_ERROR_DEINITIALIZED
    case 46:   // CUDA_ERROR_DEVICE_UNAVAILABLE
    case 214:  // CUDA_ERROR_ECC_UNCORRECTABLE
    case 220:  // CUDA_ERROR_NVLINK_UNCORRECTABLE
    case 226:  // CUDA_ERROR_CONTAINED
    case kCudaIllegalAddress:
    case 702:  // CUDA_ERROR_LAUNCH_TIMEOUT
    case 709:  // CUDA_ERROR_CONTEXT_IS_DESTROYED
    case 710:  // CUDA_ERROR_ASSERT
    case 714:  // CUDA_ERROR_HARDWARE_STACK_ERROR
    case 715:  // CUDA_ERROR_ILLEGAL_INSTRUCTION
    case kCudaMisaligned:
    case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
    case 718:  // CUDA_ERROR_INVALID_PC
    case 719:  // CUDA_ERROR_LAUNCH_FAILED
    case 721:  // CUDA_ERROR_TENSOR_MEMORY_LEAK
    case 810:  // CUDA_ERROR_MPS_CLIENT_TERMINATED
    case 911:  // CUDA_ERROR_EXTERNAL_DEVICE
    case 999:  // CUDA_ERROR_UNKNOWN
      return true;
    default:
      return false;
  }
}

const char* open_cuda(CudaFunctions& functions, void** library) {
  // The driver keeps threads and is never unloaded.
  *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (*library == nullptr) return "no CUDA driver: libcuda.so.1 not found";
  void* found[sizeof kNames / sizeof *kNames];
  for (size_t k = 0; k < sizeof kNames / sizeof *kNames; ++k) {
    found[k] = dlsym(*library, kNames[k]);
    if (found[k] == nullptr) return kTooOld;
  }
  memcpy(&functions, found, sizeof functions);
  if (const char* why = start_refusal(functions.Init(0))) return why;
  int version = 0;
  if (functions.DriverGetVersion(&version) != 0 || version < kOldestDriver) return kTooOld;
  return nullptr;
}

const char* ordinal_refusal(const CudaFunctions& functions, int32_t ordinal) {
  int count = 0;
  if (const char* why = start_refusal(functions.DeviceGetCount(&count))) return why;
  return text_of_count(kCounts, count, ordinal);
}

}  // namespace attn::rt
