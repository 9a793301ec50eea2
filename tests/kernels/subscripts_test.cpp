// Elements at places that formulas and data say, each kernel against the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agreement.h"

namespace attn::testing {
namespace {

// ---- subscripts
TEST(Subscripts, RunBackwards) {
  for (int n : {2, 16, 17}) {
    SCOPED_TRACE(fmt::format("N = {}", n));
    Library library(compile_text(fmt::format(R"(
size B
size N = {}
train model mirror(x: [B, N], u: [N]) -> y, z, s {{
  param w: [N]
  y[i,j] = x[i, N - 1 - j] * w[j]
  z[j] = w[j] * u[N - 1 - j]
  s = logsumexp[i: B, j] w[j] * u[N - 1 - j]
}}
)",
                                             n)));
    for (int64_t b : {0, 1, 5})
      expect_agreement(library, "mirror", random_call(library.model(), {{"B", b}}, 3), 2e-5);
  }
}

// Places that real numbers say, kept in range where there is one.
TEST(Subscripts, OfPlacesThatAreComputed) {
  Library library(compile_text(R"(
size T, S, E, V in 1..
train model own(x: f64[T], k: [T, E]) -> y {
  y[t,e] = k[clamp(int(3 * x[t]) + 1, 0, T - 1), e] * (if x[t] > 0 then 2 else 1)
}
train model other(x: [T], k: [S, E]) -> y {
  y[t,e] = if 0 < S then x[t] * k[clamp(int(3 * x[t]) + 1, 0, S - 1), e] else x[t]
}
train model found(x: [T, V], k: [V, E]) -> first, y, z {
  first[t] = argmax[v] x[t,v]
  second[t] = argmax[v] x[t,v]
  copy[t] = second[t]
  y[t,e] = k[first[t], e] * 2
  z[t,e] = k[copy[t], e]
}
train model diagonal(x: [T], u: f64[E]) -> y {
  m[i: T,t: T] = mean[e] floor(u[e]) * u[e]
  y[j] = x[j] * m[j // 2,j]
}
train model carried(x: f64[T], k: [T]) -> y, z {
  scan t: T {
    z[t] = (if x[t] > y[t-1] then 0.25 else 0.5 * z[t-1]) + k[clamp(int(3 * y[t-1]), 0, T - 1)] from 0
    y[t] = tanh(y[t-1] + u[t-1]) from 1
    u[t] = 0.5 * u[t-1] + x[t] from 0
  }
}
)"));
  for (int64_t n : {0, 1, 3, 17})
    for (const char* name : {"own", "other", "found", "diagonal", "carried"})
      for (int64_t s : {0, 1, 4}) {
        const Sizes sizes = {{"T", n}, {"S", s}, {"E", 9}, {"V", s + 1}};
        SCOPED_TRACE(name + (" " + text_of(sizes)));
        expect_agreement(library, name, random_call(library.model(name), sizes, 3), 2e-5);
      }
}

// Places that definitions of their own compute, of indices and of data; the sums among these are
// computed before the call begins, and what they say is checked.
TEST(Subscripts, OfPlacesThatDefinitionsCompute) {
  Library library(compile_text(R"(
size B, T, S, N = 8
train model ring(x: [B, N], z: [S], r: [T]) -> y, u, w, at {
  at[i: N] = (i + 3) % N
  back[i: T] = T - 1 - i
  y[b,i] = x[b,at[at[i]]]
  u[i] = r[back[i]] * r[(i + S) % T]
  w[m] = z[m] * (if T > 0 then r[m % T] else 1)
}
train model shifted(x: [B, T], n: int[B], keep: bool[B]) -> y {
  next[b] = n[b] + 1
  y[b] = x[b,next[b]] where keep[b]
}
train model packed(x: [S], n: int[B]) -> y {
  start[b: B] = sum[c: B where c < b] n[c]
  late[b] = start[b] >= 2
  y[b] = x[start[b] + n[b]] * (if late[b] then x[start[b] - 2] else 1)
}
train model ranked(x: [T], n: int[T], table: [N]) -> y {
  last = max[t] n[t]
  rank[t] = sum[u: T where n[u] < n[t]] int(1)
  y[t] = table[last - n[t]] * x[rank[t]]
}
)"));
  for (int64_t t : {0, 1, 5}) {
    const Sizes sizes = {{"B", 3}, {"T", t}, {"S", 4}};
    SCOPED_TRACE(text_of(sizes));
    expect_agreement(library, "ring", random_call(library.model("ring"), sizes, 3));
  }
  Arrays given = random_call(library.model("shifted"), {{"B", 3}, {"T", 4}}, 3);
  given.at("n").values = {2, -1, 3};
  given.at("keep").values = {1, 1, 0};
  expect_agreement(library, "shifted", given);
  given.at("keep").values = {1, 1, 1};
  const Outcome beyond = library.call(given, {}, "shifted");
  EXPECT_EQ(beyond.status, ATTN_BAD_DATA) << beyond.message;
  EXPECT_TRUE(beyond.untouched);
  given = random_call(library.model("ranked"), {{"T", 4}}, 3);
  given.at("n").values = {7, 3, 5, 3};
  expect_agreement(library, "ranked", given);
  given.at("n").values = {7, 3, -1, 3};
  EXPECT_EQ(library.call(given, {}, "ranked").status, ATTN_BAD_DATA);
  given = random_call(library.model("packed"), {{"B", 3}, {"S", 7}}, 3);
  given.at("n").values = {1, 3, 2};
  expect_agreement(library, "packed", given);
  given.at("n").values = {1, 3, 3};
  EXPECT_EQ(library.call(given, {}, "packed").status, ATTN_BAD_DATA);
}

TEST(Subscripts, ThatFallBesideConditions) {
  Library library(compile_text(R"(
size M = 3, L
model fall(p: [L, M], v: [M]) -> y {
  y[a: L] = sum[c: 2, b: 2 where 2 * a + c < L] p[2*a + c, 2*b] * v[M - 1 - 2*b]
}
)"));
  for (int64_t n : {0, 1, 4, 33})
    expect_agreement(library, "fall", random_call(library.model("fall"), {{"L", n}}, 3));
}

// A place that is there because some index runs over T, in what is computed without that index.
TEST(Subscripts, OfPlacesThatAnIndexInSightAllows) {
  Library library(compile_text(R"(
size T, S
train model ring(x: [T], z: [S], r: [T], keep: bool[T]) -> a, b, c, d, e {
  a[i: T, m: S] = exp(x[(m + S) % T]) * z[m] + r[i]
  b[i: T] = r[i] * (sum[m: S] x[m % T] * z[m])
  c[i: T] = r[i] * exp(x[0]) + (if keep[T - 1] then 1 else 0)
  d[m: S] = sum[i: T] exp(x[m % T] + z[m]) * r[i]
  p[i,m] = softmax[m] (x[m % T] * z[m] + r[i])
  e[i] = sum[m] p[i,m] * z[m]
}
)"));
  for (int64_t t : {0, 1, 5})
    for (int64_t s : {0, 4}) {
      SCOPED_TRACE(text_of({{"T", t}, {"S", s}}));
      expect_agreement(library, "ring", random_call(library.model(), {{"T", t}, {"S", s}}, 3));
    }
}

// A place that only some sizes have, in a loop that only some sizes have: the kernel asks for
// nothing that is not there.
TEST(Subscripts, OfPlacesThatAConditionAllows) {
  Library library(compile_text(R"(
size B, S, E
train model one(x: [B, S], w: [S]) -> y {
  y[i] = sum[j] x[i,j] * (if 2 < S then w[2] else 1)
}
train model next(x: [B, S]) -> y, p {
  y[i] = sum[j where j + 1 < S] x[i,j] * x[i,j + 1]
  p[i,j] = softmax[j] (if j + 1 < S then x[i,j + 1] else x[i,j])
}
train model rows(x: [B], w: [S, E]) -> y {
  y[i] = x[i] * logsumexp[j: S,k where j % 2 == 0] (j * (if 1 < S then w[1,k] else 1))
}
train model scored(x: [B, S], q: [B, E], k: [S, E]) -> z {
  s[i,j] = (sum[e] q[i,e] * k[j,e]) + (if 2 < S then x[i,2] else 1)
  p[i,j] = softmax[j] (s[i,j])
  z[i,e] = sum[j] p[i,j] * k[j,e]
}
)"));
  for (int64_t n : {0, 1, 2, 3, 17, 67})
    for (const char* name : {"one", "next", "rows", "scored"})
      for (int64_t b : {0, 2, 19}) {
        const Sizes s = {{"B", b}, {"S", n}, {"E", 3}};
        SCOPED_TRACE(name + (" " + text_of(s)));
        expect_agreement(library, name, random_call(library.model(name), s, 3), 2e-5);
      }
}

// ---- data in subscripts

constexpr const char* kTables = R"(
size B, T, V, D
train model tokens(token: int[B, T]) -> h {
  param table: [V, D]
  h[b,i,d] = table[token[b,i], d]
}
# Read only where a condition holds, and shifted.
train model shifted(token: int[B, T], keep: bool[B, T]) -> h {
  param table: [V, D]
  h[b,i,d] = if keep[b,i] then table[token[b,i] - 1, d] else 0
}
)";

// A size may be anything that the model allows, also where a condition or a minimum keeps a
// subscript in range.
// Remainders of what is short do not reach as far as those of what is long.
TEST(Subscripts, OfRemaindersInRows) {
  Library library(compile_text(R"(
size S in 1..
train model turns(x: f32) -> y {
  param w: [S, 2, 2]
  y[i,k] = tanh(w[k % 3 % S, i, i] - x * w[k,i,i])
}
# Random program 401100.
train model under(x: f32) -> s {
  param u: [S]
  s = logsumexp[i: S, j: S] u[i % 3] * x
}
)"));
  for (const char* name : {"turns", "under"})
    for (int64_t s : {1, 2, 3, 4, 31, 32, 33, 70})
      expect_agreement(library, name, random_call(library.model(name), {{"S", s}}, 3), 2e-5);
}

TEST(Subscripts, OfSizesOfAnyOrder) {
  Library library(compile_text(R"(
size B, T
size S in 1..
train model diagonal(x: [B, T, 3]) -> a {
  a[i: 3, j: B] = relu(if j < T then x[j, j, 0] else 0)
}
train model fifth(x: [T], w: [T, T]) -> a {
  a[i: T, j: T] = if i == 5 then x[i] * w[j, i] else w[i, j]
}
model third(x: [S], keep: bool[S]) -> a {
  a = (sum[i: S] x[i]) where keep[clamp(2, 0, S - 1)]
}
)"));
  for (int64_t b : {0, 1, 3, 7})
    for (int64_t t : {0, 1, 3, 7})
      expect_agreement(library, "diagonal",
                       random_call(library.model("diagonal"), {{"B", b}, {"T", t}}, 3), 1e-6);
  for (int64_t t : {0, 1, 5, 6, 17})
    expect_agreement(library, "fifth", random_call(library.model("fifth"), {{"T", t}}, 3), 1e-6);
  for (int64_t n : {1, 2, 3, 31, 40})
    expect_agreement(library, "third", random_call(library.model("third"), {{"S", n}}, 3), 1e-5);
}

// What is read has elements that the condition has not; from a random program (400923).
TEST(Subscripts, OfConditionsThatReachLessFar) {
  Library library(compile_text(R"(
size S, T, N
train model some(on: bool[S], x: [T]) -> y {
  param w: [N]
  p[i] = softmax[i] (w[i])
  k[i: S, j: T] = if on[i] then (if i < N then p[i] else 0) else 1
  y[i,j] = k[i,j] * x[j]
}
)"));
  for (int64_t n : {0, 1, 3, 7, 40})
    expect_agreement(library, "some",
                     random_call(library.model(), {{"S", 7}, {"T", 2}, {"N", n}}, 3), 1e-5);
  expect_agreement(library, "some",
                   random_call(library.model(), {{"S", 0}, {"T", 2}, {"N", 3}}, 3), 1e-5);
}

TEST(Tables, AreReadAndTheirGradientsScattered) {
  Library library(compile_text(kTables));
  for (const Sizes& s : std::vector<Sizes>{{{"B", 2}, {"T", 5}, {"V", 4}, {"D", 3}},
                                           {{"B", 3}, {"T", 40}, {"V", 7}, {"D", 33}},
                                           {{"B", 1}, {"T", 70}, {"V", 131}, {"D", 2}},
                                           {{"B", 1}, {"T", 1}, {"V", 1}, {"D", 1}},
                                           {{"B", 0}, {"T", 5}, {"V", 4}, {"D", 3}},
                                           {{"B", 2}, {"T", 5}, {"V", 4}, {"D", 0}}}) {
    SCOPED_TRACE(text_of(s));
    Arrays given = random_call(library.model("tokens"), s, 5, s.at("V"));
    expect_agreement(library, "tokens", given);
    given = random_call(library.model("shifted"), s, 5, s.at("V"));
    for (double& v : given.at("token").values) v += 1;
    expect_agreement(library, "shifted", given);
  }
}

TEST(Tables, RefuseDataOutOfRangeAndWriteNothing) {
  Library library(compile_text(kTables));
  Sizes s = {{"B", 2}, {"T", 5}, {"V", 4}, {"D", 3}};
  for (double bad : {-1.0, 4.0, 2147483647.0, -2147483648.0}) {
    Arrays given = random_call(library.model("tokens"), s, 5, 4);
    given.at("token").values[7] = bad;
    Outcome o = library.call(given, {}, "tokens");
    EXPECT_EQ(o.status, ATTN_BAD_DATA) << bad;
    EXPECT_NE(o.message.find("token: reads table at"), std::string::npos) << o.message;
    EXPECT_TRUE(o.untouched);
  }
  // Where its condition fails, data may be anything.
  Arrays given = random_call(library.model("shifted"), s, 5, 4);
  std::vector<double>&token = given.at("token").values, &keep = given.at("keep").values;
  for (size_t k = 0; k < token.size(); ++k) {
    keep[k] = k % 3 != 0;
    token[k] = keep[k] ? token[k] + 1 : k % 2 ? -2147483648.0 : 2147483647.0;
  }
  expect_agreement(library, "shifted", given);
  token[1] = 0;
  EXPECT_EQ(library.call(given, {}, "shifted").status, ATTN_BAD_DATA);
}

TEST(Sizes, ThatOthersAreDividedByAreNotZero) {
  Library library(compile_text(R"(
size T, S, P = T // S
model unused(x: [T], z: [S]) -> y {
  y[i] = x[i] + (sum[s] z[s])
}
)"));
  expect_agreement(library, "unused", random_call(library.model(), {{"T", 3}, {"S", 2}}, 3));
  const Outcome o =
      library.call(random_call(library.model(), {{"T", 3}, {"S", 0}}, 3), {}, "unused");
  EXPECT_EQ(o.status, ATTN_REFUSED) << o.message;
  EXPECT_NE(o.message.find("size S is 0"), std::string::npos) << o.message;
  EXPECT_TRUE(o.untouched);
}

TEST(Names, OfTensorsMayBeThoseOfSizesAndIndices) {
  Library library(compile_text(R"(
size B, T, D = 5
train model both(T: [B, T, D], B: int[B], k: [B, T, D]) -> D, y {
  param H: [D, D]
  D[b,i,d] = (sum[e] T[b,i,e] * H[d,e]) / max(T, 1) + D + B[b]
  s[b,i,k] = sum[e] D[b,i,e] * k[b,k,e]
  p[b,i,k] = softmax[k where k <= i] (s[b,i,k])
  y[b,i,d] = sum[k] p[b,i,k] * k[b,k,d]
}
)"));
  for (int64_t t : {0, 1, 9})
    expect_agreement(library, "both", random_call(library.model(), {{"B", 2}, {"T", t}}, 3), 1e-4);
}

// An int among real numbers is real, and has no derivative; a truth value takes `float`.
TEST(Integers, AmongRealNumbersAreReal) {
  Library library(compile_text(R"(
size B, N
train model mixed(x: [B, N], n: int[N], m: int[B, N], keep: bool[N]) -> y, z, c, a, p, h: bf16 {
  param w: [N]
  y[b,i] = x[b,i] * n[i] + exp(0.1 * n[i]) + n[i] / 3 + clamp(x[b,i], n[i], n[i] + 0.5) + n[i]^2
  z[b] = sum[i] m[b,i] * w[i] * float(keep[i])
  c[b] = mean[i where n[i] < 2 * x[b,i]] (if keep[i] then n[i] else x[b,i])
  a = mean[i] n[i]
  p[b,i] = softmax[i] (m[b,i])
  h[i] = n[i]
}
)"));
  for (int64_t n : {0, 1, 17})
    expect_agreement(library, "mixed", random_call(library.model(), {{"B", 3}, {"N", n}}, 3), 1e-3);
}

TEST(Tables, RefuseEveryReadOfAnEmptyTable) {
  Library library(compile_text(kTables));
  Sizes s = {{"B", 1}, {"T", 2}, {"V", 0}, {"D", 3}};
  Arrays given = random_call(library.model("tokens"), s, 5, 1);
  Outcome o = library.call(given, {}, "tokens");
  EXPECT_EQ(o.status, ATTN_BAD_DATA) << o.message;
  EXPECT_TRUE(o.untouched);
}

// A result along the columns of tiles that has more elements than these.
TEST(Tables, HaveNothingWhereNoTileAdds) {
  Library library(compile_text(R"(
size B, T
train model m(x: [B, T]) -> u {
  p[i: B, j: T, k: T] = sigmoid(x[i,k] - x[i,j])
  u[i: B, l: 2*T + 1] = sum[j: T, k: T where l == j] p[i,k,j]
})"));
  for (int64_t t : {0, 1, 5})
    expect_agreement(library, "m", random_call(library.model(), {{"B", 2}, {"T", t}}, 3));
}

TEST(Tables, HaveGradientsInTheirType) {
  const driver::Compiled model = compile_text(R"(
size N in 1.., M
train model m(x: f64[N, 3], v: [M]) -> y {
  y[i: M, j: 2] = x[0, j + 1]
})")
                                     .at(0);
  const Arrays given = random_call(model, {{"N", 2}, {"M", 3}}, 3);
  EXPECT_EQ(differ_from_differences(model, given), "");
}

// Remainders, by `%` or by hand, in loops that are split.
TEST(Conditions, OfRemainders) {
  Library library(compile_text(R"(
size T, N = 2, D = 4
model remainders(w: [T]) -> a, b, c, d, e {
  a[j: T,n: N,m: N] = w[j] where n == m and j % 2 != 1
  b[j: T,n: N,m: N] = w[j] where j - 2 * (j // 2) != 1
  c[j: T,n: N,m: N] = w[j] where n + j - 4 * (j // 4) != m
  e[j: T,n: N,m: N] = w[j] where 1 != j - D * (j // D)
  d[j: T,n: N] = sum[t: T where t % 3 == n and t <= j] w[t]
}
)"));
  for (int64_t t : {0, 1, 11}) {
    const Arrays given = random_call(library.model(), {{"T", t}}, 3);
    const Outcome o = library.call(given, {.gradient = false});
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    EXPECT_EQ(differ(library.reference(given, "", {.gradient = false}), o.values), "");
  }
}

}  // namespace
}  // namespace attn::testing
