// The update of a model: what a caller gives is checked, then the parameters are updated one after
// the other, each as rows of elements for kernels that know neither rank nor shape.
#include <attn/model.h>
#include <math.h>
#include <stdio.h>

#include <algorithm>

#include "elements.h"
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

bool is_skipped(const attn_tensor& param, const attn_tensor& gradient) {
  return gradient.data == nullptr || attn_element_count(&param) == 0;
}

// What a caller gives to an update.
struct Given {
  const double* options;
  int32_t stride;  // between the options of two parameters; 0: all have the same
  int64_t step;
  const attn_tensor *params, *gradients, *states;
  attn_block workspace;
};

// Options that are numbers, of one parameter or of all.
attn_status check_options(attn_context* context, const attn_model& model, const double* options,
                          const char* param) {
  for (int32_t k = 0; k < model.n_step_options; ++k) {
    if (!isnan(options[k])) continue;
    return attn_fail(context, ATTN_REFUSED, "%s: the option %s of its update is not set%s%s",
                     model.name, model.step_options[k].name, param != nullptr ? " for " : "",
                     param != nullptr ? param : "");
  }
  return ATTN_OK;
}

// A parameter, its gradient and its states.
attn_status check_parameter(attn_context* context, const attn_model& model, const Given& given,
                            int32_t k) {
  const attn_argument& argument = model.params[k];
  ATTN_TRY(check_argument(context, argument, &given.params[k]));
  attn_tensor wanted = given.params[k];
  wanted.type = attn_gradient_type(argument.type);
  ATTN_TRY(check_tensor(context, "gradient", argument, &given.gradients[k], wanted, true));
  for (int32_t s = 0; s < model.n_step_states; ++s) {
    char kind[256];
    snprintf(kind, sizeof kind, "state %s", model.step_states[s].name);
    const attn_tensor& state = given.states[s * model.n_params + k];
    ATTN_TRY(check_tensor(context, kind, argument, &state, wanted, false));
  }
  return ATTN_OK;
}

// Of parameters, gradients, states, and so many bytes of the workspace.
attn_status check_step_overlap(attn_context* context, const attn_model& model, const Given& given,
                               int64_t workspace_bytes) {
  const int32_t n = model.n_params, groups = 2 + model.n_step_states;
  const Scratch<Interval> list(context, n * groups + 1);
  if (list.data() == nullptr) return out_of_memory(context);
  int count = 0;
  for (int32_t k = 0; k < n; ++k) {
    if (is_skipped(given.params[k], given.gradients[k])) continue;
    for (int32_t group = 0; group < groups; ++group) {
      const attn_tensor& t = group == 0   ? given.params[k]
                             : group == 1 ? given.gradients[k]
                                          : given.states[(group - 2) * n + k];
      list[count++] = {model.params[k].name, t.data, bytes_of(t), group != 1};
    }
  }
  if (workspace_bytes > 0)
    list.data()[count++] = {"the workspace", given.workspace.data, workspace_bytes, true};
  return check_overlap(context, count, list.data());
}

// Options that are numbers, `step` from 1, gradients and states like their parameters (those with a
// gradient), a workspace as large as is needed, no overlap.
attn_status check_step(attn_context* context, const attn_model& model, const Given& given) {
  if (model.has_step == 0)
    return attn_fail(context, ATTN_REFUSED, "%s names no update", model.name);
  if (given.step < 1) {
    return attn_fail(context, ATTN_REFUSED, "%s: step is %lld, and counts from 1", model.name,
                     shown(given.step));
  }
  if (given.options == nullptr || given.params == nullptr || given.gradients == nullptr ||
      (given.states == nullptr && model.n_step_states > 0)) {
    return attn_fail(context, ATTN_REFUSED, "%s: a step takes options, parameters, gradients%s",
                     model.name, model.n_step_states > 0 ? " and states" : "");
  }
  if (given.stride == 0) ATTN_TRY(check_options(context, model, given.options, nullptr));
  for (int32_t k = 0; k < model.n_params; ++k) {
    if (is_skipped(given.params[k], given.gradients[k])) continue;
    if (given.stride > 0) {
      const double* options = given.options + static_cast<int64_t>(k) * given.stride;
      ATTN_TRY(check_options(context, model, options, model.params[k].name));
    }
    ATTN_TRY(check_parameter(context, model, given, k));
  }
  const int64_t bytes = attn_step_workspace(&model, given.params);
  if (bytes == INT64_MAX) return out_of_memory(context);
  if (bytes > 0) ATTN_TRY(check_memory(context, model, "workspace", given.workspace, bytes));
  return check_step_overlap(context, model, given, bytes);
}

