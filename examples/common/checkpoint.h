// Adam for a model, with all that training needs to go on as if it had never stopped: parameters,
// the two averages of each, and the number of steps, in one safetensors file.
#pragma once

#include <attn/safetensors.h>
#include <sys/stat.h>

#include <attn/attn.hpp>
#include <cmath>

#include "must.h"

namespace example {

class Trainer {
 public:
  // The model has its parameters and outlives this.
  Trainer(attn::Context& context, attn::Model& model)
      : context_(context), model_(model), steps_(ATTN_I32, {1}) {
    const attn_model& description = *model.description();
    for (int32_t k = 0; k < description.n_params; ++k) {
      const attn::Tensor& param = model.params()[static_cast<size_t>(k)];
      const std::string name = description.params[k].name;
      names_.push_back(name);
      for (std::vector<attn::Tensor>* average : {&first_, &second_}) {
        average->push_back(attn::Tensor::like(param.view()));
      }
    }
  }

  int64_t steps() const { return *steps_.data<int32_t>(); }

  // One step with the gradients of the model's last backward call, cut to a norm of 1.
  void adam(double rate) {
    must(model_.clip_gradients(1));
    attn_adam options = ATTN_ADAM_DEFAULTS;
    options.rate = rate;
    must(context_.status(
        attn_adam_step(context_.get(), &options, steps() + 1, static_cast<int32_t>(names_.size()),
                       views(model_.params()).data(), views(model_.gradients()).data(),
                       views(first_).data(), views(second_).data())));
    ++*steps_.data<int32_t>();
  }

  void save(const std::string& path) const {
    std::vector<std::string> names;
    std::vector<attn_tensor> tensors;
    each([&](const std::string& name, const attn::Tensor& tensor) {
      names.push_back(name);
      tensors.push_back(tensor.view());
    });
    std::vector<const char*> texts;
    for (const std::string& name : names) texts.push_back(name.c_str());
    must(context_.status(attn_weights_save(context_.get(), path.c_str(),
                                           static_cast<int32_t>(texts.size()), texts.data(),
                                           tensors.data())));
  }

  // False where there is no such file; a file that does not fit the model ends the program.
  bool resume(const std::string& path) {
    struct stat found;
    if (stat(path.c_str(), &found) != 0) return false;
    attn_weights* file = nullptr;
    must(context_.status(attn_weights_open(context_.get(), path.c_str(), &file)));
    each([&](const std::string& name, const attn::Tensor& tensor) {
      const int32_t at = attn_weights_find(file, name.c_str());
      must(at >= 0 && attn_weights_at(file, at).bytes == tensor.bytes(),
           path + ": `" + name + "` is not there, or not of this model's size");
      must(context_.status(attn_weights_read(context_.get(), file, at, tensor.view().data)));
    });
    attn_weights_close(file);
    return true;
  }

 private:
  static std::vector<attn_tensor> views(const std::vector<attn::Tensor>& tensors) {
    std::vector<attn_tensor> result;
    for (const attn::Tensor& tensor : tensors) result.push_back(tensor.view());
    return result;
  }

  template <class Visit>
  void each(Visit visit) const {
    for (size_t k = 0; k < names_.size(); ++k) {
      visit(names_[k], model_.params()[k]);
      visit("adam.first." + names_[k], first_[k]);
      visit("adam.second." + names_[k], second_[k]);
    }
    visit("adam.steps", steps_);
  }

  attn::Context& context_;
  attn::Model& model_;
  std::vector<std::string> names_;
  std::vector<attn::Tensor> first_, second_;
  attn::Tensor steps_;
};

// The rate of a step: it rises over 100 steps and then falls along a cosine.
inline double rate_at(int64_t step, int64_t steps, double most) {
  const double done = static_cast<double>(step) / static_cast<double>(steps);
  return most * std::min(1.0, (static_cast<double>(step) + 1) / 100) * 0.5 *
         (1 + std::cos(M_PI * done));
}

}  // namespace example
