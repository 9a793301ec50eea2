// A model with everything that training it needs: parameters, gradients, what forward saves, the
// workspace and the optimiser's state. Over the table that generated code exports (attn_model). All
// of it is in memory of the context's device: inputs and cotangents of the host are copied there,
// and outputs stay there until Tensor::to_host().
//
//   attn::Context context;
//   attn::Model model(context, digits_model());
//   model.init(42);
//   model.forward({images, labels});   // model.output("loss").data<float>()[0]
//   model.backward();
//   model.step({{"lr", 1e-3}});      // where the source says `using`
#pragma once

#include <attn/train.h>

#include <attn/states.hpp>

namespace attn {

class Model : detail::Calls {
 public:
  // Both outlive the model.
  Model(Context& context, const attn_model* description) : Calls(context, description) {}

  // A run-time size that the parameters have, by name: {"D", 64}.
  using Size = detail::Size;

  // Makes and initialises the parameters; the optimiser begins anew.
  Status init(uint64_t seed, std::initializer_list<Size> sizes = {}) {
    std::vector<attn_tensor> shapes(static_cast<size_t>(description_->n_params));
    if (Status s = shapes_of(sizes, true, shapes); !s) return s;
    if (Status s = make_parameters(shapes); !s) return s;
    return call(attn_initialise_model, params_.views.data(), seed);
  }

  // Makes the states for these run-time sizes, which the extents of states have. All are zeros.
  Status begin(States& states, std::initializer_list<Size> sizes = {}) {
    if (description_->n_states == 0) return refuse("it keeps no state");
    std::vector<attn_tensor> shapes(static_cast<size_t>(description_->n_inputs));
    if (Status s = shapes_of(sizes, false, shapes); !s) return s;
    shapes.erase(shapes.begin(), shapes.end() - description_->n_states);
    detail::List made;
    for (const attn_tensor& shape : shapes) {
      made.tensors.push_back(Tensor::like(shape, context_));
      if (!made.tensors.back().ok()) return out_of_memory();
      made.views.push_back(made.tensors.back().view());
    }
    states.list_ = std::move(made);
    return {};
  }

  // The outputs are the model's own, made as the inputs demand: see output().
  Status forward(const std::vector<View>& inputs) { return forward_to_own(inputs, nullptr); }
  // Of a model with states, which are changed in place.
  Status forward(const std::vector<View>& inputs, States& states) {
    return forward_to_own(inputs, &states);
  }
  // The outputs are written to the caller's arrays.
  Status forward(const std::vector<View>& inputs, const std::vector<View>& outputs) {
    if (Status s = take_inputs(inputs, nullptr); !s) return s;
    if (Status s = take(outputs, description_->n_outputs, "outputs", outputs_); !s) return s;
    return run_forward();
  }

  // The gradient of the loss, the first scalar output. The inputs (and outputs) of the forward
  // call must still be there, unchanged.
  Status backward() {
    std::vector<View> cotangents;
    if (Status s = loss_cotangent(cotangents); !s) return s;
    return backward(cotangents);
  }
  // A cotangent with null data is zero. Gradients of inputs are wanted where a view has data.
  Status backward(const std::vector<View>& cotangents,
                  const std::vector<View>& input_gradients = {}) {
    return find_gradients(gradients_, cotangents, input_gradients);
  }
  // The same, but the gradients of parameters are added to those that are there: after a backward
  // of the first of several small batches, they become those of a large one where the loss is a sum
  // over its examples. Where it is a mean, scale_gradients follows the last.
  Status accumulate() {
    std::vector<View> cotangents;
    if (Status s = loss_cotangent(cotangents); !s) return s;
    return accumulate(cotangents);
  }
  Status accumulate(const std::vector<View>& cotangents,
                    const std::vector<View>& input_gradients = {}) {
    if (gradients_.views.empty()) return refuse("gradients are added to those of a backward call");
    if (Status s = find_gradients(terms_, cotangents, input_gradients); !s) return s;
    return status(attn_add(context_->get(), static_cast<int32_t>(terms_.views.size()),
                           gradients_.views.data(), terms_.views.data(), 1));
  }

  // Forward and backward in one call, by the cotangents; without them, for the gradient of the
  // loss. What backward needs of forward lies where gradients are not yet written, so that it takes
  // less memory than the two. A step may follow; a backward or a probe may not.
  Status forward_backward(const std::vector<View>& inputs, std::vector<View> cotangents = {},
                          const std::vector<View>& input_gradients = {}) {
    if (Status s = prepare_own(inputs, nullptr); !s) return s;
    Status s = check_forward();
    if (s && cotangents.empty()) s = loss_cotangent(cotangents);
    if (s) s = run_both(cotangents, input_gradients);
    outputs_.clear();
    return s;
  }

