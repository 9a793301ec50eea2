#include "device_model.h"

#include <attn/kernel.h>

#include <deque>

#include "fake_cuda.h"
#include "tests/runtime/fake_model.h"

namespace {

// One kernel: the function of the host that computes it, and which arguments are tensors.
struct HostKernel {
  attn_kernel_code code = nullptr;
  std::vector<int8_t> is_buffer;
  void* state = nullptr;  // the word of its object
  std::string entry;
};

constexpr int kMost = 8;
HostKernel kernels[kMost];
int n_kernels = 0;
const char* first_text = nullptr;

// As generated code does: arguments are the context's address, then buffers and integers.
template <int k>
int launch(void** arguments) {
  HostKernel& kernel = kernels[k];
  void* context = *static_cast<void**>(arguments[0]);
  const char* text = k == 0 && first_text != nullptr ? first_text : "good";
  if (const int code = attn_k_cuda_initialize_kernels(context, &kernel.state, text, 4)) return code;
  std::vector<size_t> sizes;
  for (int8_t is_buffer : kernel.is_buffer) sizes.push_back(is_buffer != 0 ? 8 : 4);
  sizes.push_back(0);
  return attn_k_cuda_run(context, kernel.state, kernel.entry.c_str(), 7, 1, 1, 32, 2, 1, 0,
                         sizes.data(), arguments + 1, kernel.is_buffer.data());
}

constexpr attn_kernel_code kLaunch[kMost][1] = {{launch<0>}, {launch<1>}, {launch<2>}, {launch<3>},
                                                {launch<4>}, {launch<5>}, {launch<6>}, {launch<7>}};

// The kernel on the "device": sees its buffers where the fake has them.
int compute(const HostKernel& kernel, const fake_cuda::Launch& given) {
  std::deque<attn_buffer> buffers;
  std::deque<int32_t> values;
  std::vector<void*> arguments = {nullptr};
  for (size_t k = 0; k < kernel.is_buffer.size(); ++k) {
    if (kernel.is_buffer[k] == 0) {
      values.push_back(static_cast<int32_t>(given.arguments[k]));
      arguments.push_back(&values.back());
      continue;
    }
    buffers.emplace_back();
    buffers.back().host = fake_cuda::real(given.arguments[k], 1);
    if (buffers.back().host == nullptr && given.arguments[k] != 0) return 700;
    arguments.push_back(&buffers.back());
  }
  return kernel.code(arguments.data());
}

template <class T>
T* kept(const T& value) {
  static std::deque<T> all;
  return &all.emplace_back(value);
}

attn_target target = {"cuda-sm80", ATTN_CUDA, 80, {}};

const attn_function* on_device(const attn_function* from) {
  static std::deque<std::vector<attn_kernel>> lists;
  if (from == nullptr) return nullptr;
  std::vector<attn_kernel>& list =
      lists.emplace_back(from->kernels, from->kernels + from->n_kernels);
  for (attn_kernel& kernel : list) {
    HostKernel& host = kernels[n_kernels];
    host.code = kernel.code[0];
    host.entry = "kernel_" + std::to_string(n_kernels);
    for (int32_t k = 0; k < kernel.n_arguments; ++k)
      host.is_buffer.push_back(kernel.arguments[k] >= 0);
    kernel.code = kLaunch[n_kernels++];
  }
  attn_function* f = kept(*from);
  f->kernels = list.data();
  return f;
}

const attn_model* on_device(const attn_model& from) {
  attn_program* program = kept(*from.program);
  program->targets = &target;
  program->forward = on_device(program->forward);
  program->backward = on_device(program->backward);
  if (program->step != nullptr) {
    attn_step_program* step = kept(*program->step);
    attn_update* update = kept(step->updates[0]);
    update->model = on_device(*update->model);
    step->updates = update;
    program->step = step;
  }
  attn_model* model = kept(from);
  model->program = program;
  return model;
}

}  // namespace

const attn_model* device_model() {
  static const attn_model* model = on_device(*fake_model());
  return model;
}

attn_target& device_target() { return target; }

void set_device_text(const char* text) { first_text = text; }

void set_device_kernels() {
  device_model();
  for (int k = 0; k < n_kernels; ++k) {
    std::vector<size_t> sizes;
    for (int8_t is_buffer : kernels[k].is_buffer) sizes.push_back(is_buffer != 0 ? 8 : 4);
    fake_cuda::set_kernel(
        kernels[k].entry,
        {[k](const fake_cuda::Launch& l) { return compute(kernels[k], l); }, sizes});
  }
}
