// Products with the derivatives of a model that was compiled with them (--derive=jvp,hvp): how its
// outputs change along tangents, and how the gradient of its loss does.
//
//   attn::Products products(context, model);
//   products.jvp({x}, {{"x", tx}, {"attn.wq", tq}});   // products.output_tangent("y")
//   products.hvp({x}, {{"attn.wq", tq}});              // products.product("attn.wq")
#pragma once

#include <attn/attn.hpp>

namespace attn {

class Products : detail::Calls {
 public:
  // Both outlive it. The parameters are those of the model when a product is asked for.
  Products(Context& context, const Model& model)
      : Calls(context, model.description()), model_(&model) {}

  // Of a parameter or real input, by name: shaped like it, in attn_gradient_type of its type. What
  // is not given is zero.
  using Tangent = std::pair<std::string_view, View>;

  // The outputs for these inputs, and how they change along the tangents.
  Status jvp(const std::vector<View>& inputs, const std::vector<Tangent>& tangents) {
    if (!description_->has_jvp) return refuse("was compiled without --derive=jvp");
    if (Status s = take(inputs, tangents); !s) return s;
    std::vector<attn_tensor> shapes;
    if (Status s = output_shapes(params_, inputs_, shapes); !s) return s;
    if (Status s = make_all(outputs_, shapes); !s) return s;
    if (Status s = make_all(output_tangents_, shapes, description_->outputs); !s) return s;
    if (Status s = make_buffer(workspace_, bytes_.jvp_workspace); !s) return s;
    return call(attn_jvp, detail::views(params_), inputs_.data(), detail::views(param_tangents_),
                input_tangents_.data(), outputs_.views.data(), output_tangents_.views.data(),
                block_of(workspace_));
  }

  // How the gradient of the loss, the first scalar output, changes along the tangents.
  Status hvp(const std::vector<View>& inputs, const std::vector<Tangent>& tangents) {
    if (!description_->has_hvp) return refuse("was compiled without --derive=hvp");
    if (Status s = take(inputs, tangents); !s) return s;
    if (Status s = make_all(param_products_, params_, description_->params); !s) return s;
    if (Status s = make_all(input_products_, inputs_, description_->inputs); !s) return s;
    if (Status s = make_buffer(workspace_, bytes_.hvp_workspace); !s) return s;
    return call(attn_hvp, detail::views(params_), inputs_.data(), detail::views(param_tangents_),
                input_tangents_.data(), detail::views(param_products_.views),
                input_products_.views.data(), block_of(workspace_));
  }

  // Of the last call; an empty tensor where there is none of that name.
  const Tensor& output(std::string_view name) const { return of_output(outputs_.tensors, name); }
  const Tensor& output_tangent(std::string_view name) const {
    return of_output(output_tangents_.tensors, name);
  }
  // Of a parameter or an input.
  const Tensor& product(std::string_view name) const {
    const size_t k = detail::find(description_->params, description_->n_params, name);
    if (k < param_products_.tensors.size()) return param_products_.tensors[k];
    return at(input_products_.tensors,
              detail::find(description_->inputs, description_->n_inputs, name));
  }

 private:
  Status take(const std::vector<View>& inputs, const std::vector<Tangent>& tangents) {
    if (Status s = check_parameters(model_->params()); !s) return s;
    if (Status s = Calls::take(inputs, description_->n_inputs, "inputs", inputs_); !s) return s;
    params_.clear();
    for (const Tensor& tensor : model_->params()) params_.push_back(tensor.view());
    param_tangents_.assign(params_.size(), attn_tensor{});
    input_tangents_.assign(inputs_.size(), attn_tensor{});
    for (const Tangent& tangent : tangents)
      if (Status s = take_tangent(tangent); !s) return s;
    if (Status s = staged_[0].take(*context_, inputs_); !s) return s;
    if (Status s = staged_[1].take(*context_, param_tangents_); !s) return s;
    if (Status s = staged_[2].take(*context_, input_tangents_); !s) return s;
    return call(attn_call_sizes, detail::views(params_), inputs_.data(), &bytes_);
  }
  Status take_tangent(const Tangent& tangent) {
    const size_t param = detail::find(description_->params, description_->n_params, tangent.first);
    const size_t input = detail::find(description_->inputs, description_->n_inputs, tangent.first);
    const std::string name(tangent.first);
    if (param == params_.size() && input == inputs_.size())
      return refuse("has no parameter or input " + name);
    attn_tensor& to = param < params_.size() ? param_tangents_[param] : input_tangents_[input];
    if (to.data != nullptr) return refuse("two tangents of " + name);
    to = tangent.second;
    return {};
  }

  const Model* model_;
  std::vector<attn_tensor> params_, inputs_, param_tangents_, input_tangents_;
  detail::List outputs_, output_tangents_, param_products_, input_products_;
  Tensor workspace_;
  detail::Staged staged_[3];
  attn_sizes bytes_ = {};
};

}  // namespace attn
