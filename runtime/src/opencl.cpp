// OpenCL through the library of the system. Memory is shared virtual memory, so that tensors have
// addresses; one queue a context keeps everything in order.
#include "opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <new>

#include "device_kernels.h"

namespace attn::rt {
namespace {

using Handle = void*;

// By their names in the OpenCL specification, without the prefix "cl".
struct Api {
  int32_t (*GetPlatformIDs)(uint32_t, Handle*, uint32_t*);
  int32_t (*GetDeviceIDs)(Handle, uint64_t, uint32_t, Handle*, uint32_t*);
  int32_t (*GetDeviceInfo)(Handle, uint32_t, size_t, void*, size_t*);
  Handle (*CreateContext)(const intptr_t*, uint32_t, const Handle*, void (*)(), void*, int32_t*);
  Handle (*CreateCommandQueue)(Handle, Handle, uint64_t, int32_t*);
  Handle (*CreateProgramWithSource)(Handle, uint32_t, const char**, const size_t*, int32_t*);
  int32_t (*BuildProgram)(Handle, uint32_t, const Handle*, const char*, void (*)(), void*);
  int32_t (*GetProgramBuildInfo)(Handle, Handle, uint32_t, size_t, void*, size_t*);
  Handle (*CreateKernel)(Handle, const char*, int32_t*);
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

constexpr const char* kNames[] = {"clGetPlatformIDs",
                                  "clGetDeviceIDs",
                                  "clGetDeviceInfo",
                                  "clCreateContext",
                                  "clCreateCommandQueue",
                                  "clCreateProgramWithSource",
                                  "clBuildProgram",
                                  "clGetProgramBuildInfo",
                                  "clCreateKernel",
                                  "clSetKernelArg",
                                  "clSetKernelArgSVMPointer",
                                  "clEnqueueNDRangeKernel",
                                  "clSVMAlloc",
                                  "clEnqueueSVMFree",
                                  "clEnqueueSVMMemcpy",
                                  "clEnqueueSVMMemFill",
                                  "clFinish",
                                  "clReleaseKernel",
                                  "clReleaseProgram",
                                  "clReleaseCommandQueue",
                                  "clReleaseContext"};
static_assert(sizeof(Api) == sizeof kNames);

constexpr uint64_t kAllTypes = 0xffffffff;
constexpr uint32_t kDoubles = 0x1032, kSharedMemory = 0x1053, kBuildLog = 0x1183;
constexpr uint64_t kCoarseGrain = 1;
constexpr uint32_t kMostPlatforms = 16, kMostDevices = 64;
// That kernels may read before and after a tensor.
constexpr size_t kSlack = 128;

struct OpenCl {
  void* library = nullptr;
  Api api = {};
  Handle device = nullptr, context = nullptr, queue = nullptr;
  DevicePrograms programs = {};
  char name[24] = "";

  // Finds the functions and the device; says why not.
  const char* find(int32_t ordinal) {
    library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return "no OpenCL: libOpenCL.so.1 not found";
    void* functions[sizeof kNames / sizeof *kNames];
    for (size_t k = 0; k < sizeof kNames / sizeof *kNames; ++k) {
      functions[k] = dlsym(library, kNames[k]);
      if (functions[k] == nullptr) return "libOpenCL.so.1 is older than OpenCL 2.0";
    }
    memcpy(&api, functions, sizeof api);
    Handle platforms[kMostPlatforms], devices[kMostDevices];
    uint32_t n_platforms = 0;
    if (api.GetPlatformIDs(kMostPlatforms, platforms, &n_platforms) != 0) n_platforms = 0;
    if (n_platforms > kMostPlatforms) n_platforms = kMostPlatforms;
    int32_t next = 0;
    for (uint32_t p = 0; p < n_platforms; ++p) {
      uint32_t n_devices = 0;
      if (api.GetDeviceIDs(platforms[p], kAllTypes, kMostDevices, devices, &n_devices) != 0)
        continue;
      if (n_devices > kMostDevices) n_devices = kMostDevices;
      for (uint32_t d = 0; d < n_devices; ++d)
        if (has(devices[d], kSharedMemory, kCoarseGrain) &&
            has(devices[d], kDoubles, ~uint64_t{0}) && next++ == ordinal)
          device = devices[d];
    }
    if (device != nullptr) return nullptr;
    return next == 0 ? "no OpenCL device with shared virtual memory and doubles"
                     : "no OpenCL device of this ordinal with shared virtual memory and doubles";
  }

  const char* open(int32_t ordinal) {
    if (const char* why = find(ordinal)) return why;
    int32_t code = 0;
    context = api.CreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    if (context == nullptr) return "the OpenCL device gives no context";
    queue = api.CreateCommandQueue(context, device, 0, &code);
    if (queue == nullptr) return "the OpenCL device gives no queue";
    snprintf(name, sizeof name, "opencl:%d", ordinal);
    return nullptr;
  }

  ~OpenCl() {
    if (queue != nullptr) api.Finish(queue);
    programs.clear([this](Handle program, Handle kernel) {
      if (kernel != nullptr) api.ReleaseKernel(kernel);
      if (program != nullptr) api.ReleaseProgram(program);
    });
    if (queue != nullptr) api.ReleaseCommandQueue(queue);
    if (context != nullptr) api.ReleaseContext(context);
    if (library != nullptr) dlclose(library);
  }

