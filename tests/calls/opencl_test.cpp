// A model of a generated library in contexts of the CPU and of OpenCL, through the C++ layer.
#include <attn/device.h>
#include <gtest/gtest.h>

#include <attn/attn.hpp>
#include <cmath>

#include "fitted.h"

namespace attn::testing {
namespace {

constexpr int64_t kB = 12, kD = 6;

// What training comes to, on the host: the losses of all steps, then parameters, the last gradient
// and the scores.
std::vector<float> trained(Context& context) {
  Model model(context, fitted_model());
  Tensor x(ATTN_F32, {kB, kD}), label(ATTN_I32, {kB});
  for (int64_t k = 0; k < x.count(); ++k) x.data<float>()[k] = std::sin(static_cast<float>(k));
  for (int64_t k = 0; k < kB; ++k) label.data<int32_t>()[k] = static_cast<int32_t>(k % 3);
  std::vector<float> all;
  const auto collect = [&](const Tensor& tensor) {
    Result<Tensor> host = tensor.to_host(context);
    ASSERT_TRUE(host) << host.text();
    const float* data = host->data<float>();
    all.insert(all.end(), data, data + host->count());
  };
  Status status = model.init(7);
  EXPECT_TRUE(status) << status.text();
  // Inputs may be on the device; those of the host are copied at each call.
  Result<Tensor> there = x.to(context);
  EXPECT_TRUE(there) << there.text();
  if (!there) return all;
  for (int step = 0; step < 30; ++step) {
    const std::vector<View> inputs = {step % 2 == 0 ? there->view() : x.view(), label.view()};
    Status s = step % 3 == 0 ? model.forward_backward(inputs) : model.forward(inputs);
    EXPECT_TRUE(s) << s.text();
    if (step % 3 != 0) s = model.backward();
    EXPECT_TRUE(s) << s.text();
    s = model.step({{"lr", 0.5}});
    EXPECT_TRUE(s) << s.text();
    collect(model.output("loss"));
  }
  for (const char* name : {"w", "b", "v"}) collect(model.param(name));
  collect(model.gradient("w"));
  collect(model.output("score"));
  return all;
}

TEST(OpenCl, TrainsAsTheCpuDoes) {
  if (const char* why = attn_device_refusal({ATTN_OPENCL, 0})) GTEST_SKIP() << why;
  Context here(1), there(attn_device_id{ATTN_OPENCL, 0});
  const std::vector<float> wanted = trained(here), got = trained(there);
  ASSERT_EQ(got.size(), wanted.size());
  EXPECT_LT(wanted[29], wanted[0]);
  for (size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], wanted[k], 1e-4) << k;
}

TEST(OpenCl, RefusesLabelsOutOfRangeBeforeItWrites) {
  if (const char* why = attn_device_refusal({ATTN_OPENCL, 0})) GTEST_SKIP() << why;
  Context context(attn_device_id{ATTN_OPENCL, 0});
  Model model(context, fitted_model());
  Tensor x(ATTN_F32, {2, kD}), label = Tensor::of<int32_t>({0, 3}, {2});
  ASSERT_TRUE(model.init(7));
  const Status status = model.forward({x, label});
  EXPECT_EQ(status.code(), ATTN_BAD_DATA);
  EXPECT_NE(status.text().find("label: reads"), std::string::npos) << status.text();
  EXPECT_TRUE(context.wait());
}

TEST(OpenCl, TensorsMoveThereAndBack) {
  if (const char* why = attn_device_refusal({ATTN_OPENCL, 0})) GTEST_SKIP() << why;
  Context context(attn_device_id{ATTN_OPENCL, 0});
  const Tensor host = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  Result<Tensor> there = host.to(context);
  ASSERT_TRUE(there) << there.text();
  EXPECT_EQ(there->view().device.type, ATTN_OPENCL);
  EXPECT_EQ(there->data<float>(), nullptr);
  Result<Tensor> back = there->to_host(context);
  ASSERT_TRUE(back) << back.text();
  for (int k = 0; k < 6; ++k) EXPECT_EQ(back->data<float>()[k], static_cast<float>(k + 1));
  const Tensor zeros = Tensor::like(host.view(), &context);
  Result<Tensor> shown = zeros.to_host(context);
  ASSERT_TRUE(shown) << shown.text();
  EXPECT_EQ(shown->data<float>()[5], 0);
}

}  // namespace
}  // namespace attn::testing
