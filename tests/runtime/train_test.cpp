// Initialisation, optimiser steps and norms, against their formulas.
#include <attn/attn.h>
#include <attn/train.h>
#include <attn/types.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

namespace {

class Train : public testing::Test {
 protected:
  Train() { attn_context_create(nullptr, &context_); }
  ~Train() override { attn_context_destroy(context_); }

  // A parameter "w" of the given kind; the values land in `values_`.
  void start(attn_init init, double a, double b, std::vector<int64_t> extents, uint64_t mask,
             uint64_t seed = 1, const char* name = "w") {
    attn_argument argument = {};
    argument.name = argument.weight_name = name;
    argument.type = ATTN_F64;
    argument.rank = static_cast<int32_t>(extents.size());
    argument.init = init;
    argument.init_a = a;
    argument.init_b = b;
    argument.fan_in_mask = mask;
    attn_tensor tensor = {nullptr, ATTN_F64, argument.rank, {}};
    for (size_t k = 0; k < extents.size(); ++k) tensor.extent[k] = extents[k];
    values_.assign(static_cast<size_t>(attn_element_count(&tensor)), -99);
    tensor.data = values_.data();
    ASSERT_EQ(attn_initialise(context_, &argument, &tensor, seed), ATTN_OK);
  }
  double mean(const std::function<double(double)>& f) const {
    double sum = 0;
    for (const double value : values_) sum += f(value);
    return sum / static_cast<double>(values_.size());
  }

  attn_context* context_ = nullptr;
  std::vector<double> values_;
};

TEST_F(Train, ConstantsAreConstant) {
  start(ATTN_INIT_ZEROS, 0, 0, {3}, 0);
  EXPECT_EQ(values_, (std::vector<double>{0, 0, 0}));
  start(ATTN_INIT_ONES, 0, 0, {3}, 0);
  EXPECT_EQ(values_, (std::vector<double>{1, 1, 1}));
  start(ATTN_INIT_CONSTANT, -2.5, 0, {}, 0);
  EXPECT_EQ(values_, (std::vector<double>{-2.5}));
}

TEST_F(Train, NormalHasItsMoments) {
  start(ATTN_INIT_NORMAL, 3, 0.5, {200, 500}, 0);
  EXPECT_NEAR(mean([](double v) { return v; }), 3, 0.01);
  EXPECT_NEAR(mean([](double v) { return (v - 3) * (v - 3); }), 0.25, 0.005);
  EXPECT_NEAR(mean([](double v) { return std::pow((v - 3) / 0.5, 4); }), 3, 0.1);
  EXPECT_NEAR(mean([](double v) { return std::abs(v - 3) < 0.5; }), 0.6827, 0.005);
  double neighbours = 0;
  for (size_t k = 1; k < values_.size(); ++k) neighbours += (values_[k] - 3) * (values_[k - 1] - 3);
  EXPECT_NEAR(neighbours / static_cast<double>(values_.size()), 0, 0.005);
}

TEST_F(Train, UniformFillsItsInterval) {
  start(ATTN_INIT_UNIFORM, -1, 3, {100000}, 0);
  EXPECT_NEAR(mean([](double v) { return v; }), 1, 0.02);
  EXPECT_NEAR(mean([](double v) { return (v - 1) * (v - 1); }), 16.0 / 12, 0.02);
  for (const double value : values_) ASSERT_TRUE(value >= -1 && value < 3);
}

TEST_F(Train, XavierTakesItsFansFromTheMask) {
  start(ATTN_INIT_XAVIER, 0, 0, {4, 100, 7}, 1 << 1);  // in 100, out 28
  const double bound = std::sqrt(6.0 / 128);
  for (const double value : values_) ASSERT_LE(std::abs(value), bound);
  EXPECT_NEAR(mean([](double v) { return v * v; }), bound * bound / 3, 0.001);
}

TEST_F(Train, OrthogonalIsOrthonormal) {
  // The reduced extent stands in front: rows of the matrix are columns in memory.
  start(ATTN_INIT_ORTHOGONAL, 0, 0, {7, 4}, 1 << 0);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      double dot = 0;
      for (size_t k = 0; k < 7; ++k) dot += values_[k * 4 + i] * values_[k * 4 + j];
      EXPECT_NEAR(dot, i == j, 1e-14);
    }
  }
  start(ATTN_INIT_ORTHOGONAL, 0, 0, {2, 3, 5}, 1 << 2);  // kept 6, reduced 5
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < 5; ++j) {
      double dot = 0;
      for (size_t k = 0; k < 6; ++k) dot += values_[k * 5 + i] * values_[k * 5 + j];
      EXPECT_NEAR(dot, i == j, 1e-14);
    }
  }
}

