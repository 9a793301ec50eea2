// What the host part of a kernel for CUDA calls: its text is compiled by the driver where a context
// first runs it, and its launches go to the context's stream.
#include <stdio.h>

#include "cuda.h"

namespace attn::rt {
namespace {

// A function's arguments take at most 4 KB.
constexpr int kMostArguments = 512;
// Shared memory that a function has without asking.
constexpr int kPlainShared = 48 << 10;

struct Shape {
  int blocks[3], threads[3], shared_bytes;
  int all_threads() const { return threads[0] * threads[1] * threads[2]; }
};

const char* name_of(const Cuda& cuda, int code) {
  const char* name = nullptr;
  return cuda.call.GetErrorName(code, &name) == 0 && name != nullptr ? name : "unknown";
}

// Of a result that no other text is for.
int failed(attn_context* context, const char* what, int code) {
  if (is_lost(code) || code == kCudaOutOfMemory) return cuda_result(context, what, code);
  return kernel_failure(context, kDeviceFailed, "%s (%s, %d)", what,
                        name_of(cuda_of(context), code), code);
}

// `registers`: at most so many for a thread; 0: as many as the driver chooses.
int load(attn_context* context, DeviceProgram& built, int registers) {
  Cuda& cuda = cuda_of(context);
  char log[512] = "";
  int options[] = {kErrorLog, kErrorLogBytes, kLimitRegisters};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1),
                    reinterpret_cast<void*>(static_cast<uintptr_t>(registers))};
  Handle module = nullptr;
  const int code =
      cuda.call.ModuleLoadDataEx(&module, built.text, registers > 0 ? 3 : 2, options, values);
  if (code == 0) {
    built.program = module;
    return 0;
  }
  if (is_lost(code) || code == kCudaOutOfMemory) return cuda_result(context, "loading", code);
  if (code == kCudaUnsupportedPtx)
    return kernel_failure(context, kDeviceFailed, "the CUDA driver is too old for it (%s, %d)",
                          name_of(cuda, code), code);
  return kernel_failure(context, kDeviceFailed, "the driver refuses its code (%s, %d)%s%s",
                        name_of(cuda, code), code, log[0] != '\0' ? ": " : "", log);
}

int attribute(const Cuda& cuda, const DeviceFunction& f, int which) {
  int value = 0;
  return cuda.call.FuncGetAttribute(&value, which, f.function) == 0 ? value : 0;
}

int find_function(attn_context* context, DeviceProgram& program, DeviceFunction& f) {
  if (f.function != nullptr) return 0;
  const Cuda& cuda = cuda_of(context);
  const int code = cuda.call.ModuleGetFunction(&f.function, program.program, f.name);
  if (code != 0) return failed(context, "its code lacks a function", code);
  f.most_threads = attribute(cuda, f, kThreadsOfFunction);
  f.shared_bytes = kPlainShared;
  return 0;
}

// A block of so many threads needs more registers than there are: the program is loaded again, with
// fewer for each thread. What else was found in it is found anew.
int limit_registers(attn_context* context, DeviceProgram& program, DeviceFunction& f, int threads) {
  Cuda& cuda = cuda_of(context);
  if (threads > cuda.attribute(kMostThreads)) return 0;  // no limit helps
  Handle old = program.program;
  if (const int failure = context->device->wait(context)) return failure;
  context->graphs.clear(context);  // which have its functions
  if (const int failure = load(context, program, cuda.attribute(kMostRegisters) / threads / 8 * 8))
    return failure;
  cuda.call.ModuleUnload(old);
  for (DeviceFunction* each = program.functions; each != nullptr; each = each->next)
    each->function = nullptr;
  return find_function(context, program, f);
}

