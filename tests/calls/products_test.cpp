// The C++ layer over probes and over products with derivatives.
#include <gtest/gtest.h>

#include <algorithm>
#include <attn/products.hpp>
#include <cmath>
#include <cstring>

#include "probed.h"

namespace attn::testing {
namespace {

constexpr int64_t kRows = 5, kWidth = 4;

class Probed : public ::testing::Test {
 protected:
  Probed() {
    for (int64_t k = 0; k < x.count(); ++k) {
      x.data<float>()[k] = std::sin(1.3f * static_cast<float>(k));
      tx.data<float>()[k] = std::cos(0.7f * static_cast<float>(k));
    }
    for (int64_t k = 0; k < tw.count(); ++k) tw.data<float>()[k] = k % 3 == 0 ? 0.5f : -0.25f;
    EXPECT_TRUE(model.init(3));
  }

  void expect(const Status& status) { EXPECT_TRUE(status) << status.text(); }
  void expect_refused(const Status& status, const std::string& text) {
    EXPECT_EQ(status.code(), ATTN_REFUSED);
    EXPECT_NE(status.text().find(text), std::string::npos) << status.text();
  }
  // The gradients at parameters and inputs that are moved along the tangents.
  struct Gradients {
    Tensor w, x;
    float loss;
  };
  Gradients at(float step) {
    Tensor moved = x.clone();
    auto move = [&](Tensor& t, const Tensor& by, float way) {
      for (int64_t k = 0; k < t.count(); ++k) t.data<float>()[k] += way * by.data<float>()[k];
    };
    move(moved, tx, step);
    move(model.param("w"), tw, step);
    expect(model.forward({moved}));
    Gradients g{{}, Tensor::like(x.view()), *model.output("loss").data<float>()};
    Tensor one(ATTN_F32, {});
    *one.data<float>() = 1;
    View none = model.output("y");
    none.data = nullptr;
    expect(model.backward({one, none}, {g.x}));
    g.w = model.gradient("w").clone();
    move(model.param("w"), tw, -step);
    return g;
  }
  static double dot(const Tensor& a, const Tensor& b) {
    double sum = 0;
    for (int64_t k = 0; k < a.count(); ++k)
      sum += static_cast<double>(a.data<float>()[k]) * b.data<float>()[k];
    return sum;
  }