TEST_F(Train, ValuesDependOnSeedAndNameOnly) {
  start(ATTN_INIT_NORMAL, 0, 1, {10}, 0);
  const std::vector<double> first = values_;
  start(ATTN_INIT_NORMAL, 0, 1, {20}, 0);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), values_.begin()));
  start(ATTN_INIT_NORMAL, 0, 1, {10}, 0, 2);
  EXPECT_NE(values_, first);
  start(ATTN_INIT_NORMAL, 0, 1, {10}, 0, 1, "v");
  EXPECT_NE(values_, first);
}

TEST_F(Train, IntegersHaveNoRandomStart) {
  int32_t data[2];
  attn_argument argument = {"t", ATTN_I32, 1, {"2"}, 0, "t", ATTN_INIT_XAVIER, 0, 0, 0};
  const attn_tensor tensor = {data, ATTN_I32, 1, {2}};
  EXPECT_EQ(attn_initialise(context_, &argument, &tensor, 1), ATTN_REFUSED);
  EXPECT_STREQ(attn_context_message(context_), "t: i32 has no random initialisation");
}

// Sizes above one block, so that threads share the work.
constexpr int64_t kCount = 40000;

struct Step {
  std::vector<float> p, g, m, v;
  Step() : p(kCount), g(kCount), m(kCount), v(kCount) {
    for (size_t k = 0; k < kCount; ++k) {
      p[k] = static_cast<float>(std::sin(0.1 * static_cast<double>(k)));
      g[k] = static_cast<float>(std::cos(0.3 * static_cast<double>(k)));
    }
  }
  static attn_tensor of(std::vector<float>& values) {
    return {values.data(), ATTN_F32, 2, {4, kCount / 4}};
  }
};

TEST_F(Train, AdamFollowsItsFormula) {
  Step step;
  std::vector<double> p(step.p.begin(), step.p.end()), m(kCount), v(kCount);
  const attn_adam options = {0.01, 0.9, 0.99, 1e-8, 0.1};
  const attn_tensor tp = Step::of(step.p), tg = Step::of(step.g), tm = Step::of(step.m),
                    tv = Step::of(step.v);
  for (int t = 1; t <= 3; ++t) {
    ASSERT_EQ(attn_adam_step(context_, &options, t, 1, &tp, &tg, &tm, &tv), ATTN_OK);
    for (size_t k = 0; k < kCount; ++k) {
      const double g = step.g[k];
      m[k] = 0.9 * m[k] + 0.1 * g;
      v[k] = 0.99 * v[k] + 0.01 * g * g;
      const double mh = m[k] / (1 - std::pow(0.9, t)), vh = v[k] / (1 - std::pow(0.99, t));
      p[k] -= 0.01 * (mh / (std::sqrt(vh) + 1e-8) + 0.1 * p[k]);
      ASSERT_NEAR(step.p[k], p[k], 1e-6) << k;
    }
  }
}

TEST_F(Train, SgdFollowsItsFormula) {
  Step step;
  std::vector<double> p(step.p.begin(), step.p.end()), v(kCount);
  const attn_sgd options = {0.1, 0.9, 0.01};
  const attn_tensor tp = Step::of(step.p), tg = Step::of(step.g), tv = Step::of(step.v);
  for (int t = 0; t < 3; ++t) {
    ASSERT_EQ(attn_sgd_step(context_, &options, 1, &tp, &tg, &tv), ATTN_OK);
    for (size_t k = 0; k < kCount; ++k) {
      v[k] = 0.9 * v[k] + step.g[k] + 0.01 * p[k];
      p[k] -= 0.1 * v[k];
      ASSERT_NEAR(step.p[k], p[k], 1e-6) << k;
    }
  }
}

