// A compiled library as a shared object in this process, and arrays as its tensors.
#pragma once

#include <attn/attn.h>
#include <attn/model.h>
#include <attn/train.h>

#include <string>
#include <vector>

#include "compiler/driver/build.h"
#include "compiler/evaluate/evaluate.h"

namespace attn::driver {

// Compiles and links kernels, tables and runtime to a shared object in `scratch`; its path.
std::string link_shared(const emit::Library& library, const Scratch& scratch,
                        const BuildOptions& options);

class Loaded {
 public:
  explicit Loaded(const std::string& path);
  ~Loaded();
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  // A context of the library's own runtime, in place of an earlier one; 0 threads: as many as there
  // are processors. Throws RefusedError where there is no such device.
  void open(int threads, attn_device_id device = {});
  attn_context* context() { return context_; }
  const char* message() const { return message_(context_); }
  // The functions of its device.
  const attn_device& device() const { return *device_(context_); }
  // Until the device has done what was begun; throws as `require` does.
  void wait();
  // Throws what the driver reports for a status: RefusedError, SystemError, InternalError.
  void require(attn_status status) const;
  const attn_model& model(const std::string& name) const;
  // The library's own functions of attn/model.h.
  struct Functions {
    decltype(&attn_read_sizes) read_sizes;
    decltype(&attn_shapes) shapes;
    decltype(&attn_probe_shape) probe_shape;
    decltype(&attn_call_sizes) call_sizes;
    decltype(&attn_forward) forward;
    decltype(&attn_backward) backward;
    decltype(&attn_forward_backward) forward_backward;
    decltype(&attn_forward_backward_workspace) forward_backward_workspace;
    decltype(&attn_jvp) jvp;
    decltype(&attn_hvp) hvp;
    decltype(&attn_probe) probe;
    decltype(&attn_step_workspace) step_workspace;
    decltype(&attn_step) step;
    decltype(&attn_context_set_trace) set_trace;
    decltype(&attn_context_wait) wait;
    decltype(&attn_copy) copy;
    decltype(&attn_initialise_model) initialise_model;
  };
  const Functions& call() const { return functions_; }

 private:
  void* symbol(const std::string& name) const;
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(symbol(name));
  }

  void* handle_ = nullptr;
  attn_context* context_ = nullptr;
  Functions functions_{};
  decltype(&attn_context_create) create_ = nullptr;
  decltype(&attn_context_destroy) destroy_ = nullptr;
  decltype(&attn_context_message) message_ = nullptr;
  decltype(&attn_context_device) device_ = nullptr;
  decltype(&attn_device_refusal) refusal_ = nullptr;
};

// Memory for tensors of a call, aligned as the library demands.
class Memory {
 public:
  Memory() = default;
  // Of the device of the library's context, which outlives it.
  explicit Memory(Loaded& library) : library_(&library) {}
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* allocate(int64_t bytes);  // SystemError where there is none
  attn_block lend(int64_t bytes) { return {allocate(bytes), bytes}; }
  // The same for a tensor's elements.
  void give(attn_tensor& t);

 private:
  Loaded* library_ = nullptr;  // null: memory of the host
  std::vector<void*> blocks_;
};

int64_t count_of(const attn_tensor& t);
// Whether a finite number stays one in that type; of others, whether it is one of the type's.
bool holds(ir::Storage storage, double value);
// Elements into and out of memory that the tensor describes. RefusedError, which says `name`, for
// integers that do not fit.
void store(const std::string& name, const evaluate::Array& a, const attn_tensor& t);
evaluate::Array fetch(const attn_tensor& t);
// The same for memory of the library's device.
void store(Loaded& library, const std::string& name, const evaluate::Array& a,
           const attn_tensor& t);
evaluate::Array fetch(Loaded& library, const attn_tensor& t);

}  // namespace attn::driver
