// The functions of CUDA's driver that the runtime calls, found when a context asks for a device,
// and what their results mean. Names and numbers are those of the driver's interface, cuda.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace attn::rt {

using Handle = void*;
using DeviceAddress = uint64_t;

// By their names, without the prefix "cu" and the version at the end.
struct CudaFunctions {
  int (*Init)(unsigned flags);
  int (*DriverGetVersion)(int* version);
  int (*DeviceGetCount)(int* count);
  int (*DeviceGet)(int* device, int ordinal);
  int (*DeviceGetAttribute)(int* value, int attribute, int device);
  int (*DevicePrimaryCtxRetain)(Handle* context, int device);
  int (*DevicePrimaryCtxRelease)(int device);
  int (*CtxPushCurrent)(Handle context);
  int (*CtxPopCurrent)(Handle* context);
  int (*CtxGetDevice)(int* device);
  int (*StreamCreate)(Handle* stream, unsigned flags);
  int (*StreamDestroy)(Handle stream);
  int (*StreamSynchronize)(Handle stream);
  int (*MemAlloc)(DeviceAddress* memory, size_t bytes);
  int (*MemFree)(DeviceAddress memory);
  int (*MemAllocHost)(void** memory, size_t bytes);
  int (*MemFreeHost)(void* memory);
  int (*MemcpyHtoDAsync)(DeviceAddress to, const void* from, size_t bytes, Handle stream);
  int (*MemcpyDtoHAsync)(void* to, DeviceAddress from, size_t bytes, Handle stream);
  int (*MemsetD8Async)(DeviceAddress to, unsigned char byte, size_t bytes, Handle stream);
  int (*ModuleLoadDataEx)(Handle* module, const void* text, unsigned n_options, int* options,
                          void** values);
  int (*ModuleUnload)(Handle module);
  int (*ModuleGetFunction)(Handle* function, Handle module, const char* name);
  int (*FuncGetAttribute)(int* value, int attribute, Handle function);
  int (*FuncSetAttribute)(Handle function, int attribute, int value);
  int (*LaunchKernel)(Handle function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                      unsigned threads_x, unsigned threads_y, unsigned threads_z,
                      unsigned shared_bytes, Handle stream, void** arguments, void** extra);
  int (*StreamIsCapturing)(Handle stream, int* status);
  int (*StreamBeginCapture)(Handle stream, int mode);
  int (*StreamEndCapture)(Handle stream, Handle* graph);
  int (*GraphGetNodes)(Handle graph, Handle* nodes, size_t* count);
  int (*GraphInstantiate)(Handle* executable, Handle graph, Handle* node, char* log, size_t bytes);
  int (*GraphDestroy)(Handle graph);
  int (*GraphLaunch)(Handle executable, Handle stream);
  int (*GraphExecDestroy)(Handle executable);
  int (*GetErrorName)(int code, const char** name);
};

// Results of functions: CUresult.
constexpr int kCudaInvalidValue = 1, kCudaOutOfMemory = 2, kCudaNotInitialised = 3,
              kCudaNoDevice = 100, kCudaInvalidPtx = 218, kCudaUnsupportedPtx = 222,
              kCudaIllegalAddress = 700, kCudaOutOfResources = 701, kCudaMisaligned = 716,
              kCudaMismatch = 803;
// Whether nothing runs in a context any more after this result.
bool is_lost(int code);

// Attributes of devices and functions.
constexpr int kMostThreads = 1, kMostRegisters = 12, kMajor = 75, kMinor = 76, kMostShared = 97;
constexpr int kThreadsOfFunction = 0, kStaticSharedOfFunction = 1, kRegistersOfFunction = 4,
              kDynamicSharedOfFunction = 8;
// Of StreamCreate: it waits for no other stream, nor others for it.
constexpr unsigned kStreamOfItsOwn = 1;
// Options of ModuleLoadDataEx.
constexpr int kLimitRegisters = 0, kErrorLog = 5, kErrorLogBytes = 6;

// Opens the driver, fills `functions` and starts it; says why not. The library is to be closed in
// both cases, where it is not null.
const char* open_cuda(CudaFunctions& functions, void** library);
// Why there is no device of this ordinal, of so many; null where there is.
const char* ordinal_refusal(const CudaFunctions& functions, int32_t ordinal);

}  // namespace attn::rt
