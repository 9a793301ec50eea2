// Kinds of kernels and types of storage one by one, each against the evaluator.
#include <attn/types.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "agreement.h"

namespace attn::testing {
namespace {

// ---- reductions

// Names that Halide or a schedule makes up too are the user's to take.
TEST(Reductions, OfTensorsOfAnyName) {
  Library library(compile_text(R"(
size B in 1.., t10, r0, b1, a3
train model names(a0: [B, t10, r0], largest: [t10, r0], rest: [r0], t92: [B, b1], out: [b1, a3]) ->
    a1, t1, s2, v0 {
  a1[b: B,i: t10,j: t10] = logsumexp[k: t10,l] a0[b,i,l] * largest[k,l]
  t1[i,j: b1] = logsumexp[k: t10,l] largest[i,l] * rest[l]
  s2[i,k] = sum[j] t92[i,j] * out[j,k]
  v0[i,j] = softmax[j] (a0[0,i,j] * rest[j])
}
)"));
  for (int64_t n : {1, 3, 17})
    expect_agreement(library, "names",
                     random_call(library.model(),
                                 {{"B", 2}, {"t10", n}, {"r0", 5}, {"b1", n + 1}, {"a3", 4}}, 3),
                     2e-5);
}

constexpr const char* kReductions = R"(
size N, M, K
# Over the last index, where data says which.
train model rows(x: [N, M], count: int[N]) ->
    total, largest, least, average, product, first: int, lse, p {
  total[i] = sum[j where j < count[i]] x[i,j]
  largest[i] = max[j where j < count[i]] x[i,j]
  least[i] = min[j where j < count[i]] x[i,j]
  average[i] = mean[j where j < count[i]] x[i,j]
  product[i] = prod[j where j < count[i]] x[i,j]
  first[i] = argmax[j where j < count[i]] x[i,j]
  lse[i] = logsumexp[j where j < count[i]] x[i,j]
  p[i,j] = softmax[j where j < count[i]] (x[i,j])
}
# Over the first index.
train model columns(x: [N, M], count: int[M]) ->
    total, largest, least, average, product, first: int, lse, p {
  total[j] = sum[i where i < count[j]] x[i,j]
  largest[j] = max[i where i < count[j]] x[i,j]
  least[j] = min[i where i < count[j]] x[i,j]
  average[j] = mean[i where i < count[j]] x[i,j]
  product[j] = prod[i where i < count[j]] x[i,j]
  first[j] = argmax[i where i < count[j]] x[i,j]
  lse[j] = logsumexp[i where i < count[j]] x[i,j]
  p[i,j] = softmax[i where i < count[j]] (x[i,j])
}
# Over two of three, and over all.
train model several(x: [N, M, K]) -> total, largest, least, product, lse, all, top, everything {
  total[j] = sum[i,k where k <= i] x[i,j,k]
  largest[j] = max[i,k where k <= i] x[i,j,k]
  least[j] = min[i,k where k <= i] x[i,j,k]
  product[j] = prod[i,k where k <= i] x[i,j,k]
  lse[j] = logsumexp[i,k where k <= i] x[i,j,k]
  all = sum[i,j,k] x[i,j,k]^2
  top = max[i,j,k] x[i,j,k]
  everything = logsumexp[i,j,k] x[i,j,k]
}
)";

TEST(Reductions, CombineInEveryWay) {
  Library library(compile_text(kReductions));
  for (const Sizes& s : std::vector<Sizes>{{{"N", 1}, {"M", 1}, {"K", 1}},
                                           {{"N", 5}, {"M", 7}, {"K", 3}},
                                           {{"N", 33}, {"M", 17}, {"K", 2}},
                                           {{"N", 3}, {"M", 64}, {"K", 5}},
                                           {{"N", 0}, {"M", 4}, {"K", 3}},
                                           {{"N", 4}, {"M", 0}, {"K", 3}},
                                           {{"N", 4}, {"M", 3}, {"K", 0}},
                                           {{"N", 0}, {"M", 0}, {"K", 0}}}) {
    for (const char* name : {"rows", "columns", "several"}) {
      SCOPED_TRACE(name + (" " + text_of(s)));
      // Counts from 0, which leave nothing, up to more than there is.
      expect_agreement(library, name, random_call(library.model(name), s, 11, 9));
    }
  }
}

// A scalar and the two planes of another leave one kernel of one row.
TEST(Reductions, LeaveScalarsBesideOthers) {
  Library library(compile_text(R"(
size N
train model score(x: [N]) -> p, bounded {
  param scale: f32
  p[i: N] = softmax[i] (float(i) / 8 + erf(scale))
  bounded = clamp(logsumexp[i: N] exp(scale), 1, 16)
}
)"));
  for (int64_t n : {0, 1, 3, 17, 64})
    expect_agreement(library, "score", random_call(library.model(), {{"N", n}}, 7), 2e-5);
}

// Forward takes the sum in two parts; the gradient has another part of the same sum.
TEST(Reductions, InPartsOfTheSameName) {
  Library library(compile_text(R"(
size B, T, M = 3
train model twice(x: [B, M]) -> y {
  param scale: f32, w: [T]
  c[i: B] = (sum[j: M,k] scale * w[k]) / 2
  y[i,j] = c[i] * x[i,j]
}
)"));
  for (int64_t n : {0, 1, 3, 17})
    expect_agreement(library, "twice", random_call(library.model(), {{"B", n}, {"T", n + 2}}, 7),
                     2e-5);
}

// The sum over j that the gradient takes out is asked for where the row after k is there.
TEST(Reductions, ReadNothingOutsideOfWhatTheyAreAskedFor) {
  Library library(compile_text(R"(
size B, T, N
train model shifted(x: [B, T, T], w: [B, T, N]) -> y {
  a[i,t,k] = tanh(x[i,t,k])
  y[i,t,j: N] = if t < T - 1 then tanh(a[i,t + 1,t] - w[i,t,j]) * w[i,t,j] else 0
}
)"));
  for (int64_t t : {0, 1, 3, 7}) {
    const Arrays given = random_call(library.model(), {{"B", 2}, {"T", t}, {"N", 5}}, 7);
    expect_agreement(library, "shifted", given, 2e-5);
    EXPECT_EQ(differ_from_differences(library.model(), given), "");
  }
}

// ---- convolutions

constexpr const char* kConvolutions = R"(
size N, C, H, W, O
train model same(x: [N, C, H, W]) -> y {
  param k: [O, C, 3, 3], b: [O]
  y[n,o,i: H,j: W] = (sum[c,u,v where inside] x[n,c,i + u - 1,j + v - 1] * k[o,c,u,v]) + b[o]
}
train model strided(x: [N, C, 2 * H + 1, W + 4]) -> y {
  param k: [O, C, 3, 3]
  y[n,o,i: H,j: W] = sum[c,u,v] x[n,c,2*i + u,j + 2*v] * k[o,c,u,v]
}
train model pooled(x: [N, 2 * H]) -> y {
  y[n,i: H] = max[u: 2] x[n,2*i + u]
}
)";

// Sums down the columns and rows of their own from loops over as many rows as a block has.
TEST(Reductions, OfAKnownNumberOfRows) {
  for (const char* m : {"1", "3"}) {
    Library library(compile_text(std::string("size N = 16, M = ") + m + R"(
train model rows(w: [M, N]) -> a, z {
  u[i] = 1 - w[0,i]
  a[i,j,k] = (mean[l: M] u[9]) * 0.25 + w[k,i] - u[j]
  z[i: N,j: N,k: N] = if i >= 2 then a[i - 2,j,0] * w[0,k] else 1
}
)"));
    expect_agreement(library, "rows", random_call(library.model(), {}, 3), 2e-5);
  }
}

// Conditions bound the loops by numbers that the size may not reach.
TEST(Reductions, OverPartOfWhatIsThere) {
  Library library(compile_text(R"(
size B, T
train model window(x: [B, T], y: [B, T], g: [T]) -> all, lse, first: int, later {
  all = prod[i: B,t where t >= 1 and t < 2] x[i,t]
  lse = logsumexp[i: B,t where t >= 2 and t < 5] x[i,t] * y[i,t]
  first[t: T] = argmax[i where i >= 1 and i < 3] x[i,t]
  s[t: T,i: 4,j: T] = t * g[t]
  later[i: 4,j: 4,k: T] = if i >= 2 then s[k,i - 2,k] else 1
}
)"));
  for (int64_t t : {0, 1, 2, 3, 7})
    for (int64_t b : {0, 1, 3})
      expect_agreement(library, "window", random_call(library.model(), {{"B", b}, {"T", t}}, 3));
}

// A free index is bounded by numbers from both sides, and the size may be smaller than they are.
TEST(Reductions, AtOnePlaceThatMayNotBeThere) {
  Library library(compile_text(R"(
size B in 1.., T, N
train model place(x: [B, T, N]) -> y, z {
  scan t: T {
    y[t, i, j: N] = if not t > 1 then h[0, t - 1, j] else h[0, t - 1, i]
    h[i,t,j] = x[i,t,j] from 0
  }
  z[t: T,i: N] = if t == 2 or t == 3 then sum[b] x[b,t,i] else 0
}
)"));
  for (int64_t t : {0, 1, 2, 3, 4, 7})
    for (int64_t n : {0, 1, 5})
      expect_agreement(library, "place",
                       random_call(library.model(), {{"B", 2}, {"T", t}, {"N", n}}, 3));
}

// A number bounds the places that have anything, of which there may be fewer than a vector has.
TEST(Reductions, OfPlacesBelowANumber) {
  Library library(compile_text(R"(
size T, N = 1
train model below(x: [T, N]) -> p, s, g, l, a: int {
  param w: [N, N]
  p[i, j: T] = prod[k: 2] w[i,i] * (if j < N then k else 0)
  s[j: T]    = prod[k: 3 where j < 2 and x[j,0] > k - 1] (x[j,0] + k)
  g[j: T]    = max[k: 3 where j >= 2 and x[j,0] > k - 1] (x[j,0] * k)
  l[j: T]    = logsumexp[k: 3 where j < N and x[j,0] > k - 1] (x[j,0] * k)
  a[j: T]    = argmax[k: 3 where j < N and x[j,0] > k - 2] (x[j,0] * k)
}
)"));
  for (int64_t t : {0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 33})
    expect_agreement(library, "below", random_call(library.model(), {{"T", t}}, 3));
}

TEST(Convolutions, AreContractionsOfPatches) {
  Library library(compile_text(kConvolutions));
  for (const Sizes& s : std::vector<Sizes>{{{"N", 2}, {"C", 3}, {"H", 8}, {"W", 7}, {"O", 5}},
                                           {{"N", 1}, {"C", 1}, {"H", 1}, {"W", 1}, {"O", 1}},
                                           {{"N", 2}, {"C", 5}, {"H", 12}, {"W", 17}, {"O", 9}},
                                           {{"N", 0}, {"C", 3}, {"H", 4}, {"W", 4}, {"O", 2}},
                                           {{"N", 2}, {"C", 0}, {"H", 4}, {"W", 4}, {"O", 2}},
                                           {{"N", 2}, {"C", 3}, {"H", 0}, {"W", 4}, {"O", 2}}}) {
    SCOPED_TRACE(text_of(s));
    for (const char* name : {"same", "strided", "pooled"})
      expect_agreement(library, name, random_call(library.model(name), s, 3));
  }
}

// Vectors lie along the channels, in each gradient too.
TEST(Convolutions, OfEachChannelAlone) {
  Library library(compile_text(R"(
size B, T, N, C = 13
train model apart(x: [B, T, C]) -> y {
  param w: [C, 4]
  y[b, t: T, c] = sum[k where inside] x[b, t + k - 3, c] * w[c,k]
}
train model grouped(x: [B, T, C], m: [B, T, C]) -> y {
  param g: [C, 1, 3], u: [C]
  y[b, t: T, c] = tanh(u[c] + sum[k where inside] x[b, t + k - 1, c] * m[b,t,c] * g[c,0,k])
}
train model unknown(x: [B, T, N]) -> y {
  param n: [N, 1, 4]
  y[b, t: T, c] = sum[k where inside] x[b, t + k - 2, c] * n[c,0,k]
}
)"));
  for (const char* name : {"apart", "grouped", "unknown"})
    for (int64_t b : {0, 1, 3})
      for (int64_t t : {0, 1, 2, 3, 29}) {
        const Sizes s = {{"B", b}, {"T", t}, {"N", 5 * t}};
        SCOPED_TRACE(name + text_of(s));
        expect_agreement(library, name, random_call(library.model(name), s, 3), 2e-5);
      }
}

// ---- sums beside one another

// The map reads the first sum at its own indices, of which there are twice as many.
TEST(Concatenation, OfTwoSums) {
  Library library(compile_text(R"(
size B, D, M = 24
train model joined(x: [B, D]) -> both {
  param w: [M, D], u: [M, D]
  z[b,n] = sum[d] x[b,d] * w[n,d]
  q[b,n] = sum[d] x[b,d] * u[n,d]
  both[b, n: 2 * M] = if n < M then z[b,n] else q[b, n - M]
}
)"));
  for (int64_t b : {0, 1, 5, 30})
    expect_agreement(library, "joined", random_call(library.model(), {{"B", b}, {"D", 17}}, 3));
}

// ---- one query at a time

// Each query has keys and values of its own, of which `length` are there.
constexpr const char* kQueries = R"(
size H, S, D
train model decode(q: [H, D], k: [H, S, D], v: [H, S, D], length: int[H]) -> z {
  p[h,j] = softmax[j where j < length[h]] ((sum[d] q[h,d] * k[h,j,d]) / sqrt(D))
  z[h,d] = sum[j] p[h,j] * v[h,j,d]
}
)";

TEST(Queries, ReadTheirKeysWhereTheyLie) {
  std::vector<driver::Compiled> models = compile_text(kQueries);
  const std::vector<plan::Kernel>& kernels = models[0].plan->forward.kernels;
  EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(),
                          [](const plan::Kernel& k) {
                            return std::holds_alternative<plan::ContractionForm>(k.form);
                          }),
            2);
  Library library(std::move(models));
  for (int64_t s : {0, 1, 3, 16, 97, 300})
    for (int64_t d : {1, 3, 16, 40, 64}) {
      SCOPED_TRACE(fmt::format("S = {}, D = {}", s, d));
      expect_agreement(library, "decode",
                       random_call(library.model(), {{"H", 3}, {"S", s}, {"D", d}}, 3, s + 2),
                       d == 1 ? 1e-4 : 1e-5);  // a row of one sum, whose terms may cancel
    }
  for (const Sizes& s :
       std::vector<Sizes>{{{"H", 0}, {"S", 3}, {"D", 4}}, {{"H", 2}, {"S", 3}, {"D", 0}}})
    expect_agreement(library, "decode", random_call(library.model(), s, 3, 3));
}

// ---- storage

constexpr const char* kStorage = R"(
size N, M
train model stored(a: bf16[N, M], b: f16[N, M], c: f32[N, M], d: f64[N, M], n: int[N],
    keep: bool[N]) -> f: f16, g: bf16, h: f32, r: f64, k: int, t: bool {
  param w: bf16[M], u: f64[M]
  f[i,j] = a[i,j] * b[i,j]
  g[i] = sum[j where keep[i]] a[i,j] * w[j]
  h[i,j] = (a[i,j] + b[i,j]) * c[i,j] + float(n[i]) / 3
  r[i] = sum[j] d[i,j] * u[j] / sqrt(3)
  k[i] = n[i] // 2 + (if keep[i] then 5 else 0)
  t[i] = keep[i] and n[i] > 1
}
)";

TEST(Storage, WidensOnLoadAndRoundsOnStore) {
  Library library(compile_text(kStorage));
  for (const Sizes& s : std::vector<Sizes>{{{"N", 5}, {"M", 7}},
                                           {{"N", 33}, {"M", 40}},
                                           {{"N", 1}, {"M", 1}},
                                           {{"N", 0}, {"M", 3}}}) {
    SCOPED_TRACE(text_of(s));
    Arrays given = random_call(library.model(), s, 3, 9);
    Outcome o = library.call(given);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    Arrays want = library.reference(given);
    // Half an ulp of what stores the result.
    const std::map<std::string, double> tolerance = {
        {"f", 0x1.01p-11}, {"g", 0x1.01p-8}, {"r", 1e-14}, {"k", 0},
        {"t", 0},          {"dd", 1e-14},    {"du", 1e-14}};
    for (const auto& [name, array] : want) {
      auto it = tolerance.find(name);
      EXPECT_EQ(differ(name, array, o.values.at(name), it == tolerance.end() ? 1e-6 : it->second,
                       name == "f" ? 1e-3 : 0),
                "");
    }
  }
}

// Gradients and cotangents have the type of arithmetic: a bf16 gradient would lose what training
// adds up.
TEST(Storage, GivesGradientsInTheTypeOfArithmetic) {
  Library library(compile_text(kStorage));
  Arrays given = random_call(library.model(), {{"N", 5}, {"M", 7}}, 3, 9);
  Outcome o = library.call(given);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  // Half an ulp of f32; bf16 would be off by a thousand times that.
  EXPECT_EQ(differ("dw", library.reference(given).at("dw"), o.values.at("dw"), 1e-6), "");
  EXPECT_EQ(attn_gradient_type(ATTN_BF16), ATTN_F32);
  EXPECT_EQ(attn_gradient_type(ATTN_F16), ATTN_F32);
  EXPECT_EQ(attn_gradient_type(ATTN_F64), ATTN_F64);
}

// ---- numbers from nothing

TEST(Uniform, GivesTheBitsOfTheEvaluator) {
  Library library(compile_text(R"(
size N, M
train model noise(x: [N, M], seed: int) -> y, u {
  u[i: N,j: M] = uniform(seed, i, j - 3)
  y[i,j] = if uniform(seed, i, j) < 0.5 then 2 * x[i,j] else 0
}
)"));
  for (double seed : {0.0, 1.0, -7.0, 2147483647.0, -2147483648.0}) {
    Arrays given = random_call(library.model(), {{"N", 9}, {"M", 37}}, 3);
    given["seed"] = {{}, {seed}};
    Outcome o = library.call(given);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    Arrays want = library.reference(given);
    EXPECT_EQ(o.values.at("u").values, want.at("u").values);
    EXPECT_EQ(o.values.at("y").values, want.at("y").values);
    EXPECT_EQ(differ(want, o.values), "");
  }
}

}  // namespace
}  // namespace attn::testing
