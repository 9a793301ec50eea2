#include "compiler/driver/loaded.h"

#include <attn/types.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "compiler/driver/commands.h"
#include "compiler/driver/programs.h"
#include "compiler/emit/names.h"

namespace attn::driver {

using evaluate::Array;

Loaded::Loaded(const std::string& path) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) {
    const std::string why = dlerror();
    const std::string folder = std::filesystem::path(path).parent_path().parent_path().string();
    struct statvfs facts;
    if (statvfs(folder.c_str(), &facts) == 0 && (facts.f_flag & ST_NOEXEC) != 0)
      throw SystemError(fmt::format(
          "the temporary folder {} ($TMPDIR) is on a file system without programs (noexec): set "
          "TMPDIR to one that has them",
          folder));
    throw InternalError(fmt::format("the compiled library does not load: {}", why));
  }
  find(create_, "attn_context_create");
  find(destroy_, "attn_context_destroy");
  find(message_, "attn_context_message");
  find(device_, "attn_context_device");
  find(refusal_, "attn_device_refusal");
  find(functions_.read_sizes, "attn_read_sizes");
  find(functions_.shapes, "attn_shapes");
  find(functions_.probe_shape, "attn_probe_shape");
  find(functions_.call_sizes, "attn_call_sizes");
  find(functions_.forward, "attn_forward");
  find(functions_.backward, "attn_backward");
  find(functions_.forward_backward, "attn_forward_backward");
  find(functions_.forward_backward_workspace, "attn_forward_backward_workspace");
  find(functions_.jvp, "attn_jvp");
  find(functions_.hvp, "attn_hvp");
  find(functions_.probe, "attn_probe");
  find(functions_.step_workspace, "attn_step_workspace");
  find(functions_.step, "attn_step");
  find(functions_.set_trace, "attn_context_set_trace");
  find(functions_.wait, "attn_context_wait");
  find(functions_.copy, "attn_copy");
  find(functions_.initialise_model, "attn_initialise_model");
}

Loaded::~Loaded() {
  if (context_) destroy_(context_);
  dlclose(handle_);
}

void* Loaded::symbol(const std::string& name) const {
  void* p = dlsym(handle_, name.c_str());
  if (!p) throw InternalError("the compiled library lacks " + name);
  return p;
}

const attn_model& Loaded::model(const std::string& name) const {
  auto get = reinterpret_cast<const attn_model* (*)()>(symbol(emit::identifier(name) + "_model"));
  return *get();
}

void Loaded::open(int threads, attn_device_id device) {
  attn_context_options options{};
  options.threads = threads;
  options.device = device;
  if (context_) destroy_(context_);
  context_ = nullptr;
  const attn_status status = create_(&options, &context_);
  if (status == ATTN_REFUSED) {
    const char* why = refusal_(device);
    throw SystemError(why != nullptr ? why : "the device gives no context");
  }
  if (status != ATTN_OK) throw SystemError("out of memory");
}

void Loaded::wait() { require(functions_.wait(context_)); }

void Loaded::require(attn_status status) const {
  if (status == ATTN_OK) return;
  std::string text = message();
  if (status == ATTN_REFUSED || status == ATTN_BAD_DATA) throw RefusedError(text);
  if (status == ATTN_NO_MEMORY || status == ATTN_BAD_DEVICE) throw SystemError(text);
  throw InternalError(text);
}

std::string link_shared(const emit::Library& library, const Scratch& scratch,
                        const BuildOptions& options) {
  Cache cache(options.cache);
  std::vector<std::string> objects = compile_objects(library, scratch, options, cache);
  std::string why_not;
  objects.push_back(compile_tables(library, scratch, cache, why_not));
  if (objects.back().empty()) throw SystemError("calling a model needs a C compiler: " + why_not);
  return link_objects(library, objects, scratch);
}

Memory::~Memory() {
  for (void* p : blocks_) {
    if (library_ != nullptr)
      library_->device().free(library_->context(), p);
    else
      attn_free(nullptr, p);
  }
}

