// Variants of attention that people write, each a model of its own. None stores a tensor over two
// sequence axes, forward or backward.
#pragma once

#include <ostream>

namespace attn::testing {

struct Variant {
  const char* name;
  const char* text;
};

// What a failure prints.
inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

// Sizes B, T and S are known at run time, as is E where `E` is not defined by the text.
inline constexpr Variant kVariants[] = {
    {"window", R"(
size B, T
size H = 2, E = 33, F = 80
train model window(q: [B, T, H, E], k: [B, T, H, E], v: [B, T, H, F]) -> z {
  s[b,h,i,j] = sum[e] q[b,i,h,e] * k[b,j,h,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i and j > i - 60] (s[b,h,i,j])
  z[b,i,h,f] = sum[j] p[b,h,i,j] * v[b,j,h,f]
})"},
    {"slopes", R"(
size B, T
size H = 3, E = 16
train model slopes(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E]) -> z {
  param slope: [H]
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  c[b,h,i,j] = s[b,h,i,j] - slope[h] * (i - j) / 8
  p[b,h,i,j] = softmax[j where j <= i] (c[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"bias", R"(
size B, T, S
size H = 2, E = 8
train model bias(q: [B, H, T, E], k: [B, H, S, E], v: [B, H, S, E], bias: [H, T, S]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E) + bias[h,i,j]
  p[b,h,i,j] = softmax[j] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"clipped", R"(
size B, T
size H = 2, E = 8, K = 9
train model clipped(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E]) -> z {
  param r: [H, 2 * K + 1]
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E) + r[h, clamp(j - i, -K, K) + K]
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"distances", R"(
size B, T
size H = 2, E = 8
train model distances(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E], r: [H, T]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E) + r[h, i - j] where j <= i
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"capped", R"(
size B, T, S
size H = 2, E = 33, F = 20
train model capped(q: [B, T, H, E], k: [B, S, E], v: [B, S, F]) -> z {
  s[b,h,i,j] = 5 * tanh((sum[e] q[b,i,h,e] * k[b,j,e]) / 5)
  p[b,h,i,j] = softmax[j] (s[b,h,i,j])
  z[b,i,h,f] = sum[j] p[b,h,i,j] * v[b,j,f]
})"},
    {"prefix", R"(
size B, T
size H = 2, E = 16
train model prefix(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E], prefix: int[B]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i or j < prefix[b]] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"documents", R"(
size B, T
size H = 2, E = 16
train model documents(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E], doc: int[B, T]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i and doc[b,i] == doc[b,j]] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"padded", R"(
size B, T, S
size H = 2, E = 16
train model padded(q: [B, H, T, E], k: [B, H, S, E], v: [B, H, S, E], keep: bool[B, S]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where keep[b,j]] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"dropout", R"(
size B, T
size H = 2, E = 16
train model dropout(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E], seed: int) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  w[b,h,i,j] = if uniform(seed, b, h, i, j) < 0.9 then p[b,h,i,j] / 0.9 else 0
  z[b,h,i,e] = sum[j] w[b,h,i,j] * v[b,h,j,e]
})"},
    {"relative", R"(
size B, T
size H = 2, E = 8
train model relative(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E], r: [H, T, E]) -> z {
  param u: [H, E], c: [H, E]
  s[b,h,i,j] = sum[e] (q[b,h,i,e] + u[h,e]) * k[b,h,j,e] / sqrt(E)
  g[b,h,i,j: T] = sum[e] (q[b,h,i,e] + c[h,e]) * r[h, i - j, e] / sqrt(E) where j <= i
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j] + g[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"grouped", R"(
size B, T
size H = 6, G = 2, E = 16
train model grouped(q: [B, H, T, E], k: [B, G, T, E], v: [B, G, T, E]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h // (H // G),j,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h // (H // G),j,e]
})"},
    {"any_features", R"(
size B, T, S, H, E, F
train model any_features(q: [B, H, T, E], k: [B, H, S, E], v: [B, H, S, F]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / 4
  p[b,h,i,j] = softmax[j] (s[b,h,i,j])
  z[b,h,i,f] = sum[j] p[b,h,i,j] * v[b,h,j,f]
})"},
    {"sigmoid", R"(
size B, T
size H = 2, E = 16
train model sigmoids(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  p[b,h,i,j] = sigmoid(s[b,h,i,j] - log(float(T))) where j <= i
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"sink", R"(
size B, T
size H = 2, E = 16
train model sink(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E]) -> z {
  param sink: [H]
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  y[b,h,i] = logsumexp[j where j <= i] s[b,h,i,j]
  p[b,h,i,j] = exp(s[b,h,i,j] - y[b,h,i]) / (1 + exp(sink[h] - y[b,h,i])) where j <= i
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
})"},
    {"shaw", R"(
size B, T
size H = 2, E = 16, K = 4
train model shaw(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E]) -> z {
  param rk: [2 * K + 1, E], rv: [2 * K + 1, E]
  s[b,h,i,j] = sum[e] q[b,h,i,e] * (k[b,h,j,e] + rk[clamp(j - i, -K, K) + K, e]) / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * (v[b,h,j,e] + rv[clamp(j - i, -K, K) + K, e])
})"},
    {"pooled", R"(
size B, T
size H = 2, E = 16
train model pooled(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  p[b,h,i,j] = softmax[j] (s[b,h,i,j])
  z[b,e] = mean[h,i] (sum[j] p[b,h,i,j] * v[b,h,j,e])
})"},
    {"two_values", R"(
size B, T, S
size E = 16, F = 5
train model two_values(q: [B, T, E], k: [B, S, E], v: [B, S, E], w: [B, S, F], keep: [T, S]) -> z, y {
  s[b,i,j] = sum[e] q[b,i,e] * (k[b,j,e] + 1) / 4
  p[b,i,j] = softmax[j] (s[b,i,j])
  z[b,i,e] = sum[j] keep[i,j] * p[b,i,j] * v[b,j,e] * 2
  y[b,i,f] = sum[j] p[b,i,j] * w[b,j,f]
})"},
    {"vocabulary", R"(
size N, V
size D = 24
train model vocabulary(h: [N, D], target: int[N]) -> loss {
  param w: [V, D]
  l[n,v] = sum[d] h[n,d] * w[v,d]
  y[n] = logsumexp[v] l[n,v]
  loss = mean[n] (y[n] - l[n,target[n]])
})"},
    {"distance_weights", R"(
size T, E
train model distance_weights(x: [T, E]) -> y {
  param width: f32
  p[i: T, j: T] = softmax[j] (-abs(i - j) * width / 8)
  y[i,e] = sum[j: T] p[i,j] * x[j,e]
})"},
};

}  // namespace attn::testing