  // A probe for the last forward call, whose inputs, outputs and parameters must still be there,
  // unchanged. Makes `result` as the probe demands.
  Status probe(std::string_view name, Tensor& result) {
    const size_t k = detail::find(description_->probes, description_->n_probes, name);
    if (k == static_cast<size_t>(description_->n_probes))
      return refuse("has no probe " + std::string(name));
    if (outputs_.empty()) return refuse("a probe needs a forward call before it");
    std::vector<int64_t> sizes;
    if (Status s = read_sizes(params_.views, inputs_, sizes); !s) return s;
    const int32_t which = static_cast<int32_t>(k);
    attn_tensor shape = {};
    const attn_status code = attn_probe_shape(description_, which, sizes.data(), &shape);
    if (code != ATTN_OK) return out_of_memory();
    if (Status s = detail::make(*context_, result, shape); !s) return s;
    if (Status s = make_buffer(workspace_, sizes_.probe_workspace); !s) return s;
    return call(attn_probe, which, detail::views(params_.views), inputs_.data(), outputs_.data(),
                block_of(saved_), &result.view(), block_of(workspace_));
  }

  // A step of the update that the model names with `using`, by the gradients of the last backward
  // call: step({{"lr", 1e-3}}). Options that are not given have their defaults.
  using Option = detail::Option;
  // Parameters that are treated in a way of their own, of the names that attn_name_matches the
  // pattern and of at most this rank. A frozen one stays as it is, and its gradient is not part of
  // the norm that the update takes; gradient_norm() and clip_gradients() count it.
  struct Group {
    std::string_view pattern = "*";
    std::vector<Option> options = {};
    bool frozen = false;
    int32_t max_rank = ATTN_MAX_RANK;
  };
  // step({{"lr", 1e-3}}, {{.options = {{"decay", 0}}, .max_rank = 1},
  //                       {.pattern = "embed.*", .frozen = true}})
  // Of groups that give an option to one parameter the last wins. Each has a parameter.
  Status step(const std::vector<Option>& given, const std::vector<Group>& groups = {}) {
    if (!description_->has_step) return refuse("it names no update with `using`");
    if (gradients_.views.empty()) return refuse("a step needs a backward call before it");
    std::vector<double> options;
    std::vector<attn_tensor> gradients = gradients_.views;
    if (Status s = take_options(given, groups, options, gradients); !s) return s;
    if (Status s = make_states(); !s) return s;
    const int64_t bytes = attn_step_workspace(description_, params_.views.data());
    if (Status s = make_buffer(workspace_, bytes); !s) return s;
    Status s =
        call(groups.empty() ? attn_step : attn_step_each, options.data(), step_ + 1,
             params_.views.data(), gradients.data(), states_.views.data(), block_of(workspace_));
    if (s) ++step_;
    return s;
  }
  // How many steps were taken.
  int64_t steps() const { return step_; }
  // What the update remembers, beside the weights of save(): with both, training goes on as if it
  // had not stopped.
  Status save_states(const std::string& path) {
    if (Status s = make_states(); !s) return s;
    return call(attn_states_save, states_.views.data(), step_, path.c_str());
  }
  // After load() or init(). On failure the states are as they were.
  Status load_states(const std::string& path) {
    if (Status s = make_states(); !s) return s;
    return call(attn_states_load, states_.views.data(), &step_, path.c_str());
  }

  double gradient_norm() {
    return attn_gradient_norm(context_->get(), static_cast<int32_t>(gradients_.views.size()),
                              gradients_.views.data());
  }
  // Multiplies the gradients: by one over the number of batches that were accumulated, where the
  // loss is a mean.
  Status scale_gradients(double factor) {
    return status(attn_scale(context_->get(), static_cast<int32_t>(gradients_.views.size()),
                             gradients_.views.data(), factor));
  }
  // Scales the gradients so that their norm is at most `limit`.
  Status clip_gradients(double limit) {
    if (Status s = check_clip(limit); !s) return s;
    const double norm = gradient_norm();
    return norm > limit ? scale_gradients(limit / norm) : Status();
  }

  Status save(const std::string& path) const {
    if (Status s = check_parameters(params()); !s) return s;
    return call(attn_model_save, params_.views.data(), path.c_str());
  }
  // A file, an index of several, or the folder that has them; see attn_model_load. On failure the
  // parameters are as they were. With options it may differ from the model by what they allow:
  // load(path, {.ignore_extra = true, .convert_types = true}). A model without parameters yet makes
  // them: it takes their run-time sizes from the file, where they have any; what may be missing is
  // there after init().
  Status load(const std::string& path, const attn_load_options& options = {}) {
    if (check_parameters(params())) return load_values(path, options);
    if (options.keep_missing) return refuse("keeps what is missing as init makes it: call init");
    std::vector<attn_tensor> shapes(static_cast<size_t>(description_->n_params));
    Status shaped = shapes_of({}, true, shapes);
    if (!shaped) shaped = call(attn_model_load_shapes, shapes.data(), path.c_str(), &options);
    if (!shaped) return shaped;
    if (Status s = make_parameters(shapes); !s) return s;
    Status loaded = load_values(path, options);
    if (!loaded) params_.tensors.clear();
    return loaded;
  }

