// Derivatives of small models against central differences.
#include <gtest/gtest.h>

#include "forward_check.h"
#include "tests/support/build_graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/with_loss.h"

namespace attn::testing {
namespace {

// Values for a graph whose free sizes have the given values, in the order of declaration.
evaluate::Arrays values_for(const ir::Graph& g, const std::vector<int64_t>& free,
                            int64_t integers = 2) {
  std::vector<int64_t> sizes(g.sizes.size());
  size_t next = 0;
  for (size_t k = 0; k < sizes.size(); ++k)
    if (!g.sizes[k].value && !g.sizes[k].definition && !g.sizes[k].quotient)
      sizes[k] = free.at(next++);
  g.complete(sizes);
  return random_inputs(g, sizes, 3, integers);
}

void expect_right(const std::string& text, const std::vector<int64_t>& free = {},
                  int64_t integers = 2) {
  const ir::Graph g = build_graph(text);
  const evaluate::Arrays values = values_for(g, free, integers);
  EXPECT_EQ(check_gradient(g, values), "") << text;
  EXPECT_EQ(check_jvp(g, values), "") << text;
  EXPECT_EQ(check_hvp(with_loss(g), values), "") << text;
}

constexpr const char* kAttention = R"(
size B, T, D = 6, H = 2, E = D / H
input x[B,T,D]
param wq[H,E,D], wk[H,E,D], wv[H,E,D], wo[D,H,E]
q[b,h,i,e] = sum[d] x[b,i,d] * wq[h,e,d]
k[b,h,j,e] = sum[d] x[b,j,d] * wk[h,e,d]
v[b,h,j,e] = sum[d] x[b,j,d] * wv[h,e,d]
s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
p.lse[b,h,i] = logsumexp[j where j <= i] s[b,h,i,j]
p[b,h,i,j] = exp(s[b,h,i,j] - p.lse[b,h,i]) where j <= i
z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
y[b,i,d] = sum[h,e] z[b,h,i,e] * wo[d,h,e]
output y)";

TEST(Models, CausalAttention) {
  for (int64_t t : {1, 4}) expect_right(kAttention, {2, t});
  expect_right(kAttention, {2, 0});
  expect_right(kAttention, {0, 3});
}

TEST(Models, GroupedHeadsAndLengths) {
  expect_right(R"(
    size B, T, G = 2, R = 2, H = G * R, E = 3
    input q[B,H,T,E], k[B,G,T,E], v[B,G,T,E]
    int len[B]
    s[b,h,i,j] = sum[e where j < len[b]] q[b,h,i,e] * k[b,h // R,j,e]
    l[b,h,i] = logsumexp[j where j < len[b]] s[b,h,i,j]
    p[b,h,i,j] = exp(s[b,h,i,j] - l[b,h,i]) where j < len[b]
    y[b,h,i,e] = sum[j where j < len[b]] p[b,h,i,j] * v[b,h // R,j,e]
    output y)",
               {2, 3}, 4);
}

TEST(Models, RelativePlacesAndWindow) {
  expect_right(R"(
    size T, W = 3, E = 2
    input q[T,E], k[T,E]
    param r[2 * T - 1,E], a[T,2 * W + 1]
    s[i,j] = sum[e where 0 <= i - j < W] q[i,e] * (k[j,e] + r[i - j + T - 1,e])
    t[i,j: T] = s[i,j] * a[i,clamp(j - i, 0 - W, W) + W]
    y[i] = sum[j] tanh(t[i,j])
    output y)",
               {5});
}

TEST(Models, NormAndFeedForward) {
  expect_right(R"(
    size N, D = 5, F = 7
    input x[N,D]
    param gamma[D], beta[D], w1[F,D], b1[F], w2[D,F]
    mean[n] = sum[d] x[n,d] / D
    var[n] = sum[d] (x[n,d] - mean[n]) ^ 2 / D
    z[n,d] = (x[n,d] - mean[n]) / sqrt(var[n] + 0.00001) * gamma[d] + beta[d]
    a[n,f] = sum[d] z[n,d] * w1[f,d]
    u[n,f] = a[n,f] + b1[f]
    h[n,f] = 0.5 * u[n,f] * (1 + erf(u[n,f] / sqrt(2)))
    o[n,d] = sum[f] h[n,f] * w2[d,f]
    y[n,d] = x[n,d] + o[n,d]
    output y)",
               {3});
}

TEST(Models, ConvolutionStridedWithPadding) {
  expect_right(R"(
    size B, T, C = 2, K = 3, U = T // 2
    input x[B,C,T]
    param w[K,C,K]
    y[b,o,i: U] = sum[c, k where 0 <= 2 * i + k - 1 < T] x[b,c,2 * i + k - 1] * w[o,c,k]
    output y)",
               {2, 5});
}

TEST(Models, MaxPoolAndCrossEntropy) {
  expect_right(R"(
    size B, T, V = 4, U = T // 2
    input x[B,T]
    int target[B]
    param w[V,T]
    m[b,i: U] = max[k: 2 where 2 * i + k < T] x[b,2 * i + k]
    l[b,c: V] = sum[i] m[b,i] * w[c,i + U] where U >= 1
    z[b] = logsumexp[c] l[b,c]
    loss = sum[b] (z[b] - l[b,target[b]]) / B
    output loss)",
               {3, 4}, 4);
}

TEST(Models, EmbeddingTableReadTwice) {
  expect_right(R"(
    size B, T, V = 5, D = 3
    int token[B,T]
    param table[V,D]
    h[b,i,d] = table[token[b,i],d] * (i + 1)
    y[b,i,c: V] = sum[d] h[b,i,d] * table[c,d]
    output y)",
               {2, 3}, 5);
}

TEST(Models, ProductsWithNoneOneAndTwoZeros) {
  const ir::Graph g = build_graph(R"(
    input x[3,4]
    y[i] = prod[j] x[i,j]
    output y)");
  const evaluate::Array x{{3, 4}, {1, 2, -3, .5, 2, 0, 3, -1, 0, 2, 0, 5}};
  EXPECT_EQ(check_gradient(g, {{"x", x}}), "");
}

TEST(Models, PowersWithRealExponents) {
  expect_right(R"(
    size N
    input x[N], e[N]
    y[i] = (2 + x[i]) ^ e[i] + (x[i] ^ 2 + 1) ^ 1.5 / (3 + e[i]) ^ 2
    output y)",
               {4});
}

TEST(Models, ExtremaOfComputedOperands) {
  expect_right(R"(
    size N, M
    input x[N,M], w[M]
    y[i] = max[j where j <= i] x[i,j] * w[j] + w[j]
    z[i] = min[j] exp(x[i,j])
    output y, z)",
               {3, 4});
}

TEST(Models, PiecesChosenByConditions) {
  expect_right(R"(
    size P, S
    input past[P,2], new[S,2]
    param w[2]
    all[j: P + S, d] = if j < P then past[j,d] else new[j - P,d] * w[d]
    y[j,d] = all[j,d] * all[P + S - 1 - j,d]
    output y)",
               {2, 3});
}

}  // namespace
}  // namespace attn::testing
