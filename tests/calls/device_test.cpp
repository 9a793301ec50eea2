// Whole compiled models in memory that the host cannot touch: the same bytes as on the host.
#include <attn/model.h>
#include <attn/types.h>

#include <functional>
#include <memory>

#include "probed.h"
#include "tests/calls/word.h"
#include "tests/runtime/fake_device.h"

namespace attn::testing {
namespace {

using attn_test::DeviceTensor;
using attn_test::FakeDevice;

// Calls every function of a model on data that its seed determines.
class Caller {
 public:
  Caller(
      const attn_model* model, const attn_context_options& options, std::vector<int64_t> sizes,
      const std::function<void()>& before_forward = [] {},
      const std::function<void()>& after_forward = [] {})
      : model_(*model) {
    EXPECT_EQ(attn_context_create(&options, &context_), ATTN_OK);
    Tensors params(static_cast<size_t>(model_.n_params)),
        inputs(static_cast<size_t>(model_.n_inputs)),
        outputs(static_cast<size_t>(model_.n_outputs));
    EXPECT_EQ(attn_shapes(model, sizes.data(), params.data(), inputs.data(), outputs.data()),
              ATTN_OK);
    params = made(params);
    inputs = made(inputs);
    const auto call = [&](attn_status status, const char* what) {
      EXPECT_EQ(status, ATTN_OK) << what << ": " << attn_context_message(context_);
    };
    attn_sizes bytes{};
    call(attn_call_sizes(context_, model, params.data(), inputs.data(), &bytes), "sizes");
    const attn_block saved = block(bytes.saved);
    before_forward();
    const Tensors y = made(outputs);
    call(attn_forward(context_, model, params.data(), inputs.data(), y.data(), saved,
                      block(bytes.forward_workspace)),
         "forward");
    after_forward();
    collect(y);
    for (int32_t k = 0; k < model_.n_probes; ++k) {
      Tensors result(1);
      EXPECT_EQ(attn_probe_shape(model, k, sizes.data(), result.data()), ATTN_OK);
      result = made(result);
      call(attn_probe(context_, model, k, params.data(), inputs.data(), y.data(), saved,
                      result.data(), block(bytes.probe_workspace)),
           "probe");
      collect(result);
    }
    // The cotangents of all outputs but the first, and the tangents of all inputs but the first,
    // are not given.
    const Tensors dy = first(derivatives(model_.outputs, outputs));
    const Tensors dp = derivatives(model_.params, params), dx = derivatives(model_.inputs, inputs);
    call(attn_backward(context_, model, params.data(), inputs.data(), y.data(), saved, dy.data(),
                       dp.data(), dx.data(), block(bytes.backward_workspace)),
         "backward");
    collect(dp);
    collect(dx);
    const Tensors again_y = made(outputs), again_dp = derivatives(model_.params, params),
                  again_dx = derivatives(model_.inputs, inputs);
    int64_t at_once = 0;
    call(attn_forward_backward_workspace(context_, model, params.data(), inputs.data(), dy.data(),
                                         again_dp.data(), again_dx.data(), &at_once),
         "the workspace of forward and backward");
    call(attn_forward_backward(context_, model, params.data(), inputs.data(), again_y.data(),
                               dy.data(), again_dp.data(), again_dx.data(), block(at_once)),
         "forward and backward");
    collect(again_y);
    collect(again_dp);
    collect(again_dx);
    const Tensors tp = derivatives(model_.params, params),
                  tx = first(derivatives(model_.inputs, inputs));
    if (model_.has_jvp) {
      const Tensors again = made(outputs), ty = derivatives(model_.outputs, outputs);
      call(attn_jvp(context_, model, params.data(), inputs.data(), tp.data(), tx.data(),
                    again.data(), ty.data(), block(bytes.jvp_workspace)),
           "jvp");
      collect(again);
      collect(ty);
    }
    if (model_.has_hvp) {
      const Tensors hp = derivatives(model_.params, params),
                    hx = derivatives(model_.inputs, inputs);
      call(attn_hvp(context_, model, params.data(), inputs.data(), tp.data(), tx.data(), hp.data(),
                    hx.data(), block(bytes.hvp_workspace)),
           "hvp");
      collect(hp);
      collect(hx);
    }
  }
  ~Caller() {
    memory_.clear();
    attn_context_destroy(context_);
  }

