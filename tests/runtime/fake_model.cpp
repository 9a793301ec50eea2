#include "fake_model.h"

#include <attn/kernel.h>
#include <attn/program.h>
#include <math.h>

#include <iterator>

namespace {

// What a kernel is given: buffers and integers, from 0.
class Arguments {
 public:
  explicit Arguments(void** arguments) : arguments_(arguments + 1) {}
  template <class T = float>
  T* data(int k) const {
    return static_cast<T*>(static_cast<attn_buffer*>(arguments_[k])->host);
  }
  int64_t value(int k) const { return *static_cast<int32_t*>(arguments_[k]); }

 private:
  void** arguments_;
};

// x, w, c, target, B, D -> y, loss, error
int line(void** arguments) {
  const Arguments a(arguments);
  const int64_t rows = a.value(4), columns = a.value(5);
  float sum = 0;
  for (int64_t b = 0; b < rows; ++b) {
    float y = *a.data(2);
    for (int64_t d = 0; d < columns; ++d) y += a.data(0)[b * columns + d] * a.data(1)[d];
    const float error = y - a.data(3)[b];
    a.data(6)[b] = y;
    a.data(8)[b] = error;
    sum += error * error;
  }
  *a.data(7) = rows > 0 ? sum / static_cast<float>(rows) : 0.0f;
  return 0;
}

float cotangent(const float* dy, const float* dloss, const float* error, int64_t b, int64_t rows) {
  return dy[b] + *dloss * 2 * error[b] / static_cast<float>(rows);
}

// x, dy, dloss, error, B, D -> dw, dc
int line_dw(void** arguments) {
  const Arguments a(arguments);
  const int64_t rows = a.value(4), columns = a.value(5);
  for (int64_t d = 0; d < columns; ++d) a.data(6)[d] = 0;
  *a.data(7) = 0;
  for (int64_t b = 0; b < rows; ++b) {
    const float dy = cotangent(a.data(1), a.data(2), a.data(3), b, rows);
    *a.data(7) += dy;
    for (int64_t d = 0; d < columns; ++d) a.data(6)[d] += dy * a.data(0)[b * columns + d];
  }
  return 0;
}

// w, dy, dloss, error, B, D -> dx
int line_dx(void** arguments) {
  const Arguments a(arguments);
  const int64_t rows = a.value(4), columns = a.value(5);
  for (int64_t b = 0; b < rows; ++b) {
    const float dy = cotangent(a.data(1), a.data(2), a.data(3), b, rows);
    for (int64_t d = 0; d < columns; ++d) a.data(6)[b * columns + d] = dy * a.data(0)[d];
  }
  return 0;
}

// v' = momentum v + g, w' = w - lr v': g, v, lr, momentum, w, rows, columns -> v', w'
int descend(void** arguments) {
  const Arguments a(arguments);
  const float lr = static_cast<float>(*a.data<double>(2));
  const float momentum = static_cast<float>(*a.data<double>(3));
  for (int64_t k = 0; k < a.value(5) * a.value(6); ++k) {
    const float v = momentum * a.data(1)[k] + a.data(0)[k];
    a.data(8)[k] = a.data(4)[k] - lr * v;
    a.data(7)[k] = v;
  }
  return 0;
}

const attn_kernel_code kLine[] = {line}, kLineDw[] = {line_dw}, kLineDx[] = {line_dx},
                       kDescend[] = {descend};

constexpr int32_t t(attn_group group, int32_t k) { return ATTN_TENSOR(group, k); }
constexpr int32_t kY = t(ATTN_GIVEN_OUTPUTS, 0), kLoss = t(ATTN_GIVEN_OUTPUTS, 1),
                  kX = t(ATTN_INPUTS, 0), kW = t(ATTN_PARAMS, 0), kError = t(ATTN_SAVED, 0);
constexpr int32_t kB = ATTN_VALUE(0), kD = ATTN_VALUE(1);

const int32_t kLineArguments[] = {kX,    kW, t(ATTN_PARAMS, 1),  t(ATTN_INPUTS, 1),
                                  kB,    kD, t(ATTN_OUTPUTS, 0), t(ATTN_OUTPUTS, 1),
                                  kError};
const int32_t kDwArguments[] = {
    kX, kY, kLoss, kError, kB, kD, t(ATTN_WANTED_PARAMS, 0), t(ATTN_WANTED_PARAMS, 1)};
const int32_t kDxArguments[] = {kW, kY, kLoss, kError, kB, kD, t(ATTN_WANTED_INPUTS, 0)};
const int32_t kDescendArguments[] = {
    kX, t(ATTN_INPUTS, 1),  t(ATTN_INPUTS, 2), t(ATTN_INPUTS, 3), kW, kB,
    kD, t(ATTN_OUTPUTS, 1), t(ATTN_OUTPUTS, 0)};
const attn_kernel kForwardKernels[] = {{"loops y loss", kLine, 0, 3, 9, kLineArguments}};
const attn_kernel kBackwardKernels[] = {{"loops dw dc", kLineDw, 0, 2, 8, kDwArguments},
                                        {"loops dx", kLineDx, 0, 1, 7, kDxArguments}};
const attn_kernel kStepKernels[] = {{"row w", kDescend, 0, 2, 9, kDescendArguments}};
const attn_life kForwardLives[] = {{t(ATTN_OUTPUTS, 0), 1, 1, -1, 0},
                                   {t(ATTN_OUTPUTS, 1), 1, 1, -1, 0},
                                   {t(ATTN_SAVED, 0), 1, 1, -1, 1}};
const attn_life kBackwardLives[] = {{kY, 0, 2, -1, 1},
                                    {kLoss, 0, 2, -1, 1},
                                    {kError, 1, 2, -1, 0},
                                    {t(ATTN_WANTED_PARAMS, 0), 1, 1, -1, 1},
                                    {t(ATTN_WANTED_PARAMS, 1), 1, 1, -1, 1},
                                    {t(ATTN_WANTED_INPUTS, 0), 2, 2, -1, 0}};

attn_function function(attn_function_kind kind, const char* name, const attn_kernel* kernels,
                       int32_t n_kernels) {
  attn_function f = {};
  f.kind = kind;
  f.name = name;
  f.kernels = kernels;
  f.n_kernels = n_kernels;
  return f;
}

attn_function forward_function() {
  attn_function f = function(ATTN_FORWARD, "forward", kForwardKernels, 1);
  f.n_lives = 3;
  f.lives = kForwardLives;
  return f;
}

attn_function backward_function() {
  attn_function f = function(ATTN_BACKWARD, "backward", kBackwardKernels, 2);
  f.reads_saved = 1;
  f.n_lives = 6;
  f.lives = kBackwardLives;
  return f;
}

const attn_function kForward = forward_function();
const attn_function kBackward = backward_function();
const attn_function kStepForward = function(ATTN_FORWARD, "forward", kStepKernels, 1);

// 2 B D for y, and B for the loss.
void count(const int64_t* value, double* operations) {
  operations[0] = static_cast<double>(2 * value[0] * value[1] + value[0]);
}

const int64_t kRow[] = {kD}, kFixedRow[] = {3}, kMatrix[] = {kB, kD}, kFixedMatrix[] = {kB, 3},
              kColumn[] = {kB};
const attn_shape kShapes[] = {{1, kRow}, {0, nullptr}, {2, kMatrix}, {1, kColumn}};
const attn_shape kFixedShapes[] = {{1, kFixedRow}, {0, nullptr}, {2, kFixedMatrix}, {1, kColumn}};
const attn_size_rule kRules[] = {{0, ATTN_INPUTS, 0, 0, 0, 1, 1}, {1, ATTN_INPUTS, 0, 1, 0, 1, 1}};
const attn_size_bound kBounds[] = {{0, -1}, {0, -1}};
const attn_local kSaved[] = {{ATTN_F32, 3, 0}};

const attn_target kAnyProcessor = {"any", {}};

attn_program program(const attn_shape* shapes, const attn_function* forward) {
  attn_program p = {};
  p.n_values = 2;
  p.n_operations = 1;
  p.operations = count;
  p.n_shapes = 4;
  p.shapes = shapes;
  p.n_size_rules = 2;
  p.size_rules = kRules;
  p.size_bounds = kBounds;
  p.n_targets = 1;
  p.targets = &kAnyProcessor;
  p.forward = forward;
  return p;
}

const attn_program kStepProgram = program(kShapes, &kStepForward);

const attn_argument kStepParams[] = {{.name = "w", .type = ATTN_F32, .shape = 2}};
const attn_argument kStepInputs[] = {{.name = "g", .type = ATTN_F32, .shape = 2},
                                     {.name = "v", .type = ATTN_F32, .shape = 2},
                                     {.name = "lr", .type = ATTN_F64, .shape = 1},
                                     {.name = "momentum", .type = ATTN_F64, .shape = 1}};
const attn_argument kStepOutputs[] = {{.name = "w'", .type = ATTN_F32, .shape = 2},
                                      {.name = "v'", .type = ATTN_F32, .shape = 2}};

attn_model step_model() {
  attn_model m = {};
  m.abi_version = ATTN_ABI_VERSION;
  m.name = "line_step";
  m.n_params = 1;
  m.n_inputs = 4;
  m.n_outputs = 2;
  m.n_sizes = 2;
  m.params = kStepParams;
  m.inputs = kStepInputs;
  m.outputs = kStepOutputs;
  m.program = &kStepProgram;
  return m;
}

const attn_model kStepModel = step_model();
const attn_update kUpdates[] = {{ATTN_F32, &kStepModel}};
const int32_t kScalars[] = {0, 1};
const attn_step_program kStep = {.n_updates = 1,
                                 .n_norms = 0,
                                 .n_scalars = 2,
                                 .updates = kUpdates,
                                 .norms = nullptr,
                                 .scalars = kScalars,
                                 .columns = 2};

attn_program line_program(const attn_shape* shapes) {
  attn_program p = program(shapes, &kForward);
  p.backward = &kBackward;
  p.n_saved = 1;
  p.saved = kSaved;
  p.step = &kStep;
  return p;
}

attn_program fixed_program() {
  attn_program p = line_program(kFixedShapes);
  p.n_size_rules = 1;
  p.values = [](int64_t* value) { value[1] = 3; };
  return p;
}

const attn_program kProgram = line_program(kShapes), kFixedProgram = fixed_program();

const attn_argument kParams[] = {{"w", ATTN_F32, 1, {"D"}, 1, "w", ATTN_INIT_XAVIER, 0, 0, 1, 0},
                                 {"c", ATTN_F32, 0, {}, 1, "c", ATTN_INIT_ZEROS, 0, 0, 0, 1}};
const attn_argument kFixedParams[] = {
    {"w", ATTN_F32, 1, {"3"}, 1, "linear.weight", ATTN_INIT_NORMAL, 0, 0.1, 1, 0},
    {"c", ATTN_F32, 0, {}, 1, "c", ATTN_INIT_CONSTANT, 0.5, 0, 0, 1}};
const attn_argument kInputs[] = {
    {"x", ATTN_F32, 2, {"B", "D"}, 1, "x", ATTN_INIT_ZEROS, 0, 0, 0, 2},
    {"target", ATTN_F32, 1, {"B"}, 0, "", ATTN_INIT_ZEROS, 0, 0, 0, 3}};
const attn_argument kOutputs[] = {
    {"y", ATTN_F32, 1, {"B"}, 1, "y", ATTN_INIT_ZEROS, 0, 0, 0, 3},
    {"loss", ATTN_F32, 0, {}, 1, "loss", ATTN_INIT_ZEROS, 0, 0, 0, 1}};
const char* const kSizes[] = {"B", "D"};
const attn_step_option kOptions[] = {{"lr", NAN}, {"momentum", 0}};
const attn_step_state kStates[] = {{"v", 0}};

attn_model described(const char* name, uint64_t hash, int32_t n_sizes, const attn_argument* params,
                     const attn_program* program) {
  attn_model model = {};
  model.abi_version = ATTN_ABI_VERSION;
  model.name = name;
  model.source_hash = hash;
  model.n_params = model.n_inputs = model.n_outputs = 2;
  model.n_sizes = n_sizes;
  model.params = params;
  model.inputs = kInputs;
  model.outputs = kOutputs;
  model.size_names = kSizes;
  model.has_backward = model.has_step = 1;
  model.n_step_options = 2;
  model.n_step_states = 1;
  model.step_options = kOptions;
  model.step_states = kStates;
  model.program = program;
  return model;
}

const attn_model kModel = described("line", 1, 2, kParams, &kProgram);
const attn_model kFixedModel = described("fixed_line", 2, 1, kFixedParams, &kFixedProgram);

}  // namespace

const attn_model* fake_model() { return &kModel; }
const attn_model* fake_fixed_model() { return &kFixedModel; }