class Update {
 public:
  Update(attn_context* context, const attn_model& model, const Given& given)
      : context_(context),
        device_(context->device),
        model_(model),
        program_(*model.program->step),
        given_(given),
        tensors_(context, 2 * (1 + model.n_step_states) + program_.n_scalars) {}
  ~Update() {
    attn_device_free(context_, scalars_);
    LaunchGraphs::end(known_);
  }
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  attn_status run() {
    scalars_ = static_cast<double*>(attn_device_allocate(
        context_, sizeof(double) * static_cast<size_t>(program_.n_scalars + 1)));
    if (scalars_ == nullptr || tensors_.data() == nullptr) return out_of_memory(context_);
    if (program_.n_norms > 0) ATTN_TRY(find_norm());
    int32_t first = 0;
    while (first < model_.n_params && parts_of(first).n == 0) ++first;
    if (first == model_.n_params) return ATTN_OK;
    ATTN_TRY(set_scalars(options_of(first)));
    LaunchGraphs& graphs = context_->graphs;
    const bool is_traced = context_->options.trace != nullptr;
    if (graphs.functions != nullptr && graphs.is_wanted && !is_traced) recognise();
    return graphs.run(context_, known_, 0, [&] { return update_all(first); });
  }

 private:
  // The scalars have the options of the first parameter. Those of others are copied between the
  // updates, which cannot be recorded.
  attn_status update_all(int32_t first) {
    const double* set = options_of(first);
    for (int32_t k = first; k < model_.n_params; ++k) {
      const double* options = options_of(k);
      for (const Part& part : parts_of(k)) {
        if (!same_options(options, set)) ATTN_TRY(set_scalars(options));
        set = options;
        ATTN_TRY(update(k, part));
      }
    }
    return ATTN_OK;
  }

  // All that decides what updates launch, but for the scalars' values.
  void recognise() {
    const size_t count = static_cast<size_t>(model_.n_params);
    CallKey key(context_, CallKey::words_of<attn_step_program>() + 3 +
                              count * (4 + static_cast<size_t>(model_.n_step_states)));
    key.add_table(program_);
    key.add(static_cast<int64_t>(model_.source_hash));
    key.add(given_.workspace.data);
    key.add(scalars_);
    for (int32_t k = 0; k < model_.n_params; ++k) {
      const attn_tensor& param = given_.params[k];
      key.add(attn_element_count(&param));
      key.add(int64_t{param.type});
      key.add(param.data);
      key.add(given_.gradients[k].data);
      for (int32_t s = 0; s < model_.n_step_states; ++s)
        key.add(given_.states[s * model_.n_params + k].data);
    }
    known_ = context_->graphs.begin(context_, key);
  }

  const double* options_of(int32_t param) const {
    return given_.options + static_cast<int64_t>(param) * given_.stride;
  }

  // Of a parameter; none where it is left as it is.
  Parts parts_of(int32_t k) const {
    const bool skips = given_.gradients[k].data == nullptr;
    return Parts(skips ? 0 : attn_element_count(&given_.params[k]), program_.columns);
  }

  bool same_options(const double* a, const double* b) const {
    return a == b || memcmp(a, b, sizeof *a * static_cast<size_t>(model_.n_step_options)) == 0;
  }

  attn_status set_scalars(const double* options) {
    for (int32_t k = 0; k < program_.n_scalars; ++k) {
      const int32_t which = program_.scalars[k];
      const double value = which == ATTN_STEP_COUNT  ? static_cast<double>(given_.step)
                           : which == ATTN_STEP_NORM ? norm_
                                                     : options[which];
      ATTN_TRY(
          device_status(context_, device_->copy_in(context_, scalars_ + k, &value, sizeof value)));
    }
    return ATTN_OK;
  }

  attn_status run_part(const attn_model& model, const Part& part, Call call) {
    const Frame::Pointer frame = Frame::take(context_, model, model.program->forward);
    if (frame == nullptr) return out_of_memory(context_);
    frame->set_sizes(part.sizes);
    frame->lay_out(Memory::unsaved);
    call.workspace = given_.workspace;
    return execute(*frame, call, false);
  }

