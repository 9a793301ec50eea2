// The functions of the driver's interface that the runtime calls.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fake_state.h"

using namespace fake_cuda;

namespace {

// What a function needs. Registers and their memory are no matter to the text of an entry.
Kernel kernel_of(const Function& f) {
  if (f.entry == nullptr) return state().kernels.at(f.name);
  Kernel kernel;
  kernel.static_shared = static_cast<int>(f.entry->shared_bytes);
  return kernel;
}

}  // namespace

// ---- the driver's interface

#define BEGIN(name) \
  if (const int code = begin(name)) return code
#define BEGIN_IN(name)        \
  Context* context = nullptr; \
  if (const int code = begin_in(name, &context)) return code

extern "C" {

int cuInit(unsigned) {
  BEGIN("cuInit");
  return 0;
}
int cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion");
  *version = state().version;
  return 0;
}
int cuDeviceGetCount(int* count) {
  BEGIN("cuDeviceGetCount");
  *count = state().devices;
  return 0;
}
// A number that is not the ordinal.
int cuDeviceGet(int* device, int ordinal) {
  BEGIN("cuDeviceGet");
  if (ordinal < 0 || ordinal >= state().devices) return 101;
  *device = ordinal + 40;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  BEGIN("cuDeviceGetAttribute");
  if (device < 40 || device >= 40 + state().devices) return 101;
  const std::map<int, int> values = {{1, kMostThreads},
                                     {12, kRegisters},
                                     {75, state().capability / 10},
                                     {76, state().capability % 10},
                                     {97, kMostShared}};
  const auto found = values.find(attribute);
  if (found == values.end()) return 1;
  *value = found->second;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** result, int device) {
  BEGIN("cuDevicePrimaryCtxRetain");
  Context*& primary = state().primary[device];
  if (primary == nullptr) {
    primary = static_cast<Context*>(make_context(device));
    primary->is_callers = false;
  }
  ++primary->retained;
  *result = primary;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  BEGIN("cuDevicePrimaryCtxRelease");
  if (state().primary[device] == nullptr || --state().primary[device]->retained < 0)
    complain("a context is released that is not retained");
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  BEGIN("cuCtxPushCurrent");
  push(context);
  return static_cast<Context*>(context)->lost == 709 ? 709 : 0;
}
int cuCtxPopCurrent_v2(void** context) {
  BEGIN("cuCtxPopCurrent");
  if (stack().empty()) {
    complain("a pop without a context");
    return 201;
  }
  *context = stack().back();
  stack().pop_back();
  return 0;
}
int cuCtxGetDevice(int* device) {
  BEGIN_IN("cuCtxGetDevice");
  *device = context->device;
  return 0;
}

int cuStreamCreate(void** stream, unsigned flags) {
  BEGIN_IN("cuStreamCreate");
  if (flags != 1) complain("a stream that waits for the default stream");
  *stream = *state().streams.insert(new Stream{context, false, {}, nullptr, false}).first;
  return 0;
}
int cuStreamDestroy_v2(void* handle) {
  BEGIN_IN("cuStreamDestroy");
  Stream* stream = stream_of("cuStreamDestroy", context, handle);
  if (stream == nullptr) return 400;
  if (!stream->work.empty()) complain("a stream ends with work");
  if (stream->recording != nullptr) complain("a stream ends while it records");
  if (stream->is_callers) complain("the caller's stream is destroyed");
  state().streams.erase(stream);
  delete stream;
  return 0;
}
int cuStreamSynchronize(void* handle) {
  BEGIN_IN("cuStreamSynchronize");
  Stream* stream = stream_of("cuStreamSynchronize", context, handle);
  if (stream == nullptr) return 400;
  if (stream->recording == nullptr) return run(stream);
  stream->recording->is_broken = true;
  return 900;
}

