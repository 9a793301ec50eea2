// What attn.hpp and products.hpp share: tensors of their own, made in a shape and found by name,
// and the messages about what they are given.
#pragma once

#include <attn/model.h>

#include <algorithm>
#include <attn/tensor.hpp>
#include <cstdio>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace attn::detail {

// Null where there is none, as the C interface wants it.
inline const attn_tensor* views(const std::vector<attn_tensor>& list) {
  return list.empty() ? nullptr : list.data();
}

// Tensors, and their views as calls take them: of null data where a tensor is not wanted.
struct List {
  std::vector<Tensor> tensors;
  std::vector<attn_tensor> views;
};

// The position of a name; `count` where there is none.
template <class Row>
size_t find(const Row* list, int32_t count, std::string_view name) {
  size_t k = 0;
  while (k < static_cast<size_t>(count) && name != list[k].name) ++k;
  return k;
}

inline bool same_shape(const attn_tensor& a, const attn_tensor& b) {
  if (a.type != b.type || a.rank != b.rank) return false;
  for (int k = 0; k < a.rank; ++k)
    if (a.extent[k] != b.extent[k]) return false;
  return true;
}

// Keeps the tensor where it has that shape, and is in memory of the context's device.
inline bool is_there(const Context& context, const Tensor& tensor) {
  const attn_device_id a = tensor.view().device, b = context.device();
  return tensor.ok() && a.type == b.type && a.ordinal == b.ordinal;
}
inline Status make(Context& context, Tensor& tensor, const attn_tensor& shape) {
  if (is_there(context, tensor) && same_shape(tensor.view(), shape)) return {};
  tensor = Tensor::like(shape, &context);
  return tensor.ok() ? Status() : context.no_memory();
}

// Arrays of the host that a context's device does not see; calls get copies, which are kept.
class Staged {
 public:
  Status take(Context& context, std::vector<attn_tensor>& list) {
    if (context.elsewhere() == nullptr) return {};
    copies_.resize(std::max(copies_.size(), list.size()));
    for (size_t k = 0; k < list.size(); ++k) {
      attn_tensor& given = list[k];
      if (given.data == nullptr || given.device.type != ATTN_CPU) continue;
      if (Status s = make(context, copies_[k], given); !s) return s;
      Status s = context.status(attn_copy(context.get(), &copies_[k].view(), &given));
      if (!s) return s;
      given = copies_[k].view();
    }
    return {};
  }

 private:
  std::vector<Tensor> copies_;
};

// A run-time size, and an option of an update, by name.
using Size = std::pair<std::string_view, int64_t>;
using Option = std::pair<std::string_view, double>;

// Stands in the place of a model that is null, and has nothing.
inline constexpr attn_model kNoModel = {};

// The calls of one model in one context. Those of a null model are refused.
class Calls {
 protected:
  Calls(Context& context, const attn_model* description)
      : context_(&context), description_(description != nullptr ? description : &kNoModel) {}

  // The model as it was given.
  const attn_model* given() const { return description_ != &kNoModel ? description_ : nullptr; }
  Status check_model() const {
    return given() != nullptr ? Status() : Status(ATTN_REFUSED, "the model is null");
  }

  Status status(attn_status code) const { return context_->status(code); }
  // Of a function of attn/model.h or attn/train.h.
  template <class Function, class... Arguments>
  Status call(Function* function, Arguments... arguments) const {
    return status(function(context_->get(), given(), arguments...));
  }
  Status refuse(std::string text) const {
    if (Status s = check_model(); !s) return s;
    return {ATTN_REFUSED, std::string(description_->name) + ": " + std::move(text)};
  }
  // A limit of a norm.
  Status check_clip(double limit) const {
    if (limit >= 0) return {};
    char text[64];
    std::snprintf(text, sizeof text, "clip is %g, and must be at least 0", limit);
    return refuse(text);
  }
  Status out_of_memory() const { return context_->no_memory(); }

  Status check_parameters(const std::vector<Tensor>& params) const {
    if (Status s = check_model(); !s) return s;
    if (params.size() == static_cast<size_t>(description_->n_params)) return {};
    return refuse("the parameters are not there yet: call init or load");
  }
  Status take(const std::vector<View>& list, int32_t count, const char* what,
              std::vector<attn_tensor>& to) const {
    if (list.size() != static_cast<size_t>(count)) {
      return refuse("takes " + std::to_string(count) + " " + what + ", not " +
                    std::to_string(list.size()));
    }
    to.assign(list.begin(), list.end());
    return {};
  }
  Status read_sizes(const std::vector<attn_tensor>& params, const std::vector<attn_tensor>& inputs,
                    std::vector<int64_t>& sizes) const {
    sizes.resize(static_cast<size_t>(description_->n_sizes) + 1);
    return call(attn_read_sizes, views(params), inputs.data(), sizes.data());
  }
  Status output_shapes(const std::vector<attn_tensor>& params,
                       const std::vector<attn_tensor>& inputs,
                       std::vector<attn_tensor>& shapes) const {
    std::vector<int64_t> sizes;
    if (Status s = read_sizes(params, inputs, sizes); !s) return s;
    shapes.resize(static_cast<size_t>(description_->n_outputs));
    const attn_status code =
        attn_shapes(description_, sizes.data(), nullptr, nullptr, shapes.data());
    return code == ATTN_OK ? Status() : out_of_memory();
  }