  attn_status find_norm() {
    attn_tensor output = {};
    output.data = scalars_;
    for (int32_t k = 0; k < model_.n_params; ++k) {
      const attn_tensor& gradient = given_.gradients[k];
      const attn_model& model = model_for(program_.norms, program_.n_norms, gradient.type);
      for (const Part& part : parts_of(k)) {
        const attn_tensor input = elements_of(gradient, part.begin);
        const Call call{.tensors = {nullptr, &input, &output}};
        ATTN_TRY(run_part(model, part, call));
        double square;
        ATTN_TRY(
            device_status(context_, device_->copy_out(context_, &square, scalars_, sizeof square)));
        norm_ += square;
      }
    }
    norm_ = sqrt(norm_);
    return ATTN_OK;
  }

  // An update writes over what it reads.
  attn_status update(int32_t param, const Part& part) {
    const int32_t n_states = model_.n_step_states;
    attn_tensor* inputs = tensors_.data();
    attn_tensor* outputs = inputs + 1 + n_states + program_.n_scalars;
    outputs[0] = elements_of(given_.params[param], part.begin);
    inputs[0] = elements_of(given_.gradients[param], part.begin);
    for (int32_t k = 0; k < n_states; ++k) {
      const attn_tensor& state = given_.states[k * model_.n_params + param];
      inputs[1 + k] = outputs[1 + k] = elements_of(state, part.begin);
    }
    for (int32_t k = 0; k < program_.n_scalars; ++k) {
      inputs[1 + n_states + k] = {};
      inputs[1 + n_states + k].data = scalars_ + k;
    }
    const attn_tensor own = outputs[0];
    return run_part(model_for(program_.updates, program_.n_updates, own.type), part,
                    {.tensors = {&own, inputs, outputs}});
  }

  attn_context* context_;
  const attn_device* device_;
  const attn_model& model_;
  const attn_step_program& program_;
  const Given& given_;
  const Scratch<attn_tensor> tensors_;  // inputs and outputs of an update
  KnownCall* known_ = nullptr;
  double norm_ = 0;
  double* scalars_ = nullptr;  // in the device's memory
};

attn_status step_by(attn_context* context, const attn_model* model, const Given& given) {
  if (context == nullptr) return ATTN_REFUSED;
  ATTN_TRY(check_version(context, model));
  ATTN_TRY(check_step(context, *model, given));
  const LaunchScope scope(context);
  return Update(context, *model, given).run();
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

int attn_name_matches(const char* pattern, const char* name) {
  if (pattern == nullptr || name == nullptr) return 0;
  const char *star = nullptr, *resume = nullptr;  // the last `*`, and where its text ends
  while (*name != '\0') {
    if (*pattern == '*') {
      star = pattern++;
      resume = name;
    } else if (*pattern == '?' || *pattern == *name) {
      ++pattern, ++name;
    } else if (star != nullptr) {
      pattern = star + 1;
      name = ++resume;
    } else {
      return 0;
    }
  }
  while (*pattern == '*') ++pattern;
  return *pattern == '\0';
}

int64_t attn_step_workspace(const attn_model* model, const attn_tensor* params) {
  if (model == nullptr || params == nullptr) return 0;
  const attn_step_program* program = model->program->step;
  int64_t most = 0;
  for (int32_t n = 0; program != nullptr && n < program->n_norms; ++n) {
    const attn_model& norm = *program->norms[n].model;
    const Frame::Pointer frame = Frame::take(nullptr, norm, norm.program->forward);
    if (frame == nullptr) return INT64_MAX;
    for (int32_t k = 0; k < model->n_params; ++k) {
      for (const Part& part : Parts(attn_element_count(&params[k]), program->columns)) {
        frame->set_sizes(part.sizes);
        most = std::max(most, frame->lay_out(Memory::unsaved));
      }
    }
  }
  return most;
}

attn_status attn_step(attn_context* context, const attn_model* model, const double* options,
                      int64_t step, const attn_tensor* params, const attn_tensor* param_gradients,
                      const attn_tensor* states, attn_block workspace) {
  return step_by(context, model, {options, 0, step, params, param_gradients, states, workspace});
}

attn_status attn_step_each(attn_context* context, const attn_model* model, const double* options,
                           int64_t step, const attn_tensor* params,
                           const attn_tensor* param_gradients, const attn_tensor* states,
                           attn_block workspace) {
  const int32_t stride = model != nullptr ? model->n_step_options : 0;
  return step_by(context, model,
                 {options, stride, step, params, param_gradients, states, workspace});
}
