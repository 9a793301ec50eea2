// Sums of products: in which order, over nothing, scaled and hidden by this and that; each against
// the evaluator.
#include <gtest/gtest.h>

#include "agreement.h"

namespace attn::testing {
namespace {

// A factor that leaves a sum is not infinite where there is nothing to sum.
TEST(Sums, OverNothingAreZeroWhateverDividesThem) {
  const std::string models = R"(
size M = 16
train model product(x: [T, N], w: [N, K]) -> z {
  z[j,k] = sum[n] x[j,n] * w[n,k] / N
}
train model sums(x: [T, N]) -> z, y {
  z[j] = sum[n] x[j,n] / N
  y = sum[j,n] x[j,n] / N / T
}
train model weights(q: [T, K], k: [N, K]) -> z {
  p[i,j] = exp(sum[e] q[i,e] * k[j,e] / K)
  z[i,e] = sum[j] p[i,j] * k[j,e] / N
}
train model softened(q: [T, K], k: [N, K]) -> z {
  s[i,j] = sum[e] q[i,e] * k[j,e] / K
  p[i,j] = softmax[j] (s[i,j] / N)
  z[i,e] = sum[j] p[i,j] * k[j,e] / N / T
}
train model apart(q: [T, K], k: [N, K], v: [N, M]) -> z {
  p[i,j] = sigmoid(sum[e] q[i,e] * k[j,e]) where j <= i + 1
  z[i,f] = sum[j] p[i,j] * v[j,f]
}
train model aside(q: [T, M], k: [N, M], v: [N, K]) -> l, z {
  s[i,j] = sum[e] q[i,e] * k[j,e]
  l[i] = logsumexp[j] s[i,j]
  p[i,j] = exp(s[i,j] - l[i]) / (2 + tanh(l[i]))
  z[i,f] = sum[j] p[i,j] * v[j,f]
}
train model means(x: [T, N]) -> z, y {
  z[j] = mean[n] x[j,n]
  y = mean[j,n] x[j,n]
}
)";
  const std::vector<std::string> names = {"product", "sums",  "weights", "softened",
                                          "apart",   "aside", "means"};
  Library library(compile_text("size T, N, K" + models));
  for (const std::string& name : names)
    for (int64_t n : {0, 1, 3})
      for (int64_t t : {0, 1, 3})
        for (int64_t k : {0, 3}) {
          const Sizes s = {{"T", t}, {"N", n}, {"K", k}};
          SCOPED_TRACE(name + " " + text_of(s));
          expect_agreement(library, name, random_call(library.model(name), s, 3), 2e-5);
        }
  for (const std::string empty : {"T", "N", "K"}) {
    std::string sizes;
    for (const std::string size : {"T", "N", "K"})
      sizes += "size " + size + (size == empty ? " = 0\n" : "\n");
    Library compiled_in(compile_text(sizes + models));
    for (const std::string& name : names) {
      Sizes s = {{"T", 2}, {"N", 3}, {"K", 4}};
      s[empty] = 0;
      SCOPED_TRACE(name + " " + text_of(s));
      expect_agreement(compiled_in, name, random_call(compiled_in.model(name), s, 3), 2e-5);
    }
  }
}

TEST(Products, ComeInTheOrderThatTakesLeast) {
  Library library(compile_file(ATTN_SOURCE_DIR "/tests/stages/products.attn"));
  for (int64_t b : {0, 1, 3, 17, 67})
    expect_agreement(library, "products", random_call(library.model(), {{"B", b}}, 3), 2e-5);
  Library wide(compile_file(ATTN_SOURCE_DIR "/tests/stages/causal_products.attn"));
  for (int64_t t : {0, 1, 3, 47, 65})
    expect_agreement(wide, "causal_products", random_call(wide.model(), {{"B", 2}, {"T", t}}, 3),
                     2e-5);
}

TEST(Products, OfFewPlanes) {
  Library library(compile_text(R"(
size B, T, H = 5, G = 4
train model mixed(s: [B, H, T, T], u: [T, H]) -> r, t, v {
  param a: [H, G], c: [G, H]
  r[b,g,i,j] = sum[h] s[b,h,i,j] * a[h,g]    where j <= i
  t[g,b,i,j] = relu(sum[h] s[b,h,i,j] * c[g,h])
  v[g,i] = sum[h] c[g,h] * u[i,h]
}
)"));
  for (const Sizes& s : std::vector<Sizes>{
           {{"B", 2}, {"T", 17}}, {{"B", 1}, {"T", 1}}, {{"B", 0}, {"T", 3}}, {{"B", 3}, {"T", 0}}})
    expect_agreement(library, "mixed", random_call(library.model(), s, 3), 2e-5);
}

// A factor of the whole sum that is one thing or another, by the row, the column or data.
TEST(Scales, OfTwoCases) {
  Library library(compile_text(R"(
size B, T, S, E = 8, F = 5
train model softened(q: [B, T, E], k: [B, S, E], v: [B, S, F], w: [B, T]) -> z, y {
  p[b,i,j] = softmax[j] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,f] = sum[j] p[b,i,j] * v[b,j,f] * (if i == 0 then 1 else 0.25)
  y[b,i,f] = sum[j] p[b,i,j] * v[b,j,f] * (if w[b,i] > 0 then 3 else 0.5) * (if i > 1 then 1 else 0)
}
train model weighted(q: [B, T, E], k: [B, S, E], v: [B, S, F], w: [B, S]) -> z, columns, n {
  p[b,i,j] = relu(sum[e] q[b,i,e] * k[b,j,e]) where j <= i + 3
  z[b,i,f] = sum[j] p[b,i,j] * v[b,j,f] * (if i % 2 == 0 then 2 else 0.5)
  columns[b,j] = sum[i] p[b,i,j] * (if w[b,j] > 0 then 1 else 0.25)
  n[i: T] = sum[b,j] p[b,i,j] * (if i == 0 then 1 else 0.25)
}
)"));
  for (const char* name : {"softened", "weighted"})
    for (int64_t t : {0, 1, 3, 49})
      expect_agreement(library, name,
                       random_call(library.model(name), {{"B", 2}, {"T", t}, {"S", 17}}, 3), 2e-5);
}

TEST(Conditions, ThatExcludeEachOther) {
  Library library(compile_text(R"(
size T, N = 16
train model none(x: [T, N], y: [T], u: [N]) -> h, z {
  a[i: N,t: T] = tanh((sum[j where not (i > 1)] u[j] * 0.5) * 0.25) where t % 2 == 0 and t % 2 == 1
  c[t,i: N] = tanh(a[1,t] + y[t])
  h[t,j] = tanh((mean[k: N] (x[t,j] + c[t,k])) * 0.25)
  z[t] = sum[j where j < 3 and j > 5] x[t,j] * u[j]
}
)"));
  for (int64_t t : {0, 1, 19})
    expect_agreement(library, "none", random_call(library.model(), {{"T", t}}, 3), 2e-5);
}

}  // namespace
}  // namespace attn::testing
