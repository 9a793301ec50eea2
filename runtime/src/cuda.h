// Devices of CUDA, opened at run time: one context and one stream of the driver a context of ours.
#pragma once

#include "context.h"
#include "cuda_driver.h"
#include "device_kernels.h"
#include "device_memory.h"

namespace attn::rt {

// Why contexts of this device cannot be created; null where they can.
const char* cuda_refusal(int32_t ordinal);
// Makes the context one of the device of its options, or says why not.
const char* cuda_open(attn_context* context);

// What a context of ours has of the driver.
struct Cuda {
  Cuda(DeviceMemory::Take take, DeviceMemory::Give give) : memory(take, give) {}

  CudaFunctions call = {};
  void* library = nullptr;
  int device = 0;  // as the driver numbers it
  Handle context = nullptr, stream = nullptr;
  bool is_retained = false, is_own_stream = false;
  int depth = 0;  // of uses of the context that have begun
  DeviceMemory memory;
  Staging staging;
  DevicePrograms programs = {};
  // The stream that graphs are recorded in, made for the first; while one is, `stream` is this.
  Handle recorder = nullptr;
  bool is_recording = false;
  int64_t graph_bytes = 0;  // of memory that graphs have
  char name[24] = "";

  const char* open(const attn_context_options& options);
  void close(attn_context* owner, bool is_opened);
  int attribute(int which) const;
};

inline Cuda& cuda_of(attn_context* context) { return *static_cast<Cuda*>(context->device->state); }

// Launch graphs (cuda_graphs.cpp).
extern const GraphFunctions kCudaGraphs;

// While it lives, the driver's context is the current one of this thread.
class CudaUse {
 public:
  explicit CudaUse(attn_context* context);
  ~CudaUse();
  CudaUse(const CudaUse&) = delete;
  CudaUse& operator=(const CudaUse&) = delete;

  // 0, or what device functions and kernels return; then its text is in the context.
  int failure() const { return failure_; }

 private:
  attn_context* context_;
  int failure_;
};

// What a result of the driver comes to: 0, or a code for device_status with a text: "a copy: …".
int cuda_result(attn_context* context, const char* what, int code);

}  // namespace attn::rt