  Context context{2};
  Model model{context, probed_model()};
  Products products{context, model};
  Tensor x{ATTN_F32, {kRows, kWidth}}, tx{ATTN_F32, {kRows, kWidth}},
      tw{ATTN_F32, {kWidth, kWidth}};
};

TEST_F(Probed, AProbeIsOfTheForwardCallBeforeIt) {
  Tensor map, rows;
  expect_refused(model.probe("map", map), "a probe needs a forward call before it");
  expect(model.forward({x}));
  expect_refused(model.probe("mep", map), "has no probe mep");
  expect(model.probe("map", map));
  ASSERT_EQ(map.rank(), 2);
  ASSERT_EQ(map.count(), kRows * kRows);
  expect(model.probe("map.rows", rows));
  EXPECT_EQ(rows.type(), ATTN_BF16);
  // It makes the output of the rows that it weighs.
  for (int64_t i = 0; i < kRows; ++i) {
    double sum = 0, squares = 0;
    for (int64_t j = 0; j < kRows; ++j) {
      const double p = map.data<float>()[i * kRows + j];
      if (j > i) {
        EXPECT_EQ(p, 0);
      }
      sum += p;
      squares += p * p;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(attn_f32_from_bf16(rows.data<bf16>()[i].bits), squares, 1e-2);
    for (int64_t d = 0; d < kWidth; ++d) {
      double y = 0;
      for (int64_t j = 0; j < kRows; ++j)
        y += map.data<float>()[i * kRows + j] * x.data<float>()[j * kWidth + d];
      EXPECT_NEAR(model.output("y").data<float>()[i * kWidth + d], y, 1e-5);
    }
  }
  expect(model.backward());  // which a probe does not disturb
  // Of no rows, of none.
  Tensor empty(ATTN_F32, {0, kWidth});
  expect(model.forward({empty}));
  expect(model.probe("map", map));
  EXPECT_EQ(map.count(), 0);
}

TEST_F(Probed, AProbeIsRefusedTheSavedBlockOfAnotherCall) {
  expect(model.forward({x}));
  const probed_params params{model.param("w").view()};
  const probed_inputs inputs{x.view()};
  const probed_outputs outputs{model.output("loss").view(), model.output("y").view()};
  attn_sizes bytes;
  ASSERT_EQ(probed_sizes(context.get(), &params, &inputs, &bytes), ATTN_OK);
  Tensor map(ATTN_F32, {kRows, kRows}), small(ATTN_F32, {kRows, 2});
  const auto allocated = [](int64_t count) {
    return attn_block{attn_allocate(nullptr, static_cast<size_t>(count)), count};
  };
  const attn_block saved = allocated(bytes.saved);
  const attn_block workspace = allocated(std::max(bytes.forward_workspace, bytes.probe_workspace));
  std::memset(saved.data, 0, static_cast<size_t>(bytes.saved));
  auto probe = [&](attn_block block, const attn_tensor* result) {
    return context.status(
        probed_probe_map(context.get(), &params, &inputs, &outputs, block, result, workspace));
  };
  expect_refused(probe(saved, &map.view()), "the saved block is of another call");
  expect_refused(probe({}, &map.view()), "the saved block is null");
  ASSERT_EQ(probed_forward(context.get(), &params, &inputs, &outputs, saved, workspace), ATTN_OK);
  expect_refused(probe(saved, &small.view()), "map: dimension 2 (T) is 2, must be 5");
  expect_refused(probe(saved, nullptr), "probed: no result");
  expect_refused(probe(saved, &outputs.y), "map: dimension 2 (T) is 4, must be 5");
  View inside = map.view();
  inside.data = x.view().data;
  expect_refused(probe(saved, &inside), "map, which is written, overlaps x");
  expect_refused(probe({saved.data, bytes.saved - 1}, &map.view()),
                 "the saved block has " + std::to_string(bytes.saved - 1) + " bytes, and needs " +
                     std::to_string(bytes.saved));
  expect(probe(saved, &map.view()));
  attn_free(nullptr, saved.data);
  attn_free(nullptr, workspace.data);
}

TEST_F(Probed, TheJacobianProductIsTheGradientAlongTheTangents) {
  const Gradients g = at(0);
  expect(products.jvp({x}, {{"x", tx}, {"w", tw}}));
  const double want = dot(g.x, tx) + dot(g.w, tw);
  EXPECT_NEAR(*products.output_tangent("loss").data<float>(), want, 1e-4 * std::abs(want));
  EXPECT_FLOAT_EQ(*products.output("loss").data<float>(), g.loss);
  // What is not given is zero.
  expect(products.jvp({x}, {{"w", tw}}));
  EXPECT_NEAR(*products.output_tangent("loss").data<float>(), dot(g.w, tw), 1e-4 * std::abs(want));
  expect(products.jvp({x}, {}));
  EXPECT_EQ(dot(products.output_tangent("y"), products.output_tangent("y")), 0);
}

// By differences of the gradient.
TEST_F(Probed, TheHessianProductIsHowTheGradientChanges) {
  constexpr float h = 1e-2f;
  const Gradients low = at(-h), high = at(h);
  expect(products.hvp({x}, {{"x", tx}, {"w", tw}}));
  struct Case {
    const char* name;
    const Tensor &before, &after;
  };
  for (const Case& c : {Case{"w", low.w, high.w}, Case{"x", low.x, high.x}}) {
    const Tensor& got = products.product(c.name);
    ASSERT_EQ(got.count(), c.after.count());
    const double scale = std::sqrt(dot(got, got));
    EXPECT_GT(scale, 0.1);
    for (int64_t k = 0; k < got.count(); ++k) {
      const double change = c.after.data<float>()[k] - c.before.data<float>()[k];
      EXPECT_NEAR(got.data<float>()[k], change / (2 * h), 1e-2 * scale) << c.name << " " << k;
    }
  }
  EXPECT_FALSE(products.product("map").ok());
}

TEST_F(Probed, ProductsRefuseTangentsThatMakeNoSense) {
  expect_refused(products.jvp({x}, {{"v", tw}}), "has no parameter or input v");
  expect_refused(products.jvp({x}, {{"w", tw}, {"w", tw}}), "two tangents of w");
  expect_refused(products.jvp({}, {}), "takes 1 inputs, not 0");
  expect_refused(products.hvp({x}, {{"w", tx}}), "tangent of w: dimension 1 (D) is 5, must be 4");
  Model other(context, probed_model());
  expect_refused(Products(context, other).hvp({x}, {}), "call init or load");
}

}  // namespace
}  // namespace attn::testing
