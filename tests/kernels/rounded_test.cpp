// Products of medium precision: kernels against the evaluator with factors rounded as theirs are.
#include <gtest/gtest.h>

#include "agreement.h"
#include "compiler/target/target.h"
#include "rounded.h"

namespace attn::testing {
namespace {

constexpr const char* kModels = R"(
size B, M, N, K, L = 40
train model plain(a: [M, K], b: [K, N]) -> y {
  y[i,j] = sum[k] a[i,k] * b[k,j]
}
train model turned(a: [B, K, M], b: [N, K], c: [N]) -> y {
  y[h,i,j] = relu(sum[k] a[h,k,i] * b[j,k] + c[j])
}
train model mixed(a: bf16[M, K], b: [K, N], c: f16[M, K], d: bf16[N, K]) -> y, z {
  y[i,j] = sum[k] a[i,k] * b[k,j]
  z[i,j] = sum[k] c[i,k] * d[j,k]
}
train model bent(a: [B, M, L], b: [B, N, L], c: [B, N, L]) -> z {
  s[h,i,j] = sum[e] a[h,i,e] * b[h,j,e] / 8
  z[h,i,f] = sum[j] (s[h,i,j] - tanh(s[h,i,j])) * c[h,j,f]
}
train model softened(a: [B, M, L], b: [B, N, L], c: [B, N, L]) -> z {
  s[h,i,j] = sum[e] a[h,i,e] * b[h,j,e] / 8
  p[h,i,j] = softmax[j where j <= i + 1] (s[h,i,j])
  z[h,i,f] = sum[j] p[h,i,j] * c[h,j,f]
}
)";

// Of the row's scale, with all that follows from numbers that lie between two of bf16.
struct Case {
  const char* model;
  double tolerance;
};
class Rounded : public ::testing::TestWithParam<Case> {};

TEST_P(Rounded, FactorsAreThoseOfTheEvaluator) {
  if (target::named(tested_target()).capability < 80) GTEST_SKIP() << "no factors are rounded here";
  const auto& [name, tolerance] = GetParam();
  std::vector<driver::Compiled> models;
  for (driver::Compiled& m :
       compile_text(kModels, {}, Derive::gradients, plan::Precision::medium))
    if (m.name == name) models.push_back(std::move(m));
  Library library(std::move(models));
  for (const Sizes& s : std::vector<Sizes>{{{"B", 2}, {"M", 67}, {"N", 61}, {"K", 70}},
                                           {{"B", 1}, {"M", 1}, {"N", 17}, {"K", 64}},
                                           {{"B", 3}, {"M", 17}, {"N", 1}, {"K", 3}}}) {
    SCOPED_TRACE(text_of(s));
    const Arrays given = random_call(library.model(), s, 3);
    Outcome o = library.call(given);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    const Arrays want = reference_of_rounded_factors(library.model(), given);
    EXPECT_EQ(differ(want, o.values, tolerance / slack_of_products()), "");
    EXPECT_NE(differ(library.reference(given), o.values, 1e-5 / slack_of_products()), "")
        << "products are exact";
  }
}
INSTANTIATE_TEST_SUITE_P(Products, Rounded,
                         ::testing::Values(Case{"plain", 1e-5}, Case{"turned", 1e-5},
                                           Case{"mixed", 1e-5}, Case{"bent", 1e-4},
                                           Case{"softened", 1e-3}),
                         [](const auto& of) { return std::string(of.param.model); });

}  // namespace
}  // namespace attn::testing
