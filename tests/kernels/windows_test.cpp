// Sums that read through a window along memory, with a border: convolutions of each channel alone,
// and of scores.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "agreement.h"

namespace attn::testing {
namespace {

Library& convolutions() {
  static Library library(compile_text(R"(
size B, T, R, S, C = 3
train model lines(x: [B, C, T], h: bf16[B, C, T], w: [C, 3], w4: [C, 4], w5: [C, 5]) -> y, u, v {
  y[b,c,t: T] = sum[k: 3 where inside] x[b,c,t + k - 1] * w[c,k]
  u[b,c,t: T] = sum[k: 4 where inside] h[b,c,t - k] * w4[c,k]
  v[b,c,t: T] = sum[k: 5 where inside] x[b,c,t + 2*k - 4] * w5[c,k]
}
train model images(x: [B, C, R, S], w: [C, 3, 5], bias: [C]) -> y {
  y[b,c,i: R,j: S] = (sum[u: 3, v: 5 where inside] x[b,c,i + u - 1,j + v - 2] * w[c,u,v]) + bias[c]
}
train model known(x: [B, C, 14, 19], w: [C, 3, 3]) -> y {
  y[b,c,i: 14,j: 19] = sum[u: 3, v: 3 where inside] x[b,c,i + u - 1,j + v - 1] * w[c,u,v]
}
train model weights(x: [B, C, R, 50], w: [C, 3, 3]) -> y {
  y[b,c,i: R,j: 50] = sum[u: 3, v: 3 where inside] x[b,c,i + u - 1,j + v - 1] * w[c,u,v]
}
train model longer(x: [B, C, T], w: [C, 3]) -> y {
  y[b,c,t: T + 2] = sum[k: 3 where inside] x[b,c,t - k] * w[c,k]
}
train model scores(q: [B, C, T, 8], k: [B, C, T, 8], v: [B, C, T, 8],
                   w: [C, 2, 3]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] where j <= i
  c[b, h, i: T, j: T] = sum[u: 2, n: 3 where inside] w[h,u,n] * s[b,h,i - u,j + n - 1]
  p[b,h,i,j] = softmax[j where j <= i] (c[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
}
)",
                                      {}, Derive::gradients));
  return library;
}

TEST(Windows, OfChannelsGiveWhatTheEvaluatorGives) {
  for (int64_t b : {0, 1, 2})
    for (int64_t t : {0, 1, 2, 3, 15, 16, 17, 33, 67})
      for (const char* name : {"lines", "longer"}) {
        const Sizes sizes = {{"B", b}, {"T", t}};
        SCOPED_TRACE(name + (" " + text_of(sizes)));
        const Arrays given = random_call(convolutions().model(name), sizes, 3);
        expect_agreement(convolutions(), name, given, 2e-5);
      }
  // Blocks of 8 rows of 512 elements have a window each.
  const Arrays given = random_call(convolutions().model("lines"), {{"B", 1}, {"T", 1100}}, 3);
  expect_agreement(convolutions(), "lines", given, 2e-5);
}

TEST(Windows, OfImagesGiveWhatTheEvaluatorGives) {
  for (int64_t b : {0, 1, 2})
    for (int64_t r : {0, 1, 7, 8, 9, 17})
      for (int64_t s : {0, 1, 3, 16, 19}) {
        const Sizes sizes = {{"B", b}, {"R", r}, {"S", s}};
        SCOPED_TRACE(text_of(sizes));
        const Arrays given = random_call(convolutions().model("images"), sizes, 3);
        expect_agreement(convolutions(), "images", given, 2e-5);
      }
  for (int64_t b : {0, 1, 3}) {
    expect_agreement(convolutions(), "known",
                     random_call(convolutions().model("known"), {{"B", b}}, 3), 2e-5);
    expect_agreement(convolutions(), "weights",
                     random_call(convolutions().model("weights"), {{"B", b}, {"R", 5}}, 3), 2e-5);
  }
}

TEST(Windows, OfScoresGiveWhatTheEvaluatorGives) {
  for (int64_t b : {0, 1, 2})
    for (int64_t t : {0, 1, 3, 16, 17, 40}) {
      const Sizes sizes = {{"B", b}, {"T", t}};
      SCOPED_TRACE(text_of(sizes));
      expect_agreement(convolutions(), "scores",
                       random_call(convolutions().model("scores"), sizes, 3), 5e-5);
    }
}

// A weight that is not finite changes only what it is visible from.
TEST(Windows, HideWhatIsBeyondTheBorder) {
  for (int64_t t : {1, 17, 40})
    for (double bad :
         {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      Arrays given = random_call(convolutions().model("lines"), {{"B", 1}, {"T", t}}, 3);
      const Outcome clean = convolutions().call(given, {.gradient = false}, "lines");
      given.at("w").values[0] = bad;  // of the element before, which the first one does not have
      const Outcome o = convolutions().call(given, {.gradient = false}, "lines");
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      const auto &want = clean.values.at("y").values, &got = o.values.at("y").values;
      EXPECT_EQ(got[0], want[0]);
      for (int64_t k = 1; k < t; ++k) EXPECT_FALSE(std::isfinite(got[k])) << k;
      for (size_t k = static_cast<size_t>(t); k < got.size(); ++k) EXPECT_EQ(got[k], want[k]) << k;
    }
}

}  // namespace
}  // namespace attn::testing