int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  BEGIN_IN("cuMemAlloc");
  if (bytes > size_t{1} << 32) return 2;
  char* block = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  memset(block, 0xff, bytes);
  state().memory[block] = {context, bytes};
  *address = reinterpret_cast<uint64_t>(block) + kShift;
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  BEGIN_IN("cuMemFree");
  char* block = device_memory("cuMemFree", context, address, 0);
  if (has_work(context)) complain("memory is freed while there is work");
  if (block == nullptr || state().memory.erase(block) == 0) return 1;
  free(block);
  return 0;
}
int cuMemAllocHost_v2(void** memory, size_t bytes) {
  BEGIN_IN("cuMemAllocHost");
  char* block = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  state().pinned[block] = {context, bytes};
  *memory = block;
  return 0;
}
int cuMemFreeHost(void* memory) {
  BEGIN_IN("cuMemFreeHost");
  if (has_work(context)) complain("pinned memory is freed while there is work");
  if (state().pinned.erase(static_cast<char*>(memory)) == 0) return 1;
  free(memory);
  return 0;
}

// Pinned memory is read when the copy is made; other memory before the function returns.
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* handle) {
  BEGIN_IN("cuMemcpyHtoDAsync");
  Stream* stream = stream_of("cuMemcpyHtoDAsync", context, handle);
  if (stream == nullptr) return 400;
  if (stream->recording != nullptr) complain("cuMemcpyHtoDAsync is recorded");
  const bool is_pinned = find(state().pinned, nullptr, from, bytes) != nullptr;
  std::vector<char> now;
  if (!is_pinned)
    now.assign(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
  give(stream, [=] {
    char* at = device_memory("cuMemcpyHtoDAsync", context, to, bytes);
    if (at == nullptr) return 700;
    memcpy(at, is_pinned ? from : now.data(), bytes);
    return 0;
  });
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* handle) {
  BEGIN_IN("cuMemcpyDtoHAsync");
  Stream* stream = stream_of("cuMemcpyDtoHAsync", context, handle);
  if (stream == nullptr) return 400;
  if (stream->recording != nullptr) complain("cuMemcpyDtoHAsync is recorded");
  give(stream, [=] {
    const char* at = device_memory("cuMemcpyDtoHAsync", context, from, bytes);
    if (at == nullptr) return 700;
    memcpy(to, at, bytes);
    return 0;
  });
  return 0;
}
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void* handle) {
  BEGIN_IN("cuMemsetD8Async");
  Stream* stream = stream_of("cuMemsetD8Async", context, handle);
  if (stream == nullptr) return 400;
  give(stream, [=] {
    char* at = device_memory("cuMemsetD8Async", context, to, bytes);
    if (at == nullptr) return 700;
    memset(at, byte, bytes);
    return 0;
  });
  return 0;
}

