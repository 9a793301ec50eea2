// Gradients that kernels write with other extents than the caller's.
#include <attn/model.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "heads.h"

namespace attn::testing {
namespace {

constexpr int64_t kTexts = 2, kTokens = 5, kWidth = heads_sizes_of::D;

// One call, with memory for all of its tensors.
class Heads {
 public:
  Heads() {
    EXPECT_EQ(attn_context_create(nullptr, &context_), ATTN_OK);
    const int64_t sizes[] = {kTexts, kTokens};
    attn_shapes(heads_model(), sizes, &params_.wq, &inputs_.x, &outputs_.y);
    gradients = params_;
    cotangents_ = outputs_;
    for (attn_tensor* t : {&params_.wq, &params_.bq, &params_.wk, &params_.wo, &inputs_.x,
                           &cotangents_.y, &outputs_.y})
      t->data = filled(*t);
    attn_sizes bytes{};
    EXPECT_EQ(heads_sizes(context_, &params_, &inputs_, &bytes), ATTN_OK);
    saved_ = block(bytes.saved);
    workspace_ = block(bytes.training_workspace);
    EXPECT_EQ(heads_forward(context_, &params_, &inputs_, &outputs_, saved_, workspace_), ATTN_OK);
  }
  ~Heads() { attn_context_destroy(context_); }
  Heads(const Heads&) = delete;
  Heads& operator=(const Heads&) = delete;

  // Writes the gradients that have memory.
  void backward() {
    EXPECT_EQ(heads_backward(context_, &params_, &inputs_, &outputs_, saved_, &cotangents_,
                             &gradients, nullptr, workspace_),
              ATTN_OK);
  }

  heads_params gradients{};
  std::vector<attn_tensor*> all{&gradients.wq, &gradients.bq, &gradients.wk, &gradients.wo};

 private:
  static size_t count(const attn_tensor& t) {
    size_t n = 1;
    for (int k = 0; k < t.rank; ++k) n *= static_cast<size_t>(t.extent[k]);
    return n;
  }
  float* filled(const attn_tensor& t) {
    memory_.emplace_back(count(t));
    for (size_t k = 0; k < memory_.back().size(); ++k)
      memory_.back()[k] = std::sin(1.7f * static_cast<float>(k + memory_.size()));
    return memory_.back().data();
  }
  attn_block block(int64_t bytes) {
    memory_.emplace_back(static_cast<size_t>(bytes) / 4 + 16);
    void* at = memory_.back().data();
    size_t room = static_cast<size_t>(bytes) + 64;
    return {std::align(64, static_cast<size_t>(bytes), at, room), bytes};
  }

  attn_context* context_ = nullptr;
  heads_params params_{};
  heads_inputs inputs_{};
  heads_outputs outputs_{}, cotangents_{};
  attn_block saved_{}, workspace_{};
  std::vector<std::vector<float>> memory_;
};

TEST(Reshaped, EachGradientIsWhatItIsAmongAll) {
  Heads heads;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::vector<float>> wanted(heads.all.size());
  const auto fill = [&](size_t n) {
    wanted[n].assign(n == 1 ? kWidth : kWidth * kWidth, nan);
    heads.all[n]->data = wanted[n].data();
  };
  for (size_t n = 0; n < wanted.size(); ++n) fill(n);
  heads.backward();
  const std::vector<std::vector<float>> among_all = wanted;
  for (size_t n = 0; n < wanted.size(); ++n) {
    for (const float g : among_all[n]) EXPECT_TRUE(std::isfinite(g));
    for (attn_tensor* t : heads.all) t->data = nullptr;
    fill(n);
    heads.backward();
    EXPECT_EQ(wanted[n], among_all[n]) << n;
  }
  for (attn_tensor* t : heads.all) t->data = nullptr;
  heads.backward();
}

}  // namespace
}  // namespace attn::testing
