// A compiled library as a shared object in this process, and arrays as its tensors.
#pragma once

#include <attn/attn.h>

#include <string>
#include <vector>

#include "compiler/driver/build.h"
#include "compiler/evaluate/evaluate.h"

namespace attn::driver {

// Compiles and links kernels, glue and runtime to a shared object in `scratch`; its path.
std::string link_shared(const emit::Library& library, const Scratch& scratch,
                        const BuildOptions& options);

class Loaded {
 public:
  explicit Loaded(const std::string& path);
  ~Loaded();
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  // A context of the library's own runtime, in place of an earlier one; 0 threads: as many as there
  // are processors.
  void open(int threads);
  attn_context* context() { return context_; }
  const char* message() const { return message_(context_); }
  // Throws what the driver reports for a status: RefusedError, SystemError, InternalError.
  void require(attn_status status) const;
  const attn_model& model(const std::string& name) const;
  // Of a library built with timers: what its glue calls around every kernel, as emit::ModelPlan
  // says.
  using Mark = void (*)(void* data, int32_t kernel, int32_t ends);
  void watch(const std::string& model, Mark mark, void* data);

 private:
  void* symbol(const std::string& name) const;

  void* handle_ = nullptr;
  attn_context* context_ = nullptr;
  decltype(&attn_context_create) create_ = nullptr;
  decltype(&attn_context_destroy) destroy_ = nullptr;
  decltype(&attn_context_message) message_ = nullptr;
};

// Memory for tensors of a call, aligned as the library demands.
class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* allocate(int64_t bytes);  // SystemError where there is none

 private:
  std::vector<void*> blocks_;
};

int64_t count_of(const attn_tensor& t);
// Elements into and out of memory that the tensor describes. RefusedError, which says `name`, for
// whole numbers that do not fit.
void store(const std::string& name, const evaluate::Array& a, const attn_tensor& t);
evaluate::Array fetch(const attn_tensor& t);

}  // namespace attn::driver