  const attn_model* description() const { return given(); }
  // By position, or by name as the source has it; an empty tensor when there is none.
  const Tensor& output(size_t k) const { return at(own_outputs_.tensors, k); }
  const Tensor& output(std::string_view name) const {
    return of_output(own_outputs_.tensors, name);
  }
  Tensor& param(std::string_view name) { return of_param(params_.tensors, name); }
  Tensor& gradient(std::string_view name) { return of_param(gradients_.tensors, name); }
  const std::vector<Tensor>& params() const { return params_.tensors; }
  const std::vector<Tensor>& gradients() const { return gradients_.tensors; }

 private:
  Status check_forward() const {
    if (!description_->has_backward) return refuse("the model was compiled without gradients");
    return outputs_.empty() ? refuse("backward needs a forward call before it") : Status();
  }
  Status loss_cotangent(std::vector<View>& cotangents) {
    if (Status s = check_forward(); !s) return s;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (outputs_[k].rank != 0) continue;
      cotangents.assign(outputs_.begin(), outputs_.end());
      for (View& cotangent : cotangents) cotangent.data = nullptr;
      attn_tensor shape = outputs_[k];
      shape.type = attn_gradient_type(shape.type);
      if (Status s = detail::make(*context_, one_, shape); !s) return s;
      Tensor one(shape.type, {});
      if (!one.ok()) return out_of_memory();
      if (one.type() == ATTN_F32) *one.data<float>() = 1;
      if (one.type() == ATTN_F64) *one.data<double>() = 1;
      cotangents[k] = one_;
      return status(attn_copy(context_->get(), &one_.view(), &one.view()));
    }
    return refuse("the model has no scalar output: give backward the cotangents");
  }
  // Tensors for the gradients; and the cotangents, and the gradients of inputs that are wanted, as
  // a call takes them.
  Status prepare_gradients(detail::List& gradients, const std::vector<View>& cotangents,
                           const std::vector<View>& input_gradients,
                           std::vector<attn_tensor>& given, std::vector<attn_tensor>& wanted) {
    wanted = inputs_;
    if (Status s = take(cotangents, description_->n_outputs, "cotangents", given); !s) return s;
    if (Status s = staged_cotangents_.take(*context_, given); !s) return s;
    for (attn_tensor& tensor : wanted) tensor.data = nullptr;
    if (!input_gradients.empty()) {
      if (Status s = take(input_gradients, description_->n_inputs, "input gradients", wanted); !s)
        return s;
    }
    return make_all(gradients, params_.views, description_->params);
  }
  Status find_gradients(detail::List& gradients, const std::vector<View>& cotangents,
                        const std::vector<View>& input_gradients) {
    if (Status s = check_forward(); !s) return s;
    std::vector<attn_tensor> given, wanted;
    if (Status s = prepare_gradients(gradients, cotangents, input_gradients, given, wanted); !s)
      return s;
    if (Status s = make_buffer(workspace_, sizes_.backward_workspace); !s) return s;
    return call(attn_backward, detail::views(params_.views), inputs_.data(), outputs_.data(),
                block_of(saved_), given.data(), detail::views(gradients.views), wanted.data(),
                block_of(workspace_));
  }
  Status run_both(const std::vector<View>& cotangents, const std::vector<View>& input_gradients) {
    std::vector<attn_tensor> given, wanted;
    if (Status s = prepare_gradients(gradients_, cotangents, input_gradients, given, wanted); !s)
      return s;
    const attn_tensor *params = detail::views(params_.views), *inputs = inputs_.data(),
                      *gradients = detail::views(gradients_.views);
    int64_t bytes = 0;
    Status s = call(attn_forward_backward_workspace, params, inputs, given.data(), gradients,
                    wanted.data(), &bytes);
    if (s) s = make_buffer(workspace_, bytes);
    if (!s) return s;
    return call(attn_forward_backward, params, inputs, outputs_.data(), given.data(), gradients,
                wanted.data(), block_of(workspace_));
  }
  Status forward_to_own(const std::vector<View>& inputs, const States* states) {
    if (Status s = prepare_own(inputs, states); !s) return s;
    return run_forward();
  }
  // The inputs, and outputs of the model's own.
  Status prepare_own(const std::vector<View>& inputs, const States* states) {
    if (Status s = take_inputs(inputs, states); !s) return s;
    std::vector<attn_tensor> shapes;
    if (Status s = output_shapes(params_.views, inputs_, shapes); !s) return s;
    if (Status s = make_all(own_outputs_, shapes); !s) return s;
    outputs_ = own_outputs_.views;
    return {};
  }