  // The extents of the parameters, or of the states among the inputs, for the given sizes. One that
  // they need and that is not given shows itself by changing them.
  Status shapes_of(std::initializer_list<Size> given, bool is_params,
                   std::vector<attn_tensor>& shapes) const {
    if (Status s = check_model(); !s) return s;
    const size_t first =
        is_params ? 0 : static_cast<size_t>(description_->n_inputs - description_->n_states);
    const attn_argument* table = is_params ? description_->params : description_->inputs;
    const auto fill = [&](const std::vector<int64_t>& sizes, std::vector<attn_tensor>& list) {
      return attn_shapes(description_, sizes.data(), is_params ? list.data() : nullptr,
                         is_params ? nullptr : list.data(), nullptr);
    };
    const size_t count = static_cast<size_t>(description_->n_sizes);
    std::vector<int64_t> sizes(count + 1, 1);
    std::vector<bool> known(count, false);
    for (const Size& size : given) {
      size_t k = 0;
      while (k < count && size.first != description_->size_names[k]) ++k;
      if (k == count) return refuse("has no run-time size " + std::string(size.first));
      if (size.second < 0) return refuse("size " + std::string(size.first) + " is negative");
      sizes[k] = size.second;
      known[k] = true;
    }
    if (fill(sizes, shapes) != ATTN_OK) return out_of_memory();
    std::vector<attn_tensor> changed(shapes.size());
    for (size_t k = 0; k < count; ++k) {
      if (known[k]) continue;
      sizes[k] = 1009;
      if (fill(sizes, changed) != ATTN_OK) return out_of_memory();
      sizes[k] = 1;
      for (size_t j = first; j < shapes.size(); ++j) {
        if (detail::same_shape(shapes[j], changed[j])) continue;
        return refuse((is_params ? "parameter " : "state ") + std::string(table[j].name) +
                      " needs the run-time size " + description_->size_names[k]);
      }
    }
    return {};
  }

  // Overwrites the options that are given.
  Status set_options(const std::vector<Option>& given, double* options) const {
    for (const Option& option : given) {
      const size_t k =
          detail::find(description_->step_options, description_->n_step_options, option.first);
      if (k == static_cast<size_t>(description_->n_step_options))
        return refuse("its update has no option " + std::string(option.first));
      options[k] = option.second;
    }
    return {};
  }

  // A tensor for each shape. With a table: for what derivatives are taken of or by, in
  // attn_gradient_type; null for the others. On failure the views are as they were.
  Status make_all(List& list, const std::vector<attn_tensor>& shapes,
                  const attn_argument* table = nullptr) {
    std::vector<attn_tensor> views(shapes.size());
    list.tensors.resize(shapes.size());
    for (size_t k = 0; k < shapes.size(); ++k) {
      attn_tensor shape = shapes[k];
      if (table != nullptr && !table[k].differentiable) continue;
      if (table != nullptr) shape.type = attn_gradient_type(shape.type);
      if (Status s = make(*context_, list.tensors[k], shape); !s) return s;
      views[k] = list.tensors[k].view();
    }
    list.views.swap(views);
    return {};
  }
  // At least `bytes` bytes; never null, so that an empty buffer is still a buffer.
  Status make_buffer(Tensor& buffer, int64_t bytes) {
    if (is_there(*context_, buffer) && buffer.bytes() >= bytes) return {};
    buffer = Tensor::unset(View(ATTN_BOOL, {bytes}), context_);
    return buffer.ok() ? Status() : out_of_memory();
  }
  static attn_block block_of(const Tensor& buffer) { return {buffer.view().data, buffer.bytes()}; }

  template <class Tensors>
  auto& at(Tensors& list, size_t k) const {
    return k < list.size() ? list[k] : none_;
  }
  template <class Tensors>
  auto& of_output(Tensors& list, std::string_view name) const {
    return at(list, find(description_->outputs, description_->n_outputs, name));
  }
  template <class Tensors>
  auto& of_param(Tensors& list, std::string_view name) const {
    return at(list, find(description_->params, description_->n_params, name));
  }

  Context* context_;
  const attn_model* description_;

 private:
  mutable Tensor none_;
};

}  // namespace attn::detail
