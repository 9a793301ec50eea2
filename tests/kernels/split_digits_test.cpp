// Convolutions with strides, between more points, and of groups of channels: products over an index
// of which one factor reads a digit alone.
#include <gtest/gtest.h>

#include "agreement.h"

namespace attn::testing {
namespace {

Library& convolutions() {
  static Library library(compile_text(R"(
size B, C = 6, D = 8, R, S, K = 3, L = 4, G = 2
train model strided(x: [B, C, 2*R, 2*S], w: [D, C, K, K], bias: [D]) -> y {
  a[b,d,i: R,j: S] = sum[c, u: K, v: K where inside] x[b,c,2*i + u - 1,2*j + v - 1] * w[d,c,u,v]
  y[b,d,i,j] = relu(a[b,d,i,j] + bias[d])
}
train model between(x: [B, C, R, S], w: [C, D, L, L]) -> y {
  y[b,d,i: 2*R,j: 2*S] = sum[c, u: L, v: L where (i + 1 - u) % 2 == 0 and (j + 1 - v) % 2 == 0
                             and inside] x[b,c,(i + 1 - u) // 2,(j + 1 - v) // 2] * w[c,d,u,v]
}
train model steps(x: [B, 3*R, C], w: [D, C, 5]) -> y {
  y[b,i: R,d] = sum[c, u: 5 where inside] x[b,3*i + u - 2,c] * w[d,c,u]
}
train model grouped(x: [B, G*C, R, S], w: [G*D, C, K, K], bias: [G*D]) -> y {
  y[b,d: G*D,i: R,j: S] = bias[d] + sum[c: C, u: K, v: K where inside] w[d,c,u,v] *
                          x[b,C*(d // D) + c,i + u - 1,j + v - 1]
}
train model heads(x: [B, G*C], w: [G*D, C]) -> y {
  y[b,d: G*D] = sum[c: C] x[b,C*(d // D) + c] * w[d,c]
}
)"));
  return library;
}

TEST(SplitDigits, GiveWhatTheEvaluatorGives) {
  for (int64_t b : {0, 1, 2, 5})
    for (int64_t r : {0, 1, 3, 8})
      for (int64_t s : {0, 1, 7, 17})
        for (const char* name : {"strided", "between", "grouped"}) {
          const Sizes sizes = {{"B", b}, {"R", r}, {"S", s}};
          SCOPED_TRACE(name + (" " + text_of(sizes)));
          expect_agreement(convolutions(), name, random_call(convolutions().model(name), sizes, 3),
                           2e-5);
        }
  for (int64_t b : {0, 1, 3, 33})
    for (int64_t r : {0, 1, 3, 31}) {
      const Sizes sizes = {{"B", b}, {"R", r}}, batch = {{"B", b}};
      SCOPED_TRACE(text_of(sizes));
      expect_agreement(convolutions(), "steps",
                       random_call(convolutions().model("steps"), sizes, 3), 2e-5);
      expect_agreement(convolutions(), "heads",
                       random_call(convolutions().model("heads"), batch, 3), 2e-5);
    }
}

}  // namespace
}  // namespace attn::testing
