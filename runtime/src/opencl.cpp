// OpenCL through the library of the system. Memory is shared virtual memory, so that tensors have
// addresses; one queue a context keeps everything in order.
#include "opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <new>

#include "device_kernels.h"
#include "device_memory.h"
#include "opencl_driver.h"

namespace attn::rt {
namespace {

struct OpenCl {
  OpenCl(DeviceMemory::Take take, DeviceMemory::Give give) : memory(take, give) {}

  void* library = nullptr;
  OpenClFunctions call = {};
  Handle device = nullptr, context = nullptr, queue = nullptr;
  DeviceMemory memory;
  Staging staging;
  DevicePrograms programs = {};
  char name[24] = "";

  const char* open(int32_t ordinal) {
    if (const char* why = find_opencl(call, &library, ordinal, &device)) return why;
    snprintf(name, sizeof name, "opencl:%d", ordinal);
    int32_t code = 0;
    context = call.CreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    if (context == nullptr) return "the OpenCL device gives no context";
    queue = call.CreateCommandQueue(context, device, 0, &code);
    if (queue == nullptr) return "the OpenCL device gives no queue";
    staging.memory = static_cast<char*>(attn_allocate(nullptr, Staging::kBytes));
    return staging.memory == nullptr ? "out of memory" : nullptr;
  }

  // A child of the process that opened it has nothing of the library's.
  void close(attn_context* owner, bool is_opened) {
    const bool is_ours = owner->process == getpid();
    if (queue != nullptr && is_ours) call.Finish(queue);
    programs.clear([&](Handle program, Handle kernel) {
      if (kernel != nullptr && is_ours) call.ReleaseKernel(kernel);
      if (program != nullptr && is_ours) call.ReleaseProgram(program);
    });
    if (is_opened) memory.release(owner, true);
    if (queue != nullptr && is_ours) call.ReleaseCommandQueue(queue);
    if (context != nullptr && is_ours) call.ReleaseContext(context);
    attn_free(nullptr, staging.memory);
    if (library != nullptr && is_ours) dlclose(library);
  }

