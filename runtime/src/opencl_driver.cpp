#include "opencl_driver.h"

#include <dlfcn.h>
#include <string.h>

#include <algorithm>

#include "ordinals.h"

namespace attn::rt {
namespace {

constexpr const char* kNames[] = {"clGetPlatformIDs",       "clGetDeviceIDs",
                                  "clGetDeviceInfo",        "clCreateContext",
                                  "clCreateCommandQueue",   "clCreateProgramWithSource",
                                  "clBuildProgram",         "clGetProgramBuildInfo",
                                  "clCreateKernel",         "clGetKernelWorkGroupInfo",
                                  "clSetKernelArg",         "clSetKernelArgSVMPointer",
                                  "clEnqueueNDRangeKernel", "clSVMAlloc",
                                  "clEnqueueSVMFree",       "clEnqueueSVMMemcpy",
                                  "clEnqueueSVMMemFill",    "clFinish",
                                  "clReleaseKernel",        "clReleaseProgram",
                                  "clReleaseCommandQueue",  "clReleaseContext"};
static_assert(sizeof(OpenClFunctions) == sizeof kNames);

constexpr const char* kCounts[] =
    ATTN_ORDINAL_TEXTS("OpenCL", " with shared virtual memory and doubles");

constexpr uint64_t kAllTypes = 0xffffffff;
constexpr uint64_t kCoarseGrain = 1;
constexpr uint32_t kMostPlatforms = 16, kMostDevices = 64;

bool has(const OpenClFunctions& call, Handle device, uint32_t what, uint64_t bits) {
  uint64_t value = 0;
  return call.GetDeviceInfo(device, what, sizeof value, &value, nullptr) == 0 &&
         (value & bits) != 0;
}

}  // namespace

const char* find_opencl(OpenClFunctions& call, void** library, int32_t ordinal, Handle* device) {
  // The loader of drivers keeps a list of them, and is never unloaded.
  *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (*library == nullptr) return "no OpenCL: libOpenCL.so.1 not found";
  void* found[sizeof kNames / sizeof *kNames];
  for (size_t k = 0; k < sizeof kNames / sizeof *kNames; ++k) {
    found[k] = dlsym(*library, kNames[k]);
    if (found[k] == nullptr) return "libOpenCL.so.1 is older than OpenCL 2.0";
  }
  memcpy(&call, found, sizeof call);
  Handle platforms[kMostPlatforms], devices[kMostDevices];
  uint32_t n_platforms = 0;
  if (call.GetPlatformIDs(kMostPlatforms, platforms, &n_platforms) != 0) n_platforms = 0;
  int32_t count = 0;
  for (uint32_t p = 0; p < std::min(n_platforms, kMostPlatforms); ++p) {
    uint32_t n_devices = 0;
    if (call.GetDeviceIDs(platforms[p], kAllTypes, kMostDevices, devices, &n_devices) != 0)
      continue;
    for (uint32_t d = 0; d < std::min(n_devices, kMostDevices); ++d) {
      const bool is_usable = has(call, devices[d], kSharedMemory, kCoarseGrain) &&
                             has(call, devices[d], kDoubles, ~uint64_t{0});
      if (is_usable && count++ == ordinal) *device = devices[d];
    }
  }
  return text_of_count(kCounts, count, ordinal);
}

const char* opencl_result_name(int32_t code) {
  switch (code) {
    case -2:
      return "CL_DEVICE_NOT_AVAILABLE";
    case kClNoMemory:
      return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case kClOutOfResources:
      return "CL_OUT_OF_RESOURCES";
    case kClNoHostMemory:
      return "CL_OUT_OF_HOST_MEMORY";
    case -11:
      return "CL_BUILD_PROGRAM_FAILURE";
    case -14:
      return "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST";
    case -30:
      return "CL_INVALID_VALUE";
    case -36:
      return "CL_INVALID_COMMAND_QUEUE";
    case -46:
      return "CL_INVALID_KERNEL_NAME";
    case -51:
      return "CL_INVALID_ARG_SIZE";
    case -52:
      return "CL_INVALID_KERNEL_ARGS";
    case kClBadGroupSize:
      return "CL_INVALID_WORK_GROUP_SIZE";
    case kClBadItemSize:
      return "CL_INVALID_WORK_ITEM_SIZE";
    default:
      return "an error of OpenCL";
  }
}

bool is_lost_opencl(int32_t code) {
  constexpr int32_t kNotAvailable = -2, kBadQueue = -36, kFaultOnNvidia = -9999;
  return code == kNotAvailable || code == kBadQueue || code == kFaultOnNvidia;
}

}  // namespace attn::rt
