// Calls of the chain model on a device, for tests.
#pragma once

#include <attn/device.h>

#include <vector>

#include "chain_model.h"
#include "context.h"

// Calls of the chain model with arrays of its own on the device.
class Chain {
 public:
  explicit Chain(attn_context* context, int64_t n = 5)
      : context_(context), n_(n), x_(static_cast<size_t>(n)), index_(static_cast<size_t>(n)) {
    for (size_t k = 0; k < x_.size(); ++k) {
      x_[k] = static_cast<float>(k * k);
      index_[k] = static_cast<int32_t>(x_.size() - 1 - k);
    }
    device_ = attn_context_device(context)->id;
    inputs_[0] = made(ATTN_F32);
    inputs_[1] = made(ATTN_I32);
    output_ = made(ATTN_F32);
    attn_sizes sizes;
    EXPECT_EQ(attn_call_sizes(context, chain_model(), nullptr, inputs_, &sizes), ATTN_OK);
    workspace_ = {attn_device_allocate(context, static_cast<size_t>(sizes.forward_workspace)),
                  sizes.forward_workspace};
  }
  ~Chain() {
    for (void* memory : {inputs_[0].data, inputs_[1].data, output_.data, workspace_.data})
      attn_device_free(context_, memory);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  std::vector<float>& x() { return x_; }
  std::vector<int32_t>& index() { return index_; }
  attn_status call() {
    const size_t bytes = 4 * x_.size();
    const attn_device& device = *attn_context_device(context_);
    EXPECT_EQ(device.copy_in(context_, inputs_[0].data, x_.data(), bytes), 0);
    EXPECT_EQ(device.copy_in(context_, inputs_[1].data, index_.data(), bytes), 0);
    return attn_forward(context_, chain_model(), nullptr, inputs_, &output_, {}, workspace_);
  }
  std::vector<float> result() {
    std::vector<float> y(x_.size(), -1);
    const attn_device& device = *attn_context_device(context_);
    EXPECT_EQ(device.copy_out(context_, y.data(), output_.data, 4 * y.size()), 0);
    return y;
  }
  std::vector<float> wanted() const {
    std::vector<float> y;
    for (size_t k = 0; k < x_.size(); ++k)
      y.push_back(2 * x_[k] + 1 + x_[static_cast<size_t>(index_[k])]);
    return y;
  }
  void expect_right() {
    EXPECT_EQ(call(), ATTN_OK) << attn_context_message(context_);
    EXPECT_EQ(result(), wanted());
  }

 private:
  attn_tensor made(attn_type type) {
    attn_tensor t = {};
    t.data = attn_device_allocate(context_, static_cast<size_t>(4 * n_));
    t.type = type;
    t.rank = 1;
    t.extent[0] = n_;
    t.device = device_;
    return t;
  }

  attn_context* context_;
  int64_t n_;
  std::vector<float> x_;
  std::vector<int32_t> index_;
  attn_device_id device_;
  attn_tensor inputs_[2], output_;
  attn_block workspace_;
};
