// The functions of OpenCL that the runtime calls, found when a context asks for a device, and the
// devices that can be had. Names and numbers are those of the specification.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace attn::rt {

using Handle = void*;

// By their names, without the prefix "cl".
struct OpenClFunctions {
  int32_t (*GetPlatformIDs)(uint32_t, Handle*, uint32_t*);
  int32_t (*GetDeviceIDs)(Handle, uint64_t, uint32_t, Handle*, uint32_t*);
  int32_t (*GetDeviceInfo)(Handle, uint32_t, size_t, void*, size_t*);
  Handle (*CreateContext)(const intptr_t*, uint32_t, const Handle*, void (*)(), void*, int32_t*);
  Handle (*CreateCommandQueue)(Handle, Handle, uint64_t, int32_t*);
  Handle (*CreateProgramWithSource)(Handle, uint32_t, const char**, const size_t*, int32_t*);
  int32_t (*BuildProgram)(Handle, uint32_t, const Handle*, const char*, void (*)(), void*);
  int32_t (*GetProgramBuildInfo)(Handle, Handle, uint32_t, size_t, void*, size_t*);
  Handle (*CreateKernel)(Handle, const char*, int32_t*);
  int32_t (*GetKernelWorkGroupInfo)(Handle, Handle, uint32_t, size_t, void*, size_t*);
  int32_t (*SetKernelArg)(Handle, uint32_t, size_t, const void*);
  int32_t (*SetKernelArgSVMPointer)(Handle, uint32_t, const void*);
  int32_t (*EnqueueNDRangeKernel)(Handle, Handle, uint32_t, const size_t*, const size_t*,
                                  const size_t*, uint32_t, const Handle*, Handle*);
  void* (*SVMAlloc)(Handle, uint64_t, size_t, uint32_t);
  int32_t (*EnqueueSVMFree)(Handle, uint32_t, void**, void (*)(), void*, uint32_t, const Handle*,
                            Handle*);
  int32_t (*EnqueueSVMMemcpy)(Handle, uint32_t, void*, const void*, size_t, uint32_t, const Handle*,
                              Handle*);
  int32_t (*EnqueueSVMMemFill)(Handle, void*, const void*, size_t, size_t, uint32_t, const Handle*,
                               Handle*);
  int32_t (*Finish)(Handle);
  int32_t (*ReleaseKernel)(Handle);
  int32_t (*ReleaseProgram)(Handle);
  int32_t (*ReleaseCommandQueue)(Handle);
  int32_t (*ReleaseContext)(Handle);
};

// Opens the library and finds the device of this ordinal, of those with shared virtual memory and
// doubles; says why not. The library is to be closed in both cases, where it is not null.
const char* find_opencl(OpenClFunctions& functions, void** library, int32_t ordinal,
                        Handle* device);

// "CL_OUT_OF_RESOURCES".
const char* opencl_result_name(int32_t code);
constexpr int32_t kClNoMemory = -4, kClOutOfResources = -5, kClNoHostMemory = -6,
                  kClBadGroupSize = -54, kClBadItemSize = -55;
// Whether nothing runs in a queue any more after this result.
bool is_lost_opencl(int32_t code);

// What devices and kernels are asked for.
constexpr uint32_t kMostThreadsOfDevice = 0x1004, kLocalBytes = 0x1023, kDoubles = 0x1032,
                   kSharedMemory = 0x1053, kBuildLog = 0x1183, kMostThreadsOfKernel = 0x11b0;

}  // namespace attn::rt