TEST_F(Train, StepsOfEveryRealType) {
  for (const attn_type type : {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16}) {
    double p = 0, g = 0, v = 0;
    attn_tensor tp = {&p, type, 0, {}}, tg = {&g, attn_gradient_type(type), 0, {}},
                tv = {&v, attn_state_type(type), 0, {}};
    const uint16_t one16 = attn_f16_from_f64(1), one_b = attn_bf16_from_f64(1);
    const float one = 1;
    const double wide = 1;
    const void* ones[] = {&one, &wide, &one16, &one_b};
    memcpy(&p, ones[tp.type], static_cast<size_t>(attn_type_size(tp.type)));
    memcpy(&g, ones[tg.type], static_cast<size_t>(attn_type_size(tg.type)));
    const attn_sgd options = {0.5, 0.5, 0};
    ASSERT_EQ(attn_sgd_step(context_, &options, 1, &tp, &tg, &tv), ATTN_OK);
    float narrow;
    uint16_t half;
    memcpy(&narrow, &p, sizeof narrow);
    memcpy(&half, &p, sizeof half);
    const double results[] = {narrow, p, attn_f32_from_f16(half), attn_f32_from_bf16(half)};
    const double result = results[type];
    EXPECT_EQ(result, 0.5) << attn_type_name(type);
  }
}

TEST_F(Train, StepsDoNotDependOnTheNumberOfThreads) {
  std::vector<std::vector<float>> results;
  std::vector<double> norms;
  for (const int threads : {1, 2, 3, 7}) {
    attn_context_set_threads(context_, threads);
    Step step;
    const attn_adam options = ATTN_ADAM_DEFAULTS;
    const attn_tensor tp = Step::of(step.p), tg = Step::of(step.g), tm = Step::of(step.m),
                      tv = Step::of(step.v);
    norms.push_back(attn_gradient_norm(context_, 1, &tg));
    ASSERT_EQ(attn_adam_step(context_, &options, 1, 1, &tp, &tg, &tm, &tv), ATTN_OK);
    results.push_back(step.p);
    EXPECT_EQ(results.back(), results.front());
    EXPECT_EQ(norms.back(), norms.front());
  }
  EXPECT_NEAR(norms[0], std::sqrt(kCount / 2.0), 1);
}

TEST_F(Train, NormAndScaleSpanAllTensors) {
  float a[] = {3, 0};
  double b[] = {4};
  const attn_tensor tensors[] = {
      {a, ATTN_F32, 1, {2}}, {nullptr, ATTN_F32, 1, {9}}, {b, ATTN_F64, 0, {}}};
  EXPECT_EQ(attn_gradient_norm(context_, 3, tensors), 5);
  EXPECT_EQ(attn_scale(context_, 3, tensors, 0.5), ATTN_OK);
  EXPECT_EQ(attn_gradient_norm(context_, 3, tensors), 2.5);
}

TEST_F(Train, StepsRefuseBeforeTheyWrite) {
  float p[] = {1, 1}, g[] = {1, 1}, v[] = {0, 0};
  const attn_sgd options = {0.1, 0.9, 0};
  attn_tensor params[] = {{p, ATTN_F32, 0, {}}, {p + 1, ATTN_F32, 0, {}}};
  attn_tensor gradients[] = {{g, ATTN_F32, 0, {}}, {g + 1, ATTN_F32, 1, {1}}};
  attn_tensor state[] = {{v, ATTN_F32, 0, {}}, {v + 1, ATTN_F32, 0, {}}};
  EXPECT_EQ(attn_sgd_step(context_, &options, 2, params, gradients, state), ATTN_REFUSED);
  EXPECT_STREQ(attn_context_message(context_),
               "gradient 1: its extents differ from the parameter's");
  EXPECT_EQ(p[0], 1);
  EXPECT_EQ(attn_sgd_step(context_, &options, 1, params, gradients, nullptr), ATTN_REFUSED);
  state[0].type = ATTN_F64;
  EXPECT_EQ(attn_sgd_step(context_, &options, 1, params, gradients, state), ATTN_REFUSED);
  gradients[0].data = nullptr;
  EXPECT_EQ(attn_sgd_step(context_, &options, 1, params, gradients, state), ATTN_OK);
  EXPECT_EQ(p[0], 1);
}

}  // namespace
