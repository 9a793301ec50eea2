#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <new>

namespace attn::rt {
namespace {

DeviceAddress address(const void* memory) { return reinterpret_cast<DeviceAddress>(memory); }

void* take(attn_context* context, size_t bytes) {
  const CudaUse use(context);
  DeviceAddress memory = 0;
  if (use.failure() != 0) return nullptr;
  const int code = cuda_of(context).call.MemAlloc(&memory, bytes);
  if (code == 0) return reinterpret_cast<void*>(memory);
  if (is_lost(code)) cuda_result(context, "", code);
  return nullptr;
}

void give(attn_context* context, void* memory) {
  if (context->lost != 0 || context->process != getpid()) return;
  const CudaUse use(context);
  Cuda& cuda = cuda_of(context);
  if (use.failure() != 0) return;
  cuda.call.StreamSynchronize(cuda.stream);
  cuda.call.MemFree(address(memory));
}

void* allocate(attn_context* context, size_t bytes) {
  return cuda_of(context).memory.allocate(context, bytes);
}

void release(attn_context* context, void* memory) { cuda_of(context).memory.free(context, memory); }

// What has to wait for the device, or that the host does, cannot be recorded.
bool cannot_record(attn_context* context) { return cuda_of(context).is_recording; }

int wait(attn_context* context) {
  if (cannot_record(context)) return kDeviceFailed;
  const CudaUse use(context);
  if (use.failure() != 0) return use.failure();
  Cuda& cuda = cuda_of(context);
  const int failure = cuda_result(context, "waiting", cuda.call.StreamSynchronize(cuda.stream));
  if (failure == 0) cuda.staging.reset();
  return failure;
}

// Small copies are staged, and the caller goes on. Of others the driver may still read the caller's
// memory when its function returns.
int copy_in(attn_context* context, void* to, const void* host, size_t bytes) {
  if (bytes == 0) return 0;
  if (cannot_record(context)) return kDeviceFailed;
  const CudaUse use(context);
  if (use.failure() != 0) return use.failure();
  Cuda& cuda = cuda_of(context);
  const bool is_small = bytes <= Staging::kLargest;
  char* staged = is_small ? cuda.staging.room(bytes) : nullptr;
  if (is_small && staged == nullptr) {
    if (const int failure = wait(context)) return failure;
    staged = cuda.staging.room(bytes);
  }
  if (staged != nullptr) memcpy(staged, host, bytes);
  const int failure =
      cuda_result(context, "a copy to the device",
                  cuda.call.MemcpyHtoDAsync(address(to), staged != nullptr ? staged : host, bytes,
                                            cuda.stream));
  return failure != 0 || staged != nullptr ? failure : wait(context);
}

int copy_out(attn_context* context, void* host, const void* from, size_t bytes) {
  if (bytes == 0) return 0;
  if (cannot_record(context)) return kDeviceFailed;
  const CudaUse use(context);
  if (use.failure() != 0) return use.failure();
  Cuda& cuda = cuda_of(context);
  char* staged = cuda.staging.room(bytes);
  int failure = cuda_result(context, "a copy from the device",
                            cuda.call.MemcpyDtoHAsync(staged != nullptr ? staged : host,
                                                      address(from), bytes, cuda.stream));
  if (failure == 0) failure = wait(context);
  if (failure == 0 && staged != nullptr) memcpy(host, staged, bytes);
  return failure;
}

int zero(attn_context* context, void* memory, size_t bytes) {
  if (bytes == 0) return 0;
  const CudaUse use(context);
  if (use.failure() != 0) return use.failure();
  Cuda& cuda = cuda_of(context);
  return cuda_result(context, "filling memory",
                     cuda.call.MemsetD8Async(address(memory), 0, bytes, cuda.stream));
}

// Kernels of a call find the context current. Where that fails, they fail with a text.
uint32_t begin(attn_context* context) {
  Cuda& cuda = cuda_of(context);
  if (context->lost != 0 || context->process != getpid()) return 0;
  if (cuda.depth == 0 && cuda.call.CtxPushCurrent(cuda.context) != 0) return 0;
  ++cuda.depth;
  return 1;
}

void end(attn_context* context, uint32_t begun) {
  Cuda& cuda = cuda_of(context);
  Handle popped = nullptr;
  if (begun != 0 && --cuda.depth == 0) cuda.call.CtxPopCurrent(&popped);
}

void close(attn_context* context) {
  Cuda* cuda = &cuda_of(context);
  cuda->close(context, true);
  cuda->~Cuda();
  attn_free(nullptr, cuda);
}

void trim(attn_context* context) { cuda_of(context).memory.release(context, false); }

}  // namespace

// ---- the use of a context

CudaUse::CudaUse(attn_context* context) : context_(context), failure_(0) {
  Cuda& cuda = cuda_of(context);
  failure_ = check_process(context);
  if (failure_ != 0) return;
  if (context->lost != 0) {
    failure_ = cuda_result(context, "", context->lost);
  } else if (cuda.depth == 0) {
    failure_ = cuda_result(context, "the context", cuda.call.CtxPushCurrent(cuda.context));
  }
  if (failure_ == 0) ++cuda.depth;
}

CudaUse::~CudaUse() {
  Handle popped = nullptr;
  Cuda& cuda = cuda_of(context_);
  if (failure_ == 0 && --cuda.depth == 0) cuda.call.CtxPopCurrent(&popped);
}

int cuda_result(attn_context* context, const char* what, int code) {
  if (code == 0) return 0;
  Cuda& cuda = cuda_of(context);
  const char* name = nullptr;
  if (cuda.call.GetErrorName(code, &name) != 0 || name == nullptr) name = "unknown";
  if (is_lost(code)) {
    context->lost = code;
    const bool is_access = code == kCudaIllegalAddress || code == kCudaMisaligned;
    attn_fail(context, ATTN_BAD_DEVICE,
              "%s is lost (%s, %d)%s: calls need a new context, and may need a new process",
              cuda.name, name, code,
              is_access ? ", a kernel touched memory that is not there" : "");
    return kDeviceLost;
  }
  if (code == kCudaOutOfMemory) {
    attn_fail(context, ATTN_NO_MEMORY, "out of memory on %s", cuda.name);
    return kKernelOutOfMemory;
  }
  attn_fail(context, ATTN_BAD_DEVICE, "%s: %s failed (%s, %d)", cuda.name, what, name, code);
  return kDeviceFailed;
}

// ---- life

int Cuda::attribute(int which) const {
  int value = 0;
  return call.DeviceGetAttribute(&value, which, device) == 0 ? value : 0;
}

const char* Cuda::open(const attn_context_options& options) {
  const int32_t ordinal = options.device.ordinal;
  if (const char* why = open_cuda(call, &library)) return why;
  if (const char* why = ordinal_refusal(call, ordinal)) return why;
  if (call.DeviceGet(&device, ordinal) != 0) return "the CUDA driver does not give the device";
  snprintf(name, sizeof name, "cuda:%d", ordinal);
  context = options.cuda_context;
  if (context == nullptr) {
    if (call.DevicePrimaryCtxRetain(&context, device) != 0)
      return "the CUDA device gives no context: it is out of memory, or another process has it";
    is_retained = true;
  }
  Handle popped = nullptr;
  if (call.CtxPushCurrent(context) != 0) return "options.cuda_context is no context of CUDA";
  int actual = device;
  const char* why = nullptr;
  stream = options.cuda_stream;
  void* pinned = nullptr;
  if (call.CtxGetDevice(&actual) != 0 || actual != device)
    why = "options.cuda_context is of another device than the options name";
  else if (stream == nullptr && call.StreamCreate(&stream, kStreamOfItsOwn) != 0)
    why = "the CUDA device gives no stream";
  else
    is_own_stream = options.cuda_stream == nullptr;
  if (why == nullptr && call.MemAllocHost(&pinned, Staging::kBytes) != 0)
    why = "the CUDA driver gives no memory for copies";
  staging.memory = static_cast<char*>(pinned);
  call.CtxPopCurrent(&popped);
  return why;
}

void Cuda::close(attn_context* owner, bool is_opened) {
  // A child of the process that opened it has nothing of the driver.
  const bool is_ours = library != nullptr && owner->process == getpid();
  const bool is_current = is_ours && context != nullptr && call.CtxPushCurrent(context) == 0;
  Handle popped = nullptr;
  if (is_current && stream != nullptr) call.StreamSynchronize(stream);
  if (is_current) ++depth;  // what follows finds the context current
  programs.clear([&](Handle module, Handle) {
    if (module != nullptr && is_current) call.ModuleUnload(module);
  });
  if (is_opened) memory.release(owner, true);
  if (is_current) {
    if (staging.memory != nullptr) call.MemFreeHost(staging.memory);
    if (is_own_stream) call.StreamDestroy(stream);
    if (recorder != nullptr) call.StreamDestroy(recorder);
    call.CtxPopCurrent(&popped);
  }
  if (is_ours && is_retained) call.DevicePrimaryCtxRelease(device);
  if (library != nullptr) dlclose(library);
}

const char* cuda_refusal(int32_t ordinal) {
  CudaFunctions functions;
  void* library = nullptr;
  const char* why = open_cuda(functions, &library);
  if (why == nullptr) why = ordinal_refusal(functions, ordinal);
  if (library != nullptr) dlclose(library);
  return why;
}

const char* cuda_open(attn_context* context) {
  void* memory = attn_allocate(nullptr, sizeof(Cuda));
  if (memory == nullptr) return "out of memory";
  Cuda* cuda = ::new (memory) Cuda(take, give);
  if (const char* why = cuda->open(context->options)) {
    cuda->close(context, false);
    cuda->~Cuda();
    attn_free(nullptr, cuda);
    return why;
  }
  context->capability = 10 * cuda->attribute(kMajor) + cuda->attribute(kMinor);
  context->close = close;
  context->trim = trim;
  context->graphs.functions = &kCudaGraphs;
  context->own = {
      .id = {ATTN_CUDA, context->options.device.ordinal},
      .name = cuda->name,
      .state = cuda,
      .allocate = allocate,
      .free = release,
      .copy_in = copy_in,
      .copy_out = copy_out,
      .zero = zero,
      .begin = begin,
      .end = end,
      .wait = wait,
      .bind = bind_device_address,
  };
  return nullptr;
}

}  // namespace attn::rt