 private:
  bool has(Handle d, uint32_t what, uint64_t bits) const {
    uint64_t value = 0;
    return api.GetDeviceInfo(d, what, sizeof value, &value, nullptr) == 0 && (value & bits) != 0;
  }
};

OpenCl& of(attn_context* context) { return *static_cast<OpenCl*>(context->device->state); }

int done(attn_context* context, const char* what, int32_t code) {
  if (code == 0) return 0;
  attn_fail(context, ATTN_INTERNAL, "%s: %s failed (%d)", context->device->name, what, code);
  return code;
}

void* allocate(attn_context* context, size_t bytes) {
  if (injected_failure(&context->fail_allocation)) return nullptr;
  size_t all;
  if (__builtin_add_overflow(bytes, 2 * kSlack, &all)) return nullptr;
  constexpr uint64_t kReadWrite = 1;
  char* block =
      static_cast<char*>(of(context).api.SVMAlloc(of(context).context, kReadWrite, all, 128));
  return block != nullptr ? block + kSlack : nullptr;
}

// After all that was begun with it.
void release(attn_context* context, void* memory) {
  void* block = static_cast<char*>(memory) - kSlack;
  of(context).api.EnqueueSVMFree(of(context).queue, 1, &block, nullptr, nullptr, 0, nullptr,
                                 nullptr);
}

int copy(attn_context* context, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return 0;
  return done(
      context, "a copy",
      of(context).api.EnqueueSVMMemcpy(of(context).queue, 1, to, from, bytes, 0, nullptr, nullptr));
}

int zero(attn_context* context, void* memory, size_t bytes) {
  if (bytes == 0) return 0;
  const char byte = 0;
  return done(context, "filling memory",
              of(context).api.EnqueueSVMMemFill(of(context).queue, memory, &byte, 1, bytes, 0,
                                                nullptr, nullptr));
}

int wait(attn_context* context) {
  return done(context, "waiting", of(context).api.Finish(of(context).queue));
}

constexpr int kInterface = 0;  // its address stands for this kind of device

void bind(attn_context*, attn_buffer* buffer, void* data) {
  constexpr uint64_t kDeviceHasNewest = 2;  // halide_buffer_flag_device_dirty
  buffer->host = nullptr;
  buffer->device = reinterpret_cast<uint64_t>(data);
  buffer->device_interface = data != nullptr ? &kInterface : nullptr;
  buffer->flags = data != nullptr ? kDeviceHasNewest : 0;
}

int build(attn_context* context, DeviceProgram& built, const char* source, size_t bytes) {
  OpenCl& cl = of(context);
  int32_t code = 0;
  Handle program = cl.api.CreateProgramWithSource(cl.context, 1, &source, &bytes, &code);
  if (program == nullptr) return kernel_failure(context, -1, "the program is refused (%d)", code);
  code = cl.api.BuildProgram(program, 1, &cl.device, "", nullptr, nullptr);
  if (code == 0) {
    built.program = program;
    return 0;
  }
  char log[400] = "";
  cl.api.GetProgramBuildInfo(program, cl.device, kBuildLog, sizeof log - 1, log, nullptr);
  cl.api.ReleaseProgram(program);
  return kernel_failure(context, -1, "the program does not compile (%d): %s", code, log);
}

}  // namespace

const char* opencl_refusal(int32_t ordinal) {
  OpenCl device;
  return device.find(ordinal);
}

const char* opencl_open(attn_context* context, int32_t ordinal) {
  void* memory = attn_allocate(nullptr, sizeof(OpenCl));
  if (memory == nullptr) return "out of memory";
  OpenCl* cl = ::new (memory) OpenCl;
  if (const char* why = cl->open(ordinal)) {
    cl->~OpenCl();
    attn_free(nullptr, memory);
    return why;
  }
  context->own = {
      .id = {ATTN_OPENCL, ordinal},
      .name = cl->name,
      .state = cl,
      .allocate = allocate,
      .free = release,
      .copy_in = copy,
      .copy_out = copy,
      .zero = zero,
      .begin = [](attn_context*) { return uint32_t{0}; },
      .end = [](attn_context*, uint32_t) {},
      .wait = wait,
      .bind = bind,
  };
  return nullptr;
}

void opencl_close(attn_context* context) {
  OpenCl* cl = &of(context);
  cl->~OpenCl();
  attn_free(nullptr, cl);
}

}  // namespace attn::rt

using namespace attn::rt;

extern "C" {

const void* attn_k_opencl_device_interface() { return &kInterface; }

int attn_k_opencl_initialize_kernels(void* user, void** state, const char* source, int bytes) {
  auto* context = static_cast<attn_context*>(user);
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
  OpenCl& cl = of(context);
  DeviceProgram* program = cl.programs.find(object_number_of(state));
  DeviceFunction* f = program != nullptr ? cl.programs.find(*program, entry) : nullptr;
  if (f == nullptr) return kernel_failure(context, kKernelOutOfMemory, "out of memory");
  int32_t code = 0;
  if (f->function == nullptr) f->function = cl.api.CreateKernel(program->program, entry, &code);
  if (f->function == nullptr)
    return kernel_failure(context, -1, "%s is not there (%d)", entry, code);
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
      code = cl.api.SetKernelArgSVMPointer(f->function, n, reinterpret_cast<void*>(buffer->device));
    } else {
      code = cl.api.SetKernelArg(f->function, n, sizes[n], arguments[n]);
    }
  }
  if (code == 0)
    code = cl.api.SetKernelArg(f->function, n,
                               static_cast<size_t>(shared_bytes > 0 ? shared_bytes : 1), nullptr);
  if (code == 0)
    code = cl.api.EnqueueNDRangeKernel(cl.queue, f->function, 3, nullptr, global, local, 0, nullptr,
                                       nullptr);
  return code == 0 ? 0 : kernel_failure(context, -1, "%s does not start (%d)", entry, code);
}

}  // extern "C"
