// Sums of which each is the one before, or after, and one more term.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "agreement.h"

namespace attn::testing {
namespace {

const CallOptions kForward{.gradient = false};

Library& sums() {
  static Library library(compile_text(R"(
size B, T, D, H
train model lines(x: [B, T], h: bf16[B, T], keep: [B, T]) -> a, b, c, d, e {
  a[b,i: T] = sum[j: T where j <= i] x[b,j]
  b[b,i: T] = sum[j: T where j < i] x[b,j] * h[b,j]
  c[b,i: T] = sum[j: T where j >= i] exp(x[b,j])
  d[b,i: T] = sum[j: T where j > i and keep[b,j] > 0] x[b,j]
  e[b,i: T] = mean[j: T where j <= i] x[b,j]
}
train model rows(x: [T, D], y: [B, T, D]) -> a, b, c {
  a[i: T,d] = sum[j: T where j <= i] x[j,d]
  b[b,i: T,d] = sum[j: T where j > i] y[b,j,d]
  c[b,d,i: T] = sum[j: T where j <= i] y[b,j,d]
}
train model extremes(x: [B, T, D]) -> most, least, all {
  most[b,i: T,d] = max[j: T where j <= i] x[b,j,d]
  least[b,i: T,d] = min[j: T where j >= i] x[b,j,d]
  all[b,i: T,d] = prod[j: T where j < i] x[b,j,d]
}
model counts(on: int[T], e: int[T]) -> place, slot {
  place[t: T] = sum[s: T where s < t] on[s]
  slot[t: T, k: 8] = sum[s: T where s <= t] (if e[s] == k then 1 else 0)
}
train model gates(q: [B, H, T, D], k: [B, H, T, D], v: [B, H, T, D], f: [B, H, T]) -> z {
  c[b,h,i: T] = sum[j: T where j <= i] log(sigmoid(f[b,h,j]))
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] + c[b,h,i] - c[b,h,j]
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
}
train model sticks(q: [B, T, D], k: [B, T, D], v: [B, T, D]) -> z {
  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
  r[b,i,j: T] = sum[l where j < l and l < i] log1p(exp(s[b,i,l]))
  a[b,i,j] = exp(s[b,i,j] - log1p(exp(s[b,i,j])) - r[b,i,j]) where j < i
  z[b,i,e] = sum[j] a[b,i,j] * v[b,j,e]
}
)"));
  return library;
}

TEST(RunningSums, GiveWhatTheEvaluatorGives) {
  for (int64_t t : {0, 1, 2, 3, 15, 16, 17, 67})
    for (int64_t b : {0, 1, 3})
      for (int64_t d : {0, 1, 5, 16, 19})
        for (const char* name : {"lines", "rows", "extremes", "sticks"}) {
          Sizes sizes = {{"B", b}, {"T", t}, {"D", d}};
          if (name == std::string("lines")) sizes.erase("D");
          SCOPED_TRACE(name + (" " + text_of(sizes)));
          expect_agreement(sums(), name, random_call(sums().model(name), sizes, 3), 5e-5);
        }
  for (int64_t t : {0, 1, 3, 40}) {
    const Arrays counted = random_call(sums().model("counts"), {{"T", t}}, 3, 8);
    const Outcome o = sums().call(counted, kForward, "counts");
    EXPECT_EQ(differ(sums().reference(counted, "counts", kForward), o.values, 0), "") << o.message;
    for (int64_t b : {0, 2})
      expect_agreement(
          sums(), "gates",
          random_call(sums().model("gates"), {{"B", b}, {"H", 3}, {"T", t}, {"D", 8}}, 3), 5e-5);
  }
}

// Three thousand terms follow each other; the last sum is as exact as the first.
TEST(RunningSums, OfManyTermsAreExact) {
  Arrays given = random_call(sums().model("lines"), {{"B", 1}, {"T", 3001}}, 3);
  for (const char* name : {"x", "h", "keep"})
    for (double& v : given.at(name).values) v = as_stored(std::abs(v), ir::Storage::bf16);
  const Outcome o = sums().call(given, kForward, "lines");
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  const Arrays want = sums().reference(given, "lines", kForward);
  for (const char* name : {"a", "b", "c"})
    for (size_t k = 0; k < 3001; ++k)
      ASSERT_NEAR(o.values.at(name).values[k], want.at(name).values[k],
                  1e-6 * std::abs(want.at(name).values[k]))
          << name << " " << k;
}

// A term that is not finite is in the sums that have it, and in no other.
TEST(RunningSums, HaveTheirOwnTerms) {
  Arrays given = random_call(sums().model("rows"), {{"B", 2}, {"T", 20}, {"D", 3}}, 3);
  const Outcome clean = sums().call(given, kForward, "rows");
  given.at("y").values[7 * 3 + 1] = std::numeric_limits<double>::quiet_NaN();  // y[0,7,1]
  const Outcome o = sums().call(given, kForward, "rows");
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  for (size_t b = 0; b < 2; ++b)
    for (size_t i = 0; i < 20; ++i)
      for (size_t d = 0; d < 3; ++d) {
        const bool here = b == 0 && d == 1;
        const size_t row = (b * 20 + i) * 3 + d, column = (b * 3 + d) * 20 + i;
        const double down = o.values.at("b").values[row], up = o.values.at("c").values[column];
        if (here && i < 7)
          EXPECT_TRUE(std::isnan(down));
        else
          EXPECT_EQ(down, clean.values.at("b").values[row]);
        if (here && i >= 7)
          EXPECT_TRUE(std::isnan(up));
        else
          EXPECT_EQ(up, clean.values.at("c").values[column]);
      }
}

}  // namespace
}  // namespace attn::testing
