// A model of steps.attn with gradients that are given to it.
#pragma once

#include <gtest/gtest.h>

#include <attn/attn.hpp>
#include <cmath>
#include <random>

#include "steps.h"

namespace attn::testing {

class Trained {
 public:
  explicit Trained(const attn_model* description, int threads = 2, int64_t n = 4097)
      : context_(threads), model_(context_, description) {
    EXPECT_TRUE(model_.init(7, {{"N", n}}));
    add(ATTN_F32, {3, 1500});
    add(ATTN_F32, {});
    add(ATTN_F32, {70});
    add(ATTN_F64, {9});
    add(ATTN_F32, {n});
    add(ATTN_F32, {0, 4});
  }

  attn::Model& model() { return model_; }
  attn::Context& context() { return context_; }

  // Draws the gradients of call number `call`, and takes them back from the model.
  void find_gradients(int call) {
    std::mt19937 random(static_cast<unsigned>(call));
    std::normal_distribution<double> normal(0, 2);
    std::vector<attn::View> views;
    for (attn::Tensor& t : inputs_) {
      for (int64_t k = 0; k < t.count(); ++k) {
        const double value = normal(random);
        if (t.type() == ATTN_F64)
          t.data<double>()[k] = value;
        else
          t.data<float>()[k] = static_cast<float>(value);
      }
      views.push_back(t);
    }
    ASSERT_TRUE(model_.forward(views));
    ASSERT_TRUE(model_.backward());
  }

 private:
  void add(attn_type type, std::initializer_list<int64_t> extents) {
    inputs_.emplace_back(type, extents);
  }

  attn::Context context_;
  attn::Model model_;
  std::vector<attn::Tensor> inputs_;
};

// The elements of all tensors one after the other.
inline std::vector<double> elements(const std::vector<attn::Tensor>& tensors) {
  std::vector<double> all;
  for (const attn::Tensor& t : tensors) {
    for (int64_t k = 0; k < t.count(); ++k) {
      if (t.type() == ATTN_F64) all.push_back(t.data<double>()[k]);
      if (t.type() == ATTN_F32) all.push_back(t.data<float>()[k]);
      if (t.type() == ATTN_BF16) all.push_back(attn_f32_from_bf16(t.data<attn::bf16>()[k].bits));
    }
  }
  return all;
}

}  // namespace attn::testing