  Status take_inputs(const std::vector<View>& inputs, const States* states) {
    outputs_.clear();  // a failed forward leaves nothing for backward
    if (Status s = check_parameters(params()); !s) return s;
    const int32_t n_states = description_->n_states;
    if (Status s = take(inputs, description_->n_inputs - n_states, "inputs", inputs_); !s) return s;
    if (Status s = staged_inputs_.take(*context_, inputs_); !s) return s;
    const size_t given = states == nullptr ? 0 : states->list_.views.size();
    if (given != static_cast<size_t>(n_states))
      return refuse(n_states == 0 ? "it keeps no state"
                                  : "it keeps states: begin(states, …), then forward(…, states)");
    if (given > 0)
      inputs_.insert(inputs_.end(), states->list_.views.begin(), states->list_.views.end());
    return {};
  }

  Status make_parameters(const std::vector<attn_tensor>& shapes) {
    detail::List made;
    if (Status s = make_all(made, shapes); !s) return s;
    params_ = std::move(made);
    gradients_ = {};
    states_ = {};
    outputs_.clear();
    step_ = 0;
    return {};
  }
  // A row of options for each parameter; the gradients of frozen ones become null.
  Status take_options(const std::vector<Option>& given, const std::vector<Group>& groups,
                      std::vector<double>& options, std::vector<attn_tensor>& gradients) const {
    const size_t columns = static_cast<size_t>(description_->n_step_options);
    const size_t rows = gradients.size();
    options.resize(rows * columns + 1);
    for (size_t k = 0; k < rows; ++k) {
      for (size_t j = 0; j < columns; ++j)
        options[k * columns + j] = description_->step_options[j].value;
      if (Status s = set_options(given, &options[k * columns]); !s) return s;
    }
    for (const Group& group : groups) {
      const std::string pattern(group.pattern);
      bool any = false;
      for (size_t k = 0; k < rows; ++k) {
        if (params_.views[k].rank > group.max_rank ||
            !attn_name_matches(pattern.c_str(), description_->params[k].name)) {
          continue;
        }
        any = true;
        if (group.frozen) gradients[k].data = nullptr;
        if (Status s = set_options(group.options, &options[k * columns]); !s) return s;
      }
      if (!any) return refuse("no parameter is of the group " + pattern);
    }
    return {};
  }
  // All states of all parameters, as they are before the first step.
  Status make_states() {
    if (Status s = check_parameters(params()); !s) return s;
    const size_t count = params().size();
    const size_t wanted = count * static_cast<size_t>(description_->n_step_states);
    if (states_.views.size() == wanted + 1) return {};
    std::vector<attn_tensor> shapes(wanted);
    for (size_t k = 0; k < wanted; ++k) {
      shapes[k] = params_.views[k % count];
      shapes[k].type = attn_state_type(shapes[k].type);
    }
    detail::List made;
    if (Status s = make_all(made, shapes); !s) return s;
    made.views.emplace_back();  // so that there is an array even where there is no state
    if (Status s = call(attn_initialise_states, made.views.data()); !s) return s;
    states_ = std::move(made);
    return {};
  }
  Status load_values(const std::string& path, const attn_load_options& options) {
    return call(attn_model_load_options, params_.views.data(), path.c_str(), &options);
  }

  Status run_forward() {
    std::vector<attn_tensor> outputs;
    outputs.swap(outputs_);
    const attn_tensor* params = detail::views(params_.views);
    if (Status s = call(attn_call_sizes, params, inputs_.data(), &sizes_); !s) return s;
    const int64_t bytes = sizes_.saved > 0 ? sizes_.training_workspace : sizes_.forward_workspace;
    if (Status s = make_buffer(workspace_, bytes); !s) return s;
    if (Status s = make_buffer(saved_, sizes_.saved); !s) return s;
    Status s = call(attn_forward, params, inputs_.data(), outputs.data(), block_of(saved_),
                    block_of(workspace_));
    if (s) outputs_.swap(outputs);
    return s;
  }

  detail::List params_, gradients_, states_, own_outputs_;
  detail::List terms_;                         // gradients that are then added
  std::vector<attn_tensor> inputs_, outputs_;  // of the last forward call
  Tensor saved_, workspace_, one_;
  detail::Staged staged_inputs_, staged_cotangents_;
  attn_sizes sizes_ = {};
  int64_t step_ = 0;
};

}  // namespace attn
