#include "fake_model.h"

#include <attn/kernel.h>
#include <attn/types.h>
#include <math.h>
#include <string.h>

namespace {

const attn_argument kParams[] = {{"w", ATTN_F32, 1, {"D"}, 1, "w", ATTN_INIT_XAVIER, 0, 0, 1},
                                 {"c", ATTN_F32, 0, {}, 1, "c", ATTN_INIT_ZEROS, 0, 0, 0}};
const attn_argument kFixedParams[] = {
    {"w", ATTN_F32, 1, {"3"}, 1, "linear.weight", ATTN_INIT_NORMAL, 0, 0.1, 1},
    {"c", ATTN_F32, 0, {}, 1, "c", ATTN_INIT_CONSTANT, 0.5, 0, 0}};
const attn_argument kInputs[] = {{"x", ATTN_F32, 2, {"B", "D"}, 1, "x", ATTN_INIT_ZEROS, 0, 0, 0},
                                 {"target", ATTN_F32, 1, {"B"}, 0, "", ATTN_INIT_ZEROS, 0, 0, 0}};
const attn_argument kOutputs[] = {{"y", ATTN_F32, 1, {"B"}, 1, "y", ATTN_INIT_ZEROS, 0, 0, 0},
                                  {"loss", ATTN_F32, 0, {}, 1, "loss", ATTN_INIT_ZEROS, 0, 0, 0}};
const char* const kSizes[] = {"B", "D"};

extern const attn_model kModel;

void shapes(const int64_t* sizes, attn_tensor* params, attn_tensor* inputs, attn_tensor* outputs) {
  const int64_t b = sizes[0], d = sizes[1];
  const auto set = [](attn_tensor* t, int32_t rank, int64_t e0, int64_t e1) {
    t->type = ATTN_F32;
    t->rank = rank;
    t->extent[0] = e0;
    t->extent[1] = e1;
  };
  if (params != nullptr) {
    set(&params[0], 1, d, 0);
    set(&params[1], 0, 0, 0);
  }
  if (inputs != nullptr) {
    set(&inputs[0], 2, b, d);
    set(&inputs[1], 1, b, 0);
  }
  if (outputs != nullptr) {
    set(&outputs[0], 1, b, 0);
    set(&outputs[1], 0, 0, 0);
  }
}

void fixed_shapes(const int64_t* sizes, attn_tensor* params, attn_tensor* inputs,
                  attn_tensor* outputs) {
  const int64_t both[] = {sizes[0], 3};
  shapes(both, params, inputs, outputs);
}

attn_status check(attn_context* context, const attn_tensor* params, const attn_tensor* inputs,
                  int64_t* sizes) {
  sizes[0] = inputs[0].extent[0];
  sizes[1] = inputs[0].extent[1];
  attn_tensor p[2] = {}, in[2] = {};
  shapes(sizes, p, in, nullptr);
  for (int k = 0; k < 2; ++k) {
    attn_status status = attn_check_tensor(context, "input", &kInputs[k], &inputs[k], &in[k], 0);
    if (status == ATTN_OK && params != nullptr) {
      status = attn_check_tensor(context, "parameter", &kParams[k], &params[k], &p[k], 0);
    }
    if (status != ATTN_OK) return status;
  }
  return ATTN_OK;
}

attn_status read_sizes(attn_context* context, const attn_tensor* params, const attn_tensor* inputs,
                       int64_t* sizes) {
  int64_t both[2];
  const attn_status status = check(context, params, inputs, both);
  sizes[0] = both[0];
  sizes[1] = both[1];
  return status;
}

attn_status fixed_read_sizes(attn_context* context, const attn_tensor* params,
                             const attn_tensor* inputs, int64_t* sizes) {
  int64_t both[2];
  const attn_status status = check(context, params, inputs, both);
  sizes[0] = both[0];
  return status;
}

// Saved: y - target.
attn_status get_sizes(attn_context* context, const attn_tensor* params, const attn_tensor* inputs,
                      attn_sizes* bytes) {
  int64_t sizes[2];
  const attn_status status = check(context, params, inputs, sizes);
  *bytes = {0, 0, sizes[0] * 4};
  return status;
}

attn_status forward(attn_context* context, const attn_tensor* params, const attn_tensor* inputs,
                    const attn_tensor* outputs, void* saved, void*) {
  int64_t sizes[2];
  const uint32_t control = attn_begin_call(context);
  attn_status status = check(context, params, inputs, sizes);
  attn_tensor out[2] = {};
  shapes(sizes, nullptr, nullptr, out);
  for (int k = 0; k < 2 && status == ATTN_OK; ++k) {
    status = attn_check_tensor(context, "output", &kOutputs[k], &outputs[k], &out[k], 0);
  }
  if (status == ATTN_OK) {
    const float* x = static_cast<const float*>(inputs[0].data);
    const float* w = static_cast<const float*>(params[0].data);
    float sum = 0;
    for (int64_t b = 0; b < sizes[0]; ++b) {
      float y = *static_cast<const float*>(params[1].data);
      for (int64_t d = 0; d < sizes[1]; ++d) y += x[b * sizes[1] + d] * w[d];
      const float error = y - static_cast<const float*>(inputs[1].data)[b];
      static_cast<float*>(outputs[0].data)[b] = y;
      static_cast<float*>(saved)[b] = error;
      sum += error * error;
    }
    *static_cast<float*>(outputs[1].data) =
        sizes[0] > 0 ? sum / static_cast<float>(sizes[0]) : 0.0f;
  }
  attn_end_call(context, control);
  return status;
}

attn_status backward(attn_context* context, const attn_tensor* params, const attn_tensor* inputs,
                     const attn_tensor*, const void* saved, const attn_tensor* cotangents,
                     const attn_tensor* param_gradients, const attn_tensor* input_gradients,
                     void*) {
  int64_t sizes[2];
  const uint32_t control = attn_begin_call(context);
  const attn_status status = check(context, params, inputs, sizes);
  if (status == ATTN_OK) {
    const float* x = static_cast<const float*>(inputs[0].data);
    const float* w = static_cast<const float*>(params[0].data);
    float* dw = static_cast<float*>(param_gradients[0].data);
    float* dc = static_cast<float*>(param_gradients[1].data);
    float* dx = static_cast<float*>(input_gradients[0].data);
    memset(dw, 0, static_cast<size_t>(4 * sizes[1]));
    *dc = 0;
    for (int64_t b = 0; b < sizes[0]; ++b) {
      float dy = 0;
      if (cotangents[0].data != nullptr) dy += static_cast<const float*>(cotangents[0].data)[b];
      if (cotangents[1].data != nullptr) {
        dy += *static_cast<const float*>(cotangents[1].data) * 2 *
              static_cast<const float*>(saved)[b] / static_cast<float>(sizes[0]);
      }
      *dc += dy;
      for (int64_t d = 0; d < sizes[1]; ++d) {
        dw[d] += dy * x[b * sizes[1] + d];
        if (dx != nullptr) dx[b * sizes[1] + d] = dy * w[d];
      }
    }
  }
  attn_end_call(context, control);
  return status;
}

// v' = momentum v + g, w' = w - lr v'.
const attn_step_option kOptions[] = {{"lr", NAN}, {"momentum", 0}};
const attn_step_state kStates[] = {{"v", 0}};

int64_t step_workspace(const attn_tensor*) { return 0; }

attn_status step(attn_context* context, const double* options, int64_t number,
                 const attn_tensor* params, const attn_tensor* gradients, const attn_tensor* states,
                 void*) {
  const uint32_t control = attn_begin_call(context);
  const attn_status status =
      attn_check_step(context, &kModel, options, number, params, gradients, states);
  for (int k = 0; k < 2 && status == ATTN_OK; ++k) {
    float* w = static_cast<float*>(params[k].data);
    float* v = static_cast<float*>(states[k].data);
    const float* g = static_cast<const float*>(gradients[k].data);
    const float lr = static_cast<float>(options[0]), momentum = static_cast<float>(options[1]);
    for (int64_t j = 0; j < attn_element_count(&params[k]); ++j) {
      v[j] = momentum * v[j] + g[j];
      w[j] -= lr * v[j];
    }
  }
  attn_end_call(context, control);
  return status;
}

attn_model described(const char* name, uint64_t hash, int32_t n_sizes, const attn_argument* params,
                     decltype(attn_model::read_sizes) read, decltype(attn_model::shapes) shape) {
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
  model.has_backward = 1;
  model.read_sizes = read;
  model.shapes = shape;
  model.sizes = get_sizes;
  model.forward = forward;
  model.backward = backward;
  model.n_step_options = 2;
  model.n_step_states = 1;
  model.step_options = kOptions;
  model.step_states = kStates;
  model.step_workspace = step_workspace;
  model.step = step;
  return model;
}

const attn_model kModel = described("line", 1, 2, kParams, read_sizes, shapes);
const attn_model kFixedModel =
    described("fixed_line", 2, 1, kFixedParams, fixed_read_sizes, fixed_shapes);

}  // namespace

const attn_model* fake_model() { return &kModel; }
const attn_model* fake_fixed_model() { return &kFixedModel; }