int does_not_fit(attn_context* context, const DeviceFunction& f, const Shape& shape, int code) {
  const Cuda& cuda = cuda_of(context);
  return kernel_failure(
      context, kDeviceFailed,
      "%d blocks x %d x %d of %d threads with %d registers each and %d bytes of shared memory are "
      "too much: at most %d threads, %d registers and %d bytes a block (%s, %d)",
      shape.blocks[0], shape.blocks[1], shape.blocks[2], shape.all_threads(),
      attribute(cuda, f, kRegistersOfFunction),
      shape.shared_bytes + attribute(cuda, f, kStaticSharedOfFunction),
      cuda.attribute(kMostThreads), cuda.attribute(kMostRegisters), cuda.attribute(kMostShared),
      name_of(cuda, code), code);
}

int launch(attn_context* context, DeviceProgram& program, DeviceFunction& f, const Shape& shape,
           void** arguments) {
  Cuda& cuda = cuda_of(context);
  if (const int failure = find_function(context, program, f)) return failure;
  const int threads = shape.all_threads();
  if (threads > f.most_threads)
    if (const int failure = limit_registers(context, program, f, threads)) return failure;
  if (shape.shared_bytes > f.shared_bytes) {
    const int code =
        cuda.call.FuncSetAttribute(f.function, kDynamicSharedOfFunction, shape.shared_bytes);
    if (is_lost(code)) return failed(context, "", code);
    if (code != 0) return does_not_fit(context, f, shape, code);
    f.shared_bytes = shape.shared_bytes;
  }
  const auto count = [](int n) { return static_cast<unsigned>(n); };
  const int code = cuda.call.LaunchKernel(
      f.function, count(shape.blocks[0]), count(shape.blocks[1]), count(shape.blocks[2]),
      count(shape.threads[0]), count(shape.threads[1]), count(shape.threads[2]),
      count(shape.shared_bytes), cuda.stream, arguments, nullptr);
  if (code == 0) return 0;
  if (code == kCudaOutOfResources || code == kCudaInvalidValue)
    return does_not_fit(context, f, shape, code);
  return failed(context, "the driver does not start it", code);
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

extern "C" {

const void* attn_k_cuda_device_interface() { return device_interface(); }

int attn_k_cuda_initialize_kernels(void* user, void** state, const char* text, int) {
  auto* context = static_cast<attn_context*>(user);
  const CudaUse use(context);
  if (use.failure() != 0) return use.failure();
  DeviceProgram* program = cuda_of(context).programs.find(object_number(state));
  if (program == nullptr) return kernel_failure(context, kKernelOutOfMemory, "out of memory");
  program->text = text;
  return program->program != nullptr ? 0 : load(context, *program, 0);
}

// Programs stay until the context ends.
void attn_k_cuda_finalize_kernels(void*, void*) {}

int attn_k_cuda_run(void* user, void* state, const char* entry, int blocks_x, int blocks_y,
                    int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                    const size_t* sizes, void** arguments, const int8_t* is_buffer) {
  auto* context = static_cast<attn_context*>(user);
  if (blocks_x <= 0 || blocks_y <= 0 || blocks_z <= 0) return 0;
  const CudaUse use(context);
  if (use.failure() != 0) return use.failure();
  DevicePrograms& programs = cuda_of(context).programs;
  DeviceProgram* program = programs.find(object_number_of(state));
  DeviceFunction* f = program != nullptr ? programs.find(*program, entry) : nullptr;
  if (f == nullptr) return kernel_failure(context, kKernelOutOfMemory, "out of memory");
  DeviceAddress addresses[kMostArguments];
  void* given[kMostArguments];
  int n = 0;
  for (; sizes[n] != 0; ++n) {
    if (n == kMostArguments) return kernel_failure(context, -1, "more than 512 arguments");
    given[n] = arguments[n];
    if (is_buffer[n] == 0) continue;
    addresses[n] = static_cast<const attn_buffer*>(arguments[n])->device;
    given[n] = &addresses[n];
  }
  const Shape shape = {
      {blocks_x, blocks_y, blocks_z}, {threads_x, threads_y, threads_z}, shared_bytes};
  return launch(context, *program, *f, shape, given);
}

}  // extern "C"
