// Jacobian- and Hessian-vector products as functions of the library, and derivatives by chosen
// names.
#include <attn/model.h>

#include <functional>

#include "chosen.h"
#include "tests/calls/word.h"

namespace attn::testing {
namespace {

// A call of `word` along tangents that are given for table, w and x.
class Derivatives : public ::testing::Test {
 protected:
  Derivatives() {
    param_tangents_ = word.param_gradients;
    input_tangents_ = word.input_gradients;
    for (attn_tensor* t : {&param_tangents_.table, &param_tangents_.w, &input_tangents_.x})
      word.fill(*t);
    param_tangents_.c.data = input_tangents_.scale.data = nullptr;
    output_tangents_ = word.cotangents;
    for (attn_tensor* t : {&output_tangents_.y, &output_tangents_.loss}) {
      word.allocate(*t);
      word.written.push_back(word.memory.back().get());
    }
    word.clear();
    workspace_ = word.allocated(std::max(word.bytes.jvp_workspace, word.bytes.hvp_workspace));
  }
  ~Derivatives() override { attn_free(word.context, workspace_.data); }

  attn_status jvp() {
    return word_jvp(word.context, &word.params, &word.inputs, &param_tangents_, &input_tangents_,
                    &word.outputs, &output_tangents_, workspace_);
  }
  attn_status hvp() {
    return word_hvp(word.context, &word.params, &word.inputs, &param_tangents_, &input_tangents_,
                    &word.param_gradients, &word.input_gradients, workspace_);
  }
  static std::vector<double> values(const attn_tensor& t) {
    const float* data = static_cast<const float*>(t.data);
    return {data, data + bytes_of(t) / 4};
  }
  static double dot(const attn_tensor& a, const attn_tensor& b) {
    const std::vector<double> x = values(a), y = values(b);
    double sum = 0;
    for (size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
    return sum;
  }
  // <d, tangents> over what has a tangent.
  double along(const word_params& d, const word_inputs& di) {
    return dot(d.table, param_tangents_.table) + dot(d.w, param_tangents_.w) +
           dot(di.x, input_tangents_.x);
  }
  void expect_refused(attn_status status, const std::string& says) {
    EXPECT_EQ(status, ATTN_REFUSED) << says;
    EXPECT_NE(word.message().find(says), std::string::npos) << says << ": " << word.message();
    EXPECT_TRUE(word.untouched()) << says;
    word.expect_fences();
  }

  Word word{3, 5};
  word_params param_tangents_;
  word_inputs input_tangents_;
  word_outputs output_tangents_;
  attn_block workspace_{};
};

TEST_F(Derivatives, TheJacobianProductIsTheGradientAlongTheTangents) {
  ASSERT_EQ(word.forward(), ATTN_OK);
  ASSERT_EQ(word.backward(), ATTN_OK);
  const std::vector<double> y = values(word.outputs.y);
  const double want = along(word.param_gradients, word.input_gradients);
  ASSERT_EQ(jvp(), ATTN_OK) << word.message();
  word.expect_fences();
  const double got =
      dot(word.cotangents.y, output_tangents_.y) + dot(word.cotangents.loss, output_tangents_.loss);
  EXPECT_NEAR(got, want, 1e-5 * std::abs(want));
  const std::vector<double> again = values(word.outputs.y);
  for (size_t k = 0; k < y.size(); ++k) EXPECT_NEAR(again[k], y[k], 1e-6);
}

// By differences of the gradient of the loss.
TEST_F(Derivatives, TheHessianProductIsHowTheGradientChanges) {
  word.cotangents.y.data = nullptr;
  *static_cast<float*>(word.cotangents.loss.data) = 1;
  auto gradient_at = [&](float step) {
    auto move = [&](attn_tensor& t, const attn_tensor& by, float way) {
      for (size_t k = 0; k < bytes_of(t) / 4; ++k)
        static_cast<float*>(t.data)[k] += way * step * static_cast<const float*>(by.data)[k];
    };
    auto all = [&](float way) {
      move(word.params.table, param_tangents_.table, way);
      move(word.params.w, param_tangents_.w, way);
      move(word.inputs.x, input_tangents_.x, way);
    };
    all(1);
    EXPECT_EQ(word.forward(), ATTN_OK);
    EXPECT_EQ(word.backward(), ATTN_OK);
    all(-1);
    return values(word.param_gradients.w);
  };
  const float h = 1e-2f;
  const std::vector<double> high = gradient_at(h), low = gradient_at(-h);
  ASSERT_EQ(hvp(), ATTN_OK) << word.message();
  word.expect_fences();
  const std::vector<double> got = values(word.param_gradients.w);
  double scale = 0;
  for (double v : got) scale = std::max(scale, std::abs(v));
  EXPECT_GT(scale, 0.1);
  for (size_t k = 0; k < got.size(); ++k)
    EXPECT_NEAR(got[k], (high[k] - low[k]) / (2 * h), 1e-2 * scale) << k;
}

TEST_F(Derivatives, WithoutTangentsNothingChanges) {
  ASSERT_EQ(word_jvp(word.context, &word.params, &word.inputs, nullptr, nullptr, nullptr,
                     &output_tangents_, workspace_),
            ATTN_OK)
      << word.message();
  for (double v : values(output_tangents_.y)) EXPECT_EQ(v, 0);
  EXPECT_EQ(values(output_tangents_.loss)[0], 0);
}

TEST_F(Derivatives, WhatIsNotWantedIsNotWritten) {
  ASSERT_EQ(jvp(), ATTN_OK);
  const std::vector<double> want = values(output_tangents_.loss);
  word.clear();
  output_tangents_.y.data = nullptr;
  word_outputs none = word.outputs;
  none.y.data = none.loss.data = none.best.data = nullptr;
  ASSERT_EQ(word_jvp(word.context, &word.params, &word.inputs, &param_tangents_, &input_tangents_,
                     &none, &output_tangents_, workspace_),
            ATTN_OK)
      << word.message();
  EXPECT_EQ(values(output_tangents_.loss), want);
  for (double v : values(word.outputs.y)) EXPECT_TRUE(std::isnan(v));
}

TEST_F(Derivatives, RefuseWhatIsWrong) {
  const auto tangents = input_tangents_;
  input_tangents_.token = word.inputs.token;
  expect_refused(jvp(), "tangent of token: the model was compiled without it");
  expect_refused(hvp(), "tangent of token: the model was compiled without it");
  input_tangents_ = tangents;
  input_tangents_.x.extent[1] = 4;
  expect_refused(jvp(), "tangent of x: dimension 2 (T) is 4, must be 5");
  input_tangents_ = tangents;
  const auto gradients = word.param_gradients;
  word.param_gradients.w.type = ATTN_F64;
  expect_refused(hvp(), "Hessian product of w: type is f64, must be f32");
  word.param_gradients = gradients;
  word.param_gradients.w.data = param_tangents_.w.data;
  expect_refused(hvp(), "w, which is written, overlaps w");
  word.param_gradients = gradients;
  const attn_block workspace = workspace_;
  workspace_.data = static_cast<char*>(workspace.data) + 4;
  expect_refused(jvp(), "the workspace must be aligned to 64 bytes");
  workspace_ = {workspace.data, 0};
  expect_refused(jvp(), "the workspace has 0 bytes, and needs");
  expect_refused(hvp(), "the workspace has 0 bytes, and needs");
  workspace_ = workspace;
  expect_refused(word_jvp(word.context, nullptr, &word.inputs, &param_tangents_, &input_tangents_,
                          &word.outputs, &output_tangents_, workspace_),
                 "no parameters");
}

TEST(Chosen, OnlyTheChosenHaveDerivatives) {
  const attn_model& m = *chosen_model();
  EXPECT_TRUE(m.has_backward);
  EXPECT_TRUE(m.has_jvp);
  EXPECT_FALSE(m.has_hvp);
  for (int k = 0; k < m.n_params; ++k)
    EXPECT_EQ(m.params[k].differentiable, std::string(m.params[k].name) != "shift");
  EXPECT_FALSE(m.inputs[0].differentiable);
}

TEST(Chosen, RefusesTheGradientOfAnother) {
  attn_context* context = nullptr;
  ASSERT_EQ(attn_context_create(nullptr, &context), ATTN_OK);
  float w[9] = {1, 2, 3}, b[3] = {}, shift[3] = {}, x[3] = {0.1f, 0.2f, 0.3f}, loss, dshift[3],
        dw[9], one = 1;
  const attn_tensor three = {nullptr, ATTN_F32, 1, {3}};
  chosen_params params{};
  attn_model const& m = *chosen_model();
  const int64_t sizes[] = {1};
  chosen_inputs inputs{};
  chosen_outputs outputs{};
  attn_shapes(&m, sizes, reinterpret_cast<attn_tensor*>(&params), &inputs.x, &outputs.loss);
  params.shift.data = shift, params.layer_w.data = w, params.layer_b.data = b;
  inputs.x.data = x, outputs.loss.data = &loss;
  attn_sizes bytes{};
  ASSERT_EQ(chosen_sizes(context, &params, &inputs, &bytes), ATTN_OK);
  const auto allocated = [&](int64_t count) {
    return attn_block{attn_allocate(context, static_cast<size_t>(count)), count};
  };
  const attn_block saved = allocated(bytes.saved);
  const attn_block workspace =
      allocated(std::max(bytes.forward_workspace, bytes.backward_workspace));
  ASSERT_EQ(chosen_forward(context, &params, &inputs, &outputs, saved, workspace), ATTN_OK);
  chosen_outputs cotangents = outputs;
  cotangents.loss.data = &one;
  chosen_params gradients{};
  gradients.shift = three;
  gradients.shift.data = dshift;
  auto backward = [&] {
    return chosen_backward(context, &params, &inputs, &outputs, saved, &cotangents, &gradients,
                           nullptr, workspace);
  };
  EXPECT_EQ(backward(), ATTN_REFUSED);
  EXPECT_EQ(std::string(attn_context_message(context)),
            "gradient of shift: the model was compiled without it");
  gradients.shift.data = nullptr;
  gradients.layer_w = params.layer_w;
  gradients.layer_w.data = dw;
  EXPECT_EQ(backward(), ATTN_OK) << attn_context_message(context);
  EXPECT_NE(dw[0], 0);
  attn_free(context, saved.data);
  attn_free(context, workspace.data);
  attn_context_destroy(context);
}

}  // namespace
}  // namespace attn::testing