void Memory::give(attn_tensor& t) {
  t.data = allocate(count_of(t) * attn_type_size(t.type));
  t.device = library_ != nullptr ? library_->device().id : attn_device_id{};
}

void* Memory::allocate(int64_t bytes) {
  const size_t wanted = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* p = library_ != nullptr ? library_->device().allocate(library_->context(), wanted)
                                : attn_allocate(nullptr, wanted);
  if (!p && library_ != nullptr) library_->wait();  // which may be lost
  if (!p) throw SystemError(fmt::format("out of memory: {} bytes", bytes));
  blocks_.push_back(p);
  return p;
}

int64_t count_of(const attn_tensor& t) {
  int64_t n = 1;
  for (int32_t k = 0; k < t.rank; ++k) n *= t.extent[k];
  return n;
}

bool holds(ir::Storage storage, double value) {
  switch (storage) {
    case ir::Storage::i32:
      return value >= INT32_MIN && value <= INT32_MAX;
    case ir::Storage::f32:
      return !std::isfinite(value) || std::isfinite(static_cast<float>(value));
    case ir::Storage::f16:
      return !std::isfinite(value) || std::isfinite(attn_f32_from_f16(attn_f16_from_f64(value)));
    case ir::Storage::bf16:
      return !std::isfinite(value) || std::isfinite(attn_f32_from_bf16(attn_bf16_from_f64(value)));
    case ir::Storage::f64:
    case ir::Storage::boolean:
      return true;
  }
  return true;
}

void store(const std::string& name, const Array& a, const attn_tensor& t) {
  for (size_t k = 0; k < a.values.size(); ++k) {
    double v = a.values[k];
    switch (t.type) {
      case ATTN_F32:
        static_cast<float*>(t.data)[k] = static_cast<float>(v);
        break;
      case ATTN_F64:
        static_cast<double*>(t.data)[k] = v;
        break;
      case ATTN_F16:
        static_cast<uint16_t*>(t.data)[k] = attn_f16_from_f64(v);
        break;
      case ATTN_BF16:
        static_cast<uint16_t*>(t.data)[k] = attn_bf16_from_f64(v);
        break;
      case ATTN_I32:
        if (v < INT32_MIN || v > INT32_MAX)
          throw RefusedError(fmt::format("{}: {} does not fit 32 bits", name, v));
        static_cast<int32_t*>(t.data)[k] = static_cast<int32_t>(v);
        break;
      case ATTN_BOOL:
        static_cast<uint8_t*>(t.data)[k] = v != 0;
        break;
    }
  }
}

Array fetch(const attn_tensor& t) {
  Array a{.extents = {t.extent, t.extent + t.rank}, .values = {}};
  int64_t n = count_of(t);
  a.values.resize(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    switch (t.type) {
      case ATTN_F32:
        a.values[k] = static_cast<const float*>(t.data)[k];
        break;
      case ATTN_F64:
        a.values[k] = static_cast<const double*>(t.data)[k];
        break;
      case ATTN_F16:
        a.values[k] = attn_f32_from_f16(static_cast<const uint16_t*>(t.data)[k]);
        break;
      case ATTN_BF16:
        a.values[k] = attn_f32_from_bf16(static_cast<const uint16_t*>(t.data)[k]);
        break;
      case ATTN_I32:
        a.values[k] = static_cast<const int32_t*>(t.data)[k];
        break;
      case ATTN_BOOL:
        a.values[k] = static_cast<const uint8_t*>(t.data)[k];
        break;
    }
  }
  return a;
}

void store(Loaded& library, const std::string& name, const Array& a, const attn_tensor& t) {
  if (t.device.type == ATTN_CPU) return store(name, a, t);
  Memory memory;
  attn_tensor host = t;
  memory.give(host);
  store(name, a, host);
  library.require(library.call().copy(library.context(), &t, &host));
}

Array fetch(Loaded& library, const attn_tensor& t) {
  if (t.device.type == ATTN_CPU) return fetch(t);
  Memory memory;
  attn_tensor host = t;
  memory.give(host);
  library.require(library.call().copy(library.context(), &host, &t));
  return fetch(host);
}

}  // namespace attn::driver
