// Initialisation and norms, against their formulas.
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

TEST_F(Train, NormsDoNotDependOnTheNumberOfThreads) {
  // Above one block, so that threads share the work.
  std::vector<float> values(40000);
  for (size_t k = 0; k < values.size(); ++k) {
    values[k] = static_cast<float>(std::cos(0.3 * static_cast<double>(k)));
  }
  const attn_tensor tensor = {values.data(), ATTN_F32, 2, {4, 10000}};
  std::vector<double> norms;
  for (const int threads : {1, 2, 3, 7}) {
    attn_context_set_threads(context_, threads);
    norms.push_back(attn_gradient_norm(context_, 1, &tensor));
    EXPECT_EQ(norms.back(), norms.front());
  }
  EXPECT_NEAR(norms[0], std::sqrt(20000.0), 1);
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

TEST_F(Train, AddsScaledTerms) {
  // Above one block, so that threads share the work.
  std::vector<float> a(150000, 1), b(150000);
  for (size_t k = 0; k < b.size(); ++k) b[k] = static_cast<float>(k % 1000);
  double c = 1, d = 3;
  uint16_t e[] = {attn_bf16_from_f32(2)}, f[] = {attn_bf16_from_f32(4)};
  const attn_tensor sums[] = {{a.data(), ATTN_F32, 2, {3, 50000}},
                              {nullptr, ATTN_F32, 1, {7}},
                              {&c, ATTN_F64, 0, {}},
                              {e, ATTN_BF16, 1, {1}}};
  const attn_tensor terms[] = {{b.data(), ATTN_F32, 2, {3, 50000}},
                               {nullptr, ATTN_F32, 1, {9}},
                               {&d, ATTN_F64, 0, {}},
                               {f, ATTN_BF16, 1, {1}}};
  attn_context_set_threads(context_, 3);
  ASSERT_EQ(attn_add(context_, 4, sums, terms, -0.5), ATTN_OK);
  for (size_t k = 0; k < a.size(); ++k) ASSERT_EQ(a[k], 1 - 0.5f * b[k]);
  EXPECT_EQ(c, -0.5);
  EXPECT_EQ(attn_f32_from_bf16(e[0]), 0);
  // Nothing is added where something does not fit.
  const attn_tensor wrong[] = {sums[0], sums[2], sums[1]};
  const attn_tensor to[] = {sums[0], sums[2], terms[2]};
  a[0] = 1;
  EXPECT_EQ(attn_add(context_, 3, wrong, to, 1), ATTN_REFUSED);
  EXPECT_STREQ(attn_context_message(context_), "tensor 2: the sum is not like what is added to it");
  EXPECT_EQ(a[0], 1);
}

TEST_F(Train, ScaleRefusesWhatIsNotReal) {
  int32_t whole = 3;
  const attn_tensor tensor = {&whole, ATTN_I32, 0, {}};
  EXPECT_EQ(attn_scale(context_, 1, &tensor, 2), ATTN_REFUSED);
  EXPECT_STREQ(attn_context_message(context_),
               "tensor 0: it is not real or its shape is not valid");
  EXPECT_EQ(whole, 3);
}

}  // namespace