  uint64_t number(uint32_t which) const {
    uint64_t value = 0;
    return call.GetDeviceInfo(device, which, sizeof value, &value, nullptr) == 0 ? value : 0;
  }
};

OpenCl& of(attn_context* context) { return *static_cast<OpenCl*>(context->device->state); }

// What a result comes to: 0, or a code for device_status with a text.
int done(attn_context* context, const char* what, int32_t code) {
  if (code == 0) return 0;
  const OpenCl& cl = of(context);
  const char* name = opencl_result_name(code);
  if (is_lost_opencl(code)) {
    context->lost = code;
    attn_fail(context, ATTN_BAD_DEVICE,
              "%s is lost (%s, %d): calls need a new context, and may need a new process", cl.name,
              name, code);
    return kDeviceLost;
  }
  if (code == kClNoMemory || code == kClNoHostMemory) {
    attn_fail(context, ATTN_NO_MEMORY, "out of memory on %s", cl.name);
    return kKernelOutOfMemory;
  }
  attn_fail(context, ATTN_BAD_DEVICE, "%s: %s failed (%s, %d)", cl.name, what, name, code);
  return kDeviceFailed;
}

// 0 where the device can be used.
int usable(attn_context* context) {
  if (const int failure = check_process(context)) return failure;
  return done(context, "", context->lost);
}

void* take(attn_context* context, size_t bytes) {
  constexpr uint64_t kReadWrite = 1;
  if (usable(context) != 0) return nullptr;
  return of(context).call.SVMAlloc(of(context).context, kReadWrite, bytes, 128);
}

// After all that was begun with it.
void give(attn_context* context, void* memory) {
  if (context->lost != 0 || context->process != getpid()) return;
  of(context).call.EnqueueSVMFree(of(context).queue, 1, &memory, nullptr, nullptr, 0, nullptr,
                                  nullptr);
}

void* allocate(attn_context* context, size_t bytes) {
  return of(context).memory.allocate(context, bytes);
}

void release(attn_context* context, void* memory) { of(context).memory.free(context, memory); }

int wait(attn_context* context) {
  if (const int failure = usable(context)) return failure;
  const int failure = done(context, "waiting", of(context).call.Finish(of(context).queue));
  if (failure == 0) of(context).staging.reset();
  return failure;
}

int copy(attn_context* context, void* to, const void* from, size_t bytes, uint32_t waits) {
  const OpenCl& cl = of(context);
  return done(context, "a copy",
              cl.call.EnqueueSVMMemcpy(cl.queue, waits, to, from, bytes, 0, nullptr, nullptr));
}

// Small copies are staged, and the caller goes on.
int copy_in(attn_context* context, void* to, const void* host, size_t bytes) {
  if (bytes == 0) return 0;
  if (const int failure = usable(context)) return failure;
  Staging& staging = of(context).staging;
  char* staged = staging.room(bytes);
  if (staged == nullptr && bytes <= Staging::kLargest) {
    if (const int failure = wait(context)) return failure;
    staged = staging.room(bytes);
  }
  if (staged == nullptr) return copy(context, to, host, bytes, 1);
  memcpy(staged, host, bytes);
  return copy(context, to, staged, bytes, 0);
}

int copy_out(attn_context* context, void* host, const void* from, size_t bytes) {
  if (bytes == 0) return 0;
  if (const int failure = usable(context)) return failure;
  const int failure = copy(context, host, from, bytes, 1);
  if (failure == 0) of(context).staging.reset();
  return failure;
}

int zero(attn_context* context, void* memory, size_t bytes) {
  if (bytes == 0) return 0;
  if (const int failure = usable(context)) return failure;
  const OpenCl& cl = of(context);
  const char byte = 0;
  return done(context, "filling memory",
              cl.call.EnqueueSVMMemFill(cl.queue, memory, &byte, 1, bytes, 0, nullptr, nullptr));
}

void close(attn_context* context) {
  OpenCl* cl = &of(context);
  cl->close(context, true);
  cl->~OpenCl();
  attn_free(nullptr, cl);
}

void trim(attn_context* context) { of(context).memory.release(context, false); }

// ---- kernels

// Of a result that no other text is for.
int failed(attn_context* context, const char* what, int32_t code) {
  if (is_lost_opencl(code) || code == kClNoMemory || code == kClNoHostMemory)
    return done(context, what, code);
  return kernel_failure(context, kDeviceFailed, "%s (%s, %d)", what, opencl_result_name(code),
                        code);
}

int build(attn_context* context, DeviceProgram& built, const char* source, size_t bytes) {
  OpenCl& cl = of(context);
  int32_t code = 0;
  Handle program = cl.call.CreateProgramWithSource(cl.context, 1, &source, &bytes, &code);
  if (program == nullptr) return failed(context, "its source is refused", code);
  code = cl.call.BuildProgram(program, 1, &cl.device, "", nullptr, nullptr);
  if (code == 0) {
    built.program = program;
    return 0;
  }
  char log[400] = "";
  cl.call.GetProgramBuildInfo(program, cl.device, kBuildLog, sizeof log - 1, log, nullptr);
  cl.call.ReleaseProgram(program);
  if (is_lost_opencl(code)) return done(context, "", code);
  return kernel_failure(context, kDeviceFailed, "its source does not compile (%s, %d)%s%s",
                        opencl_result_name(code), code, log[0] != '\0' ? ": " : "", log);
}

int does_not_fit(attn_context* context, Handle kernel, const size_t* local, int shared_bytes,
                 int32_t code) {
  const OpenCl& cl = of(context);
  size_t most = 0;
  cl.call.GetKernelWorkGroupInfo(kernel, cl.device, kMostThreadsOfKernel, sizeof most, &most,
                                 nullptr);
  return kernel_failure(
      context, kDeviceFailed,
      "groups of %zu x %zu x %zu threads with %d bytes of local memory are too much: at most %zu "
      "threads of this kernel and %llu bytes (%s, %d)",
      local[0], local[1], local[2], shared_bytes, most,
      static_cast<unsigned long long>(cl.number(kLocalBytes)), opencl_result_name(code), code);
}

}  // namespace

const char* opencl_refusal(int32_t ordinal) {
  OpenClFunctions functions;
  void* library = nullptr;
  Handle device = nullptr;
  const char* why = find_opencl(functions, &library, ordinal, &device);
  if (library != nullptr) dlclose(library);
  return why;
}

const char* opencl_open(attn_context* context) {
  const int32_t ordinal = context->options.device.ordinal;
  void* memory = attn_allocate(nullptr, sizeof(OpenCl));
  if (memory == nullptr) return "out of memory";
  OpenCl* cl = ::new (memory) OpenCl(take, give);
  if (const char* why = cl->open(ordinal)) {
    cl->close(context, false);
    cl->~OpenCl();
    attn_free(nullptr, cl);
    return why;
  }
  context->close = close;
  context->trim = trim;
  context->own = {
      .id = {ATTN_OPENCL, ordinal},
      .name = cl->name,
      .state = cl,
      .allocate = allocate,
      .free = release,
      .copy_in = copy_in,
      .copy_out = copy_out,
      .zero = zero,
      .begin = [](attn_context*) { return uint32_t{0}; },
      .end = [](attn_context*, uint32_t) {},
      .wait = wait,
      .bind = bind_device_address,
  };
  return nullptr;
}

}  // namespace attn::rt

