// Products with the derivatives of a model that was compiled with them (--derive=jvp,hvp): how its
// outputs change along tangents, and how the gradient of its loss does.
//
//   attn::Products products(context, model);
//   products.jvp({x}, {{"x", tx}, {"attn.wq", tq}});   // products.output_tangent("y")
//   products.hvp({x}, {{"attn.wq", tq}});              // products.product("attn.wq")
#pragma once

#include <attn/attn.hpp>

namespace attn {

class Products {
 public:
  // Both outlive it. The parameters are those of the model when a product is asked for.
  Products(Context& context, const Model& model) : context_(&context), model_(&model) {}

  // Of a parameter or real input, by name: shaped like it, in attn_gradient_type of its type. What
  // is not given is zero.
  using Tangent = std::pair<std::string_view, View>;

  // The outputs for these inputs, and how they change along the tangents.
  Status jvp(const std::vector<View>& inputs, const std::vector<Tangent>& tangents) {
    if (!about().has_jvp) return refuse("was compiled without --derive=jvp");
    if (Status s = take(inputs, tangents); !s) return s;
    std::vector<int64_t> sizes(static_cast<size_t>(about().n_sizes) + 1);
    attn_status code = attn_read_sizes(context_->get(), &about(), detail::views(params_),
                                       inputs_.data(), sizes.data());
    if (code != ATTN_OK) return context_->status(code);
    std::vector<attn_tensor> shapes(static_cast<size_t>(about().n_outputs)), outputs, along;
    if (attn_shapes(&about(), sizes.data(), nullptr, nullptr, shapes.data()) != ATTN_OK) {
      return {ATTN_NO_MEMORY, "out of memory"};
    }
    if (Status s = make_all(outputs_, shapes, outputs); !s) return s;
    if (Status s = make_derivatives(output_tangents_, about().outputs, shapes, along); !s) return s;
    if (Status s = detail::make_buffer(*context_, workspace_, bytes_.jvp_workspace); !s) return s;
    code = attn_jvp(context_->get(), &about(), detail::views(params_), inputs_.data(),
                    detail::views(param_tangents_), input_tangents_.data(), outputs.data(),
                    along.data(), workspace_.view().data);
    return context_->status(code);
  }

  // How the gradient of the loss, the first scalar output, changes along the tangents.
  Status hvp(const std::vector<View>& inputs, const std::vector<Tangent>& tangents) {
    if (!about().has_hvp) return refuse("was compiled without --derive=hvp");
    if (Status s = take(inputs, tangents); !s) return s;
    std::vector<attn_tensor> of_params, of_inputs;
    if (Status s = make_derivatives(param_products_, about().params, params_, of_params); !s) {
      return s;
    }
    if (Status s = make_derivatives(input_products_, about().inputs, inputs_, of_inputs); !s) {
      return s;
    }
    if (Status s = detail::make_buffer(*context_, workspace_, bytes_.hvp_workspace); !s) return s;
    const attn_status code =
        attn_hvp(context_->get(), &about(), detail::views(params_), inputs_.data(),
                 detail::views(param_tangents_), input_tangents_.data(), detail::views(of_params),
                 of_inputs.data(), workspace_.view().data);
    return context_->status(code);
  }

  // Of the last call; an empty tensor where there is none of that name.
  const Tensor& output(std::string_view name) const {
    return at(outputs_, detail::find(about().outputs, about().n_outputs, name));
  }
  const Tensor& output_tangent(std::string_view name) const {
    return at(output_tangents_, detail::find(about().outputs, about().n_outputs, name));
  }
  // Of a parameter or an input.
  const Tensor& product(std::string_view name) const {
    const size_t k = detail::find(about().params, about().n_params, name);
    if (k < param_products_.size()) return param_products_[k];
    return at(input_products_, detail::find(about().inputs, about().n_inputs, name));
  }

 private:
  const attn_model& about() const { return *model_->description(); }
  Status refuse(std::string text) const {
    return {ATTN_REFUSED, std::string(about().name) + ": " + std::move(text)};
  }
  const Tensor& at(const std::vector<Tensor>& list, size_t k) const {
    return k < list.size() ? list[k] : none_;
  }

  Status take(const std::vector<View>& inputs, const std::vector<Tangent>& tangents) {
    if (model_->params().size() != static_cast<size_t>(about().n_params)) {
      return refuse("the parameters are not there yet: call init or load");
    }
    if (inputs.size() != static_cast<size_t>(about().n_inputs)) {
      return refuse("takes " + std::to_string(about().n_inputs) + " inputs, not " +
                    std::to_string(inputs.size()));
    }
    params_.clear();
    for (const Tensor& tensor : model_->params()) params_.push_back(tensor.view());
    inputs_.assign(inputs.begin(), inputs.end());
    param_tangents_.assign(params_.size(), attn_tensor{});
    input_tangents_.assign(inputs_.size(), attn_tensor{});
    for (const Tangent& tangent : tangents) {
      if (Status s = place(tangent); !s) return s;
    }
    if (Status s = staged_[0].take(*context_, inputs_); !s) return s;
    if (Status s = staged_[1].take(*context_, param_tangents_); !s) return s;
    if (Status s = staged_[2].take(*context_, input_tangents_); !s) return s;
    return context_->status(attn_call_sizes(context_->get(), &about(), detail::views(params_),
                                            inputs_.data(), &bytes_));
  }
  Status place(const Tangent& tangent) {
    const size_t param = detail::find(about().params, about().n_params, tangent.first);
    const size_t input = detail::find(about().inputs, about().n_inputs, tangent.first);
    const std::string name(tangent.first);
    if (param == params_.size() && input == inputs_.size()) {
      return refuse("has no parameter or input " + name);
    }
    attn_tensor& to = param < params_.size() ? param_tangents_[param] : input_tangents_[input];
    if (to.data != nullptr) return refuse("two tangents of " + name);
    to = tangent.second;
    return {};
  }

  Status make_all(std::vector<Tensor>& tensors, const std::vector<attn_tensor>& shapes,
                  std::vector<attn_tensor>& made) {
    tensors.resize(shapes.size());
    for (size_t k = 0; k < shapes.size(); ++k) {
      if (Status s = detail::make(*context_, tensors[k], shapes[k]); !s) return s;
      made.push_back(tensors[k].view());
    }
    return {};
  }
  // Tensors for what derivatives are taken of or by, null for the others.
  Status make_derivatives(std::vector<Tensor>& tensors, const attn_argument* table,
                          const std::vector<attn_tensor>& shapes, std::vector<attn_tensor>& made) {
    tensors.resize(shapes.size());
    for (size_t k = 0; k < shapes.size(); ++k) {
      made.emplace_back();
      if (!table[k].differentiable) continue;
      attn_tensor shape = shapes[k];
      shape.type = attn_gradient_type(shape.type);
      if (Status s = detail::make(*context_, tensors[k], shape); !s) return s;
      made[k] = tensors[k].view();
    }
    return {};
  }

  Context* context_;
  const Model* model_;
  std::vector<attn_tensor> params_, inputs_, param_tangents_, input_tangents_;
  std::vector<Tensor> outputs_, output_tangents_, param_products_, input_products_;
  Tensor workspace_, none_;
  detail::Staged staged_[3];
  attn_sizes bytes_ = {};
};

}  // namespace attn
