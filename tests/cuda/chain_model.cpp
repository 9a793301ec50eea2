#include "chain_model.h"

#include <attn/kernel.h>

#include <algorithm>
#include <climits>
#include <vector>

#include "device_model.h"
#include "fake_cuda.h"

namespace {

void* object = nullptr;  // the word of the kernels' object
uint64_t scratch = 0;

// Launches an entry of tensors, then integers, that kernels are given as addresses.
int launch(void* context, const char* entry, std::vector<void*> tensors,
           std::vector<void*> integers) {
  if (const int code = attn_k_cuda_initialize_kernels(context, &object, "good", 4)) return code;
  std::vector<size_t> sizes(tensors.size(), 8);
  std::vector<int8_t> is_buffer(tensors.size(), 1);
  sizes.insert(sizes.end(), integers.size(), 4);
  is_buffer.insert(is_buffer.end(), integers.size(), 0);
  sizes.push_back(0);
  tensors.insert(tensors.end(), integers.begin(), integers.end());
  return attn_k_cuda_run(context, object, entry, 1, 1, 1, 32, 1, 1, 0, sizes.data(), tensors.data(),
                         is_buffer.data());
}

// Arguments of kernels are the context's address, then these.
void* context_of(void** a) { return *static_cast<void**>(a[0]); }

// index, N -> least, greatest
int check(void** a) { return launch(context_of(a), "check", {a[1], a[3], a[4]}, {a[2]}); }

// x, N -> y
int twice(void** a) {
  attn_buffer between = *static_cast<attn_buffer*>(a[3]);
  between.device = 0;
  if (const int code = attn_k_device_malloc(context_of(a), &between, nullptr)) return code;
  scratch = between.device;
  int code = launch(context_of(a), "double", {a[1], &between}, {a[2]});
  if (code == 0) code = launch(context_of(a), "increase", {&between, a[3]}, {a[2]});
  attn_k_device_free(context_of(a), &between);
  return code;
}

// x, index, step -> y
int add(void** a) { return launch(context_of(a), "add", {a[1], a[2], a[4]}, {a[3]}); }

const attn_kernel_code kCheck[] = {check}, kTwice[] = {twice}, kAdd[] = {add};
constexpr int32_t kX = ATTN_TENSOR(ATTN_INPUTS, 0), kIndex = ATTN_TENSOR(ATTN_INPUTS, 1),
                  kY = ATTN_TENSOR(ATTN_OUTPUTS, 0), kLeast = ATTN_TENSOR(ATTN_WORKSPACE, 0),
                  kGreatest = ATTN_TENSOR(ATTN_WORKSPACE, 1), kN = ATTN_VALUE(0),
                  kStep = ATTN_VALUE(1);
const int32_t kCheckArguments[] = {kIndex, kN, kLeast, kGreatest};
const int32_t kTwiceArguments[] = {kX, kN, kY};
const int32_t kAddArguments[] = {kX, kIndex, kStep, kY};
const attn_kernel kKernels[] = {{"check index", kCheck, 0, 2, 4, kCheckArguments},
                                {"loops y", kTwice, 0, 1, 3, kTwiceArguments},
                                {"step y", kAdd, 0, 1, 4, kAddArguments}};
const attn_loop kLoops[] = {{2, 3, 1, kN, 0}};
const attn_data_check kChecks[] = {{kLeast, kGreatest, kN, "index", "x", 0}};
const attn_local kWorkspace[] = {{ATTN_I32, 1, 0}, {ATTN_I32, 1, 0}};
const attn_life kLives[] = {{kLeast, 0, 0, -1, 0}, {kGreatest, 0, 0, -1, 0}};
const int64_t kVector[] = {kN};
const attn_shape kShapes[] = {{1, kVector}, {0, nullptr}};
const attn_size_rule kRules[] = {{0, ATTN_INPUTS, 0, 0, 0, 1, 1}};
const attn_size_bound kBounds[] = {{0, -1}};
const attn_target kTarget = {"cuda-sm80", ATTN_CUDA, 80, {}};

attn_function forward_function() {
  attn_function f = {};
  f.name = "forward";
  f.n_workspace = 2;
  f.n_checks = f.n_data_checks = f.n_loops = 1;
  f.n_kernels = 3;
  f.workspace = kWorkspace;
  f.n_lives = 2;
  f.lives = kLives;
  f.data_checks = kChecks;
  f.kernels = kKernels;
  f.loops = kLoops;
  return f;
}
const attn_function kForward = forward_function();

attn_program program() {
  attn_program p = {};
  p.n_values = 2;
  p.n_operations = 1;
  p.operations = [](const int64_t* value, double* n) { *n = static_cast<double>(value[0]); };
  p.n_shapes = 2;
  p.n_size_rules = p.n_targets = 1;
  p.shapes = kShapes;
  p.size_rules = kRules;
  p.size_bounds = kBounds;
  p.targets = &kTarget;
  p.forward = &kForward;
  return p;
}
const attn_program kProgram = program();

const attn_argument kInputs[] = {{.name = "x", .type = ATTN_F32, .rank = 1, .extent = {"N"}},
                                 {.name = "index", .type = ATTN_I32, .rank = 1, .extent = {"N"}}};
const attn_argument kOutputs[] = {{.name = "y", .type = ATTN_F32, .rank = 1, .extent = {"N"}}};
const char* const kSizes[] = {"N"};

attn_model model() {
  attn_model m = {};
  m.abi_version = ATTN_ABI_VERSION;
  m.name = "chain";
  m.source_hash = 3;
  m.n_inputs = 2;
  m.n_outputs = m.n_sizes = 1;
  m.inputs = kInputs;
  m.outputs = kOutputs;
  m.size_names = kSizes;
  m.program = &kProgram;
  return m;
}

// An array of a launch's argument; sets the code where the device has no such memory.
template <class T>
T* array(const fake_cuda::Launch& l, size_t argument, size_t count, int* code) {
  T* at = reinterpret_cast<T*>(fake_cuda::real(l.arguments[argument], count * sizeof(T)));
  if (at == nullptr) *code = 700;
  return at;
}

}  // namespace