int cuModuleLoadDataEx(void** result, const void* text, unsigned n, int* options, void** values) {
  BEGIN_IN("cuModuleLoadDataEx");
  int limit = 0;
  char* log = nullptr;
  size_t log_bytes = 0;
  for (unsigned k = 0; k < n; ++k) {
    if (options[k] == 0) limit = static_cast<int>(reinterpret_cast<uintptr_t>(values[k]));
    if (options[k] == 5) log = static_cast<char*>(values[k]);
    if (options[k] == 6) log_bytes = reinterpret_cast<uintptr_t>(values[k]);
  }
  state().limits.push_back(limit);
  if (strncmp(static_cast<const char*>(text), "bad", 3) == 0) {
    if (log != nullptr) strncpy(log, state().log.c_str(), log_bytes);
    return 218;
  }
  auto module = std::make_unique<Module>(Module{context, limit, nullptr});
  try {
    if (ptx::is_ptx(static_cast<const char*>(text)))
      module->code =
          std::make_shared<const ptx::Module>(ptx::parse(static_cast<const char*>(text)));
  } catch (const ptx::TextError& error) {
    if (log != nullptr) strncpy(log, error.what(), log_bytes);
    return 218;
  }
  *result = *state().modules.insert(module.release()).first;
  return 0;
}
int cuModuleUnload(void* module) {
  BEGIN_IN("cuModuleUnload");
  Module* m = static_cast<Module*>(module);
  if (has_work(context)) complain("a module is unloaded while there is work");
  if (state().modules.erase(m) == 0 || m->context != context) {
    complain("a module is unloaded that is not the context's");
    return 400;
  }
  delete m;
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  BEGIN_IN("cuModuleGetFunction");
  Module* m = static_cast<Module*>(module);
  if (m->context != context) complain("a module of another context");
  const ptx::Entry* entry = nullptr;
  if (state().kernels.count(name) == 0) {
    if (m->code == nullptr || m->code->entries.count(name) == 0) return 500;
    entry = &m->code->entries.at(name);
  }
  state().functions.push_back(std::make_unique<Function>());
  *state().functions.back() = {m, name, entry, 48 << 10};
  *function = state().functions.back().get();
  return 0;
}
int cuFuncGetAttribute(int* value, int attribute, void* function) {
  BEGIN_IN("cuFuncGetAttribute");
  const Function& f = *static_cast<Function*>(function);
  const Kernel kernel = kernel_of(f);
  const int limit = f.module->most_registers;
  const int registers = limit > 0 ? std::min(limit, kernel.registers) : kernel.registers;
  if (attribute == 0) *value = std::min(kMostThreads, kRegisters / registers / 32 * 32);
  if (attribute == 0 && f.entry != nullptr && f.entry->most_threads > 0)
    *value = std::min(*value, f.entry->most_threads);
  if (attribute == 1) *value = kernel.static_shared;
  if (attribute == 4) *value = registers;
  return attribute == 0 || attribute == 1 || attribute == 4 ? 0 : 1;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  BEGIN_IN("cuFuncSetAttribute");
  if (attribute != 8 || value > kMostShared) return 1;
  static_cast<Function*>(function)->dynamic_shared = value;
  return 0;
}
int cuLaunchKernel(void* function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                   unsigned tz, unsigned shared_bytes, void* handle, void** arguments,
                   void** extra) {
  BEGIN_IN("cuLaunchKernel");
  Function& f = *static_cast<Function*>(function);
  Stream* stream = stream_of("cuLaunchKernel", context, handle);
  if (stream == nullptr) return 400;
  if (state().modules.count(f.module) == 0) complain("a function of a module that was unloaded");
  if (f.module->context != context) complain("a function of another context");
  if (extra != nullptr) complain("extra arguments");
  if (stream->recording != nullptr) stream->recording->modules.push_back(f.module);
  const Kernel kernel = kernel_of(f);
  int most = 0;
  cuFuncGetAttribute(&most, 0, function);
  if (by > 65535 || bz > 65535 || static_cast<int>(shared_bytes) > f.dynamic_shared) return 1;
  if (static_cast<int>(tx * ty * tz) > most) return 701;
  Launch launch{{bx, by, bz}, {tx, ty, tz}, shared_bytes, handle, {}};
  for (size_t k = 0; k < kernel.sizes.size(); ++k) {
    launch.arguments.push_back(0);
    memcpy(&launch.arguments.back(), arguments[k], kernel.sizes[k]);
  }
  if (f.entry == nullptr) {
    give(stream, [launch, run = kernel.run] {
      state().launches.push_back(launch);
      return run(launch);
    });
    return 0;
  }
  std::vector<char> copied(f.entry->param_bytes);
  for (size_t k = 0; k < f.entry->params.size(); ++k)
    memcpy(&copied[f.entry->params[k].offset], arguments[k], f.entry->params[k].bytes);
  give(stream, [context, launch, copied, code = f.module->code, entry = f.entry] {
    state().launches.push_back(launch);
    return run(context, *code, *entry, launch, copied);
  });
  return 0;
}
int cuGetErrorName(int code, const char** name) {
  const std::map<int, const char*> names = {
      {1, "CUDA_ERROR_INVALID_VALUE"},     {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"}, {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
      {218, "CUDA_ERROR_INVALID_PTX"},     {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
      {400, "CUDA_ERROR_INVALID_HANDLE"},  {500, "CUDA_ERROR_NOT_FOUND"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto found = names.find(code);
  if (found == names.end()) return 1;
  *name = found->second;
  return 0;
}

}  // extern "C"