using namespace attn::rt;

extern "C" {

const void* attn_k_opencl_device_interface() { return device_interface(); }

int attn_k_opencl_initialize_kernels(void* user, void** state, const char* source, int bytes) {
  auto* context = static_cast<attn_context*>(user);
  if (const int failure = usable(context)) return failure;
  DeviceProgram* program = of(context).programs.find(object_number(state));
  if (program == nullptr) return kernel_failure(context, kKernelOutOfMemory, "out of memory");
  return program->program != nullptr ? 0
                                     : build(context, *program, source, static_cast<size_t>(bytes));
}

// Programs stay until the context ends.
void attn_k_opencl_finalize_kernels(void*, void*) {}

int attn_k_opencl_run(void* user, void* state, const char* entry, int blocks_x, int blocks_y,
                      int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                      const size_t* sizes, void** arguments, const int8_t* is_buffer) {
  auto* context = static_cast<attn_context*>(user);
  if (const int failure = usable(context)) return failure;
  OpenCl& cl = of(context);
  DeviceProgram* program = cl.programs.find(object_number_of(state));
  DeviceFunction* f = program != nullptr ? cl.programs.find(*program, entry) : nullptr;
  if (f == nullptr) return kernel_failure(context, kKernelOutOfMemory, "out of memory");
  int32_t code = 0;
  if (f->function == nullptr) f->function = cl.call.CreateKernel(program->program, entry, &code);
  if (f->function == nullptr) return failed(context, "its code lacks a function", code);
  const size_t local[] = {static_cast<size_t>(threads_x), static_cast<size_t>(threads_y),
                          static_cast<size_t>(threads_z)};
  const size_t global[] = {static_cast<size_t>(blocks_x) * local[0],
                           static_cast<size_t>(blocks_y) * local[1],
                           static_cast<size_t>(blocks_z) * local[2]};
  if (global[0] == 0 || global[1] == 0 || global[2] == 0) return 0;
  uint32_t n = 0;
  for (; sizes[n] != 0 && code == 0; ++n) {
    if (is_buffer[n] != 0) {
      const auto* buffer = static_cast<const attn_buffer*>(arguments[n]);
      code =
          cl.call.SetKernelArgSVMPointer(f->function, n, reinterpret_cast<void*>(buffer->device));
    } else {
      code = cl.call.SetKernelArg(f->function, n, sizes[n], arguments[n]);
    }
  }
  if (code == 0)
    code = cl.call.SetKernelArg(f->function, n,
                                static_cast<size_t>(shared_bytes > 0 ? shared_bytes : 1), nullptr);
  if (code == 0)
    code = cl.call.EnqueueNDRangeKernel(cl.queue, f->function, 3, nullptr, global, local, 0,
                                        nullptr, nullptr);
  if (code == kClOutOfResources || code == kClBadGroupSize || code == kClBadItemSize)
    return does_not_fit(context, f->function, local, shared_bytes, code);
  return code == 0 ? 0 : failed(context, "OpenCL does not start it", code);
}

}  // extern "C"