const attn_model* chain_model() {
  static const attn_model one = model();
  return &one;
}

uint64_t chain_scratch() { return scratch; }

void set_chain_kernels() {
  fake_cuda::set_kernel("check", {[](const fake_cuda::Launch& l) {
                                    int code = 0;
                                    const size_t n = l.arguments[3];
                                    const int32_t* index = array<int32_t>(l, 0, n, &code);
                                    int32_t* least = array<int32_t>(l, 1, 1, &code);
                                    int32_t* greatest = array<int32_t>(l, 2, 1, &code);
                                    if (code != 0) return code;
                                    *least = INT_MAX, *greatest = INT_MIN;
                                    for (size_t k = 0; k < n; ++k) {
                                      *least = std::min(*least, index[k]);
                                      *greatest = std::max(*greatest, index[k]);
                                    }
                                    return 0;
                                  },
                                  {8, 8, 8, 4}});
  const auto map = [](float scale, float offset) {
    return [=](const fake_cuda::Launch& l) {
      int code = 0;
      const size_t n = l.arguments[2];
      const float* from = array<float>(l, 0, n, &code);
      float* to = array<float>(l, 1, n, &code);
      for (size_t k = 0; code == 0 && k < n; ++k) to[k] = scale * from[k] + offset;
      return code;
    };
  };
  fake_cuda::set_kernel("double", {map(2, 0), {8, 8, 4}});
  fake_cuda::set_kernel("increase", {map(1, 1), {8, 8, 4}});
  fake_cuda::set_kernel("add", {[](const fake_cuda::Launch& l) {
                                  int code = 0;
                                  const size_t n = l.arguments[3];
                                  const int32_t* index = array<int32_t>(l, 1, n + 1, &code);
                                  float* y = array<float>(l, 2, n + 1, &code);
                                  if (code != 0) return code;
                                  const size_t at = static_cast<size_t>(index[n]);
                                  const float* x = array<float>(l, 0, at + 1, &code);
                                  if (code == 0) y[n] += x[at];
                                  return code;
                                },
                                {8, 8, 8, 4}});
}
