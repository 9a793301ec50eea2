// A step of a model's update: its parameters one after the other, each dealt out to rows of
// elements for kernels that know neither rank nor shape.
#include <attn/model.h>
#include <attn/types.h>
#include <math.h>

#include <algorithm>

#include "execute.h"

namespace attn::rt {
namespace {

// Elements from `begin` on, as a matrix.
struct Part {
  int64_t begin, sizes[2];
};

// Whole rows of `count` elements, and what is left of them.
struct Parts {
  Parts(int64_t count, int64_t columns) {
    const int64_t rows = count / columns;
    if (rows > 0) list[n++] = {0, {rows, columns}};
    if (count > rows * columns) list[n++] = {rows * columns, {1, count - rows * columns}};
  }
  const Part* begin() const { return list; }
  const Part* end() const { return list + n; }
  Part list[2];
  int n = 0;
};

const attn_model& model_for(const attn_update* list, int32_t count, attn_type type) {
  while (count > 1 && list->type != type) ++list, --count;
  return *list->model;
}

attn_tensor elements_of(const attn_tensor& tensor, int64_t begin) {
  attn_tensor part = tensor;
  part.data = static_cast<char*>(tensor.data) + begin * attn_type_size(tensor.type);
  return part;
}

class Update {
 public:
  Update(attn_context* context, const attn_model& model, const double* options, int64_t step,
         void* workspace)
      : context_(context),
        model_(model),
        program_(*model.program->step),
        options_(options),
        step_(step),
        workspace_(workspace) {}
  ~Update() {
    attn_device_free(context_, scalars_);
    attn_free(context_, tensors_);
  }
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  attn_status run(const attn_tensor* params, const attn_tensor* gradients,
                  const attn_tensor* states) {
    const int32_t n_states = model_.n_step_states;
    scalars_ = static_cast<double*>(attn_device_allocate(
        context_, sizeof(double) * static_cast<size_t>(program_.n_scalars + 1)));
    tensors_ = static_cast<attn_tensor*>(attn_allocate(
        context_,
        sizeof(attn_tensor) * static_cast<size_t>(2 * n_states + 2 + program_.n_scalars)));
    if (scalars_ == nullptr || tensors_ == nullptr) return out_of_memory(context_);
    double norm = 0;
    attn_status status = program_.n_norms > 0 ? find_norm(params, gradients, &norm) : ATTN_OK;
    if (status == ATTN_OK) status = set_scalars(norm);
    for (int32_t k = 0; k < model_.n_params && status == ATTN_OK; ++k) {
      const int64_t count = attn_element_count(&params[k]);
      if (gradients[k].data == nullptr || count == 0) continue;
      for (const Part& part : Parts(count, program_.columns)) {
        if (status == ATTN_OK)
          status = update(part, params[k], gradients[k], n_states > 0 ? states + k : nullptr);
      }
    }
    return status;
  }

 private:
  attn_status set_scalars(double norm) {
    const attn_device* device = attn_context_device(context_);
    for (int32_t k = 0; k < program_.n_scalars; ++k) {
      const int32_t which = program_.scalars[k];
      const double value = which == ATTN_STEP_COUNT  ? static_cast<double>(step_)
                           : which == ATTN_STEP_NORM ? norm
                                                     : options_[which];
      if (device->copy_in(context_, scalars_ + k, &value, sizeof value) != 0)
        return device_failed(context_);
    }
    return ATTN_OK;
  }

  attn_status run_part(const attn_model& model, const Part& part, Call& call) {
    const FrameHolder frame(Frame::take(context_, model, *model.program->forward));
    if (!frame.ok()) return out_of_memory(context_);
    frame->set_sizes(part.sizes);
    call.workspace = workspace_;
    return execute(*frame, call);
  }

