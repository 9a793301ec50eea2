// The states of a model's update: their first values, and files of them.
#include <attn/train.h>
#include <attn/types.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "elements.h"
#include "files.h"
#include "host_copy.h"

namespace attn::rt {
namespace {

// The states as parameters of a model, so that they are saved and loaded as these are; after them
// the number of steps.
class StatesAsModel {
 public:
  StatesAsModel(attn_context* context, const attn_model* model, const attn_tensor* states)
      : context_(context),
        count_(model->n_step_states * model->n_params),
        arguments_(context, count_ + 1),
        tensors_(context, count_ + 1) {
    if (arguments_.data() == nullptr || tensors_.data() == nullptr) return;
    for (int32_t k = 0; k <= count_; ++k) {
      arguments_[k] = attn_argument{};
      tensors_[k] = attn_tensor{};
    }
    for (int32_t k = 0; k < count_; ++k) {
      const attn_argument& param = model->params[k % model->n_params];
      const char* name = name_of(param.weight_name, model->step_states[k / model->n_params].name);
      if (name == nullptr) return;
      arguments_[k].name = arguments_[k].weight_name = name;
      arguments_[k].type = attn_state_type(param.type);
      arguments_[k].rank = param.rank;
      tensors_[k] = states[k];
    }
    arguments_[count_].name = arguments_[count_].weight_name = "step";
    arguments_[count_].type = tensors_[count_].type = ATTN_F64;
    tensors_[count_].data = &step;
    model_.name = model->name;
    model_.n_params = count_ + 1;
    model_.params = arguments_.data();
    ok_ = true;
  }
  ~StatesAsModel() {
    for (int32_t k = 0; arguments_.data() != nullptr && k < count_; ++k)
      attn_free(context_, const_cast<char*>(arguments_[k].name));
  }

  bool ok() const { return ok_; }
  const attn_model* model() const { return &model_; }
  const attn_tensor* tensors() const { return tensors_.data(); }
  double step = 0;

 private:
  const char* name_of(const char* weight, const char* state) {
    const size_t bytes = strlen(weight) + strlen(state) + sizeof "state..";
    char* name = static_cast<char*>(attn_allocate(context_, bytes));
    if (name != nullptr) snprintf(name, bytes, "state.%s.%s", weight, state);
    return name;
  }

  attn_context* context_;
  int32_t count_;
  Scratch<attn_argument> arguments_;
  Scratch<attn_tensor> tensors_;
  attn_model model_ = {};
  bool ok_ = false;
};

attn_status check_states(attn_context* context, const attn_model* model,
                         const attn_tensor* states) {
  if (context == nullptr) return ATTN_REFUSED;
  if (model == nullptr) return attn_fail(context, ATTN_REFUSED, "the model is null");
  if (states != nullptr || model->n_step_states * model->n_params == 0) return ATTN_OK;
  return attn_fail(context, ATTN_REFUSED, "%s: no states", model->name);
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_type attn_state_type(attn_type parameter) {
  return parameter == ATTN_F64 ? ATTN_F64 : ATTN_F32;
}

attn_status attn_initialise_states(attn_context* context, const attn_model* model,
                                   const attn_tensor* states) {
  ATTN_TRY(check_states(context, model, states));
  for (int32_t k = 0; k < model->n_step_states * model->n_params; ++k) {
    const attn_tensor& state = states[k];
    const attn_step_state& row = model->step_states[k / model->n_params];
    const attn_argument& param = model->params[k % model->n_params];
    const int64_t count = attn_element_count(&state);
    if (count < 0 || (count > 0 && state.data == nullptr) ||
        state.type != attn_state_type(param.type)) {
      return attn_fail(context, ATTN_REFUSED,
                       "state %s of %s: its type, shape or data is not valid", row.name,
                       param.name);
    }
    HostCopy copy(context, state, false);
    ATTN_TRY(copy.status());
    for (int64_t j = 0; j < count; ++j) put_real(state.type, copy.tensor().data, j, row.value);
    ATTN_TRY(copy.write_to(state));
  }
  return ATTN_OK;
}

attn_status attn_states_save(attn_context* context, const attn_model* model,
                             const attn_tensor* states, int64_t step, const char* path) {
  ATTN_TRY(check_states(context, model, states));
  ATTN_TRY(check_path(context, path));
  StatesAsModel list(context, model, states);
  if (!list.ok()) return out_of_memory(context);
  list.step = static_cast<double>(step);
  return attn_model_save(context, list.model(), list.tensors(), path);
}

attn_status attn_states_load(attn_context* context, const attn_model* model,
                             const attn_tensor* states, int64_t* step, const char* path) {
  ATTN_TRY(check_states(context, model, states));
  ATTN_TRY(check_given(context, step, "step"));
  StatesAsModel list(context, model, states);
  if (!list.ok()) return out_of_memory(context);
  ATTN_TRY(attn_model_load(context, list.model(), list.tensors(), path));
  *step = static_cast<int64_t>(list.step);
  return ATTN_OK;
}