  const std::vector<std::string>& results() const { return results_; }

 private:
  using Tensors = std::vector<attn_tensor>;

  static size_t bytes_of(const attn_tensor& t) {
    return static_cast<size_t>(attn_element_count(&t) * attn_type_size(t.type));
  }

  attn_tensor made(const attn_tensor& shape) {
    memory_.push_back(std::make_unique<DeviceTensor>(context_, shape));
    const attn_tensor t = memory_.back()->view();
    std::string bytes(bytes_of(t), 0);
    attn_tensor host = shape;
    host.data = bytes.data();
    host.device = {};
    for (size_t k = 0; k < static_cast<size_t>(attn_element_count(&t)); ++k) {
      if (t.type == ATTN_F32)
        reinterpret_cast<float*>(bytes.data())[k] = 0.25f * static_cast<float>(k % 9) - 1;
      if (t.type == ATTN_BOOL) bytes[k] = k % 3 != 0;
    }
    EXPECT_EQ(attn_copy(context_, &t, &host), ATTN_OK) << attn_context_message(context_);
    return t;
  }
  Tensors made(Tensors list) {
    for (attn_tensor& t : list) t = made(t);
    return list;
  }
  Tensors derivatives(const attn_argument* table, Tensors list) {
    for (size_t k = 0; k < list.size(); ++k) {
      list[k].type = attn_gradient_type(list[k].type);
      if (table[k].differentiable)
        list[k] = made(list[k]);
      else
        list[k].data = nullptr;
    }
    return list;
  }
  static Tensors first(Tensors list) {
    for (size_t k = 1; k < list.size(); ++k) list[k].data = nullptr;
    return list;
  }
  attn_block block(int64_t bytes) {
    return {made({nullptr, ATTN_BOOL, 1, {bytes}, {}}).data, bytes};
  }

  void collect(const Tensors& list) {
    for (const attn_tensor& t : list) {
      if (t.data == nullptr) continue;
      std::string bytes(bytes_of(t), 0);
      attn_tensor host = t;
      host.data = bytes.data();
      host.device = {};
      EXPECT_EQ(attn_copy(context_, &host, &t), ATTN_OK) << attn_context_message(context_);
      results_.push_back(bytes);
    }
  }

  const attn_model& model_;
  attn_context* context_ = nullptr;
  std::vector<std::unique_ptr<DeviceTensor>> memory_;
  std::vector<std::string> results_;
};

void expect_same_bytes(const attn_model* model, const std::vector<int64_t>& sizes) {
  attn_context_options host{};
  host.threads = 1;
  FakeDevice device;
  const Caller here(model, host, sizes), there(model, device.options(), sizes);
  EXPECT_GT(here.results().size(), 3u);
  EXPECT_TRUE(here.results() == there.results()) << model->name;
}

TEST(Device, WholeModelsGoThroughItsFunctionsAlone) {
  expect_same_bytes(word_model(), {3, 5});
  expect_same_bytes(probed_model(), {5});
}

// Each copy waits for the device.
TEST(Device, WhatIntegersReachComesBackInOneCopy) {
  FakeDevice device;
  size_t before = 0, copies = 0;
  const Caller there(
      word_model(), device.options(), {3, 5}, [&] { before = device.copies_out; },
      [&] { copies = device.copies_out - before; });
  EXPECT_EQ(copies, 1u);
}

// Rows of zeros stand for tensors that are empty.
TEST(Device, EmptyTensorsAreRowsOfItsMemory) { expect_same_bytes(word_model(), {3, 0}); }

}  // namespace
}  // namespace attn::testing