  attn_status find_norm(const attn_tensor* params, const attn_tensor* gradients, double* norm) {
    if (workspace_ == nullptr || reinterpret_cast<uintptr_t>(workspace_) % 64 != 0) {
      return attn_fail(context_, ATTN_REFUSED, "%s: the workspace must be aligned to 64 bytes",
                       model_.name);
    }
    attn_tensor output = {};
    output.data = scalars_;
    for (int32_t k = 0; k < model_.n_params; ++k) {
      const int64_t count = attn_element_count(&params[k]);
      if (gradients[k].data == nullptr || count == 0) continue;
      const attn_model& model = model_for(program_.norms, program_.n_norms, gradients[k].type);
      for (const Part& part : Parts(count, program_.columns)) {
        const attn_tensor input = elements_of(gradients[k], part.begin);
        Call call{.tensors = {nullptr, &input, &output}};
        const attn_status status = run_part(model, part, call);
        if (status != ATTN_OK) return status;
        double square;
        if (attn_context_device(context_)->copy_out(context_, &square, scalars_, sizeof square))
          return device_failed(context_);
        *norm += square;
      }
    }
    *norm = sqrt(*norm);
    return ATTN_OK;
  }

  // `states`: the first of this parameter; those of the others are n_params apart. An update writes
  // over what it reads.
  attn_status update(const Part& part, const attn_tensor& param, const attn_tensor& gradient,
                     const attn_tensor* states) {
    const int32_t n_states = model_.n_step_states;
    attn_tensor* inputs = tensors_;
    attn_tensor* outputs = tensors_ + 1 + n_states + program_.n_scalars;
    const attn_tensor own = elements_of(param, part.begin);
    inputs[0] = elements_of(gradient, part.begin);
    outputs[0] = own;
    for (int32_t k = 0; k < n_states; ++k)
      inputs[1 + k] = outputs[1 + k] = elements_of(states[k * model_.n_params], part.begin);
    for (int32_t k = 0; k < program_.n_scalars; ++k) {
      inputs[1 + n_states + k] = {};
      inputs[1 + n_states + k].data = scalars_ + k;
    }
    Call call{.tensors = {&own, inputs, outputs}};
    return run_part(model_for(program_.updates, program_.n_updates, param.type), part, call);
  }

  attn_context* context_;
  const attn_model& model_;
  const attn_step_program& program_;
  const double* options_;
  const int64_t step_;
  void* const workspace_;
  double* scalars_ = nullptr;       // in the device's memory
  attn_tensor* tensors_ = nullptr;  // inputs and outputs of an update
};

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

int64_t attn_step_workspace(const attn_model* model, const attn_tensor* params) {
  const attn_step_program* program = model->program->step;
  int64_t most = 0;
  for (int32_t n = 0; program != nullptr && n < program->n_norms; ++n) {
    const attn_model& norm = *program->norms[n].model;
    const FrameHolder frame(Frame::make(nullptr, norm));
    if (!frame.ok()) return INT64_MAX;
    for (int32_t k = 0; k < model->n_params; ++k) {
      for (const Part& part : Parts(attn_element_count(&params[k]), program->columns)) {
        frame->set_sizes(part.sizes);
        most = std::max(most, frame->lay_out(*norm.program->forward));
      }
    }
  }
  return most;
}

attn_status attn_step(attn_context* context, const attn_model* model, const double* options,
                      int64_t step, const attn_tensor* params, const attn_tensor* param_gradients,
                      const attn_tensor* states, void* workspace) {
  if (context == nullptr) return ATTN_REFUSED;
  attn_status status = check_version(context, model);
  if (status == ATTN_OK && model->has_step == 0)
    status = attn_fail(context, ATTN_REFUSED, "%s names no update", model->name);
  if (status == ATTN_OK)
    status = check_step(context, model, options, step, params, param_gradients, states);
  if (status != ATTN_OK) return status;
  const uint32_t begun = attn_begin_call(context);
  status = Update(context, *model, options, step, workspace).run(params, param_gradients, states);
  attn_end_call(context, begun);
  return status;
}
