// Recurrences: the loops around the kernels of a step give what the evaluator gives, forward and in
// every derivative, at any number of steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiled.h"
#include "compiler/text/text.h"
#include "seeds.h"
#include "tests/support/random_recurrence.h"

namespace attn::testing {
namespace {

using Sizes = std::map<std::string, int64_t>;

std::string stage(const std::string& name) {
  return ATTN_SOURCE_DIR "/tests/stages/recurrences/" + name + ".attn";
}

// At every size of `all`.
void expect_agreement(Library& library, const std::vector<Sizes>& all,
                      const CallOptions& options = {}) {
  const std::string plan = plan::to_string(*library.model().plan);
  for (const Sizes& sizes : all) {
    std::string at;
    for (const auto& [name, value] : sizes) at += fmt::format("{}={} ", name, value);
    const Arrays given = random_call(library.model(), sizes, 7, 4);
    Outcome o = library.call(given, options);
    if (o.status == ATTN_OK)
      o.message = differ(library.reference(given, "", options), o.values, 2e-5);
    EXPECT_EQ(o.message, "") << at << "\n" << plan;
  }
}

// The same of a random program, whose steps may amplify what rounding does.
void expect_agreement_beyond_rounding(std::vector<driver::Compiled> models,
                                      const std::vector<Sizes>& all) {
  Library library(std::move(models));
  for (const Sizes& sizes : all) {
    const Arrays given = random_call(library.model(), sizes, 7, 4);
    const Outcome o = library.call(given);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    EXPECT_EQ(differ_beyond_rounding(library, "", given, o.values, 2e-5, 0), "")
        << plan::to_string(*library.model().plan);
  }
}

void expect_agreement(std::vector<driver::Compiled> models, const std::vector<Sizes>& all) {
  Library library(std::move(models));
  expect_agreement(library, all);
}

// Compiled once for several tests.
Library& memory() {
  static Library library(compile_file(stage("memory"), {}, Derive::all));
  return library;
}
Library& decoder() {
  static Library library(compile_file(stage("decoder")));
  return library;
}

TEST(Recurrences, OfTheSimplestKind) {
  std::vector<Sizes> all;
  for (int64_t b : {1, 3, 17})
    for (int64_t t : {0, 1, 2, 7, 13}) all.push_back({{"B", b}, {"T", t}});
  all.push_back({{"B", 0}, {"T", 5}});
  expect_agreement(compile_file(stage("simple")), all);
}

// Known and unknown features, one of them empty.
TEST(Recurrences, OfFeaturesKnownWhenItRuns) {
  const std::string text = R"(
size B, T, N, M
train model m(x: [B, T, N], h0: [B, M]) -> y {
  param w: [M, N], u: [M, M]
  scan t: T down {
    h[b,t,m] = tanh(sum[n] x[b,t,n] * w[m,n] + sum[k] h[b, t + 1, k] * u[m,k]) from h0[b,m]
  }
  y[b,t] = sum[m] h[b,t,m]
}
)";
  std::vector<Sizes> all;
  for (int64_t m : {0, 1, 3, 16, 33}) all.push_back({{"B", 2}, {"T", 5}, {"N", 4}, {"M", m}});
  all.push_back({{"B", 2}, {"T", 5}, {"N", 0}, {"M", 4}});
  expect_agreement(compile_text(text), all);
}

// What made a step f64 has gone from its value; the step before is read as f64.
TEST(Recurrences, OfWhatIsF64NoMore) {
  expect_agreement(compile_text(R"(
size T
train model m(x: f64[T]) -> y {
  scan t: T {
    a[t] = (x[t] - x[t]) * 0.5 from 1
    y[t] = tanh(a[t-1] + y[t-1] + x[t]) from 0
  }
}
)"),
                   {{{"T", 0}}, {{"T", 1}}, {{"T", 7}}});
}

TEST(Recurrences, WithLongShortTermMemory) {
  expect_agreement(memory(), {{{"B", 1}, {"T", 1}}, {{"B", 5}, {"T", 9}}, {{"B", 0}, {"T", 3}}},
                   {.gradient = true, .jvp = true, .hvp = true});
}

// Two steps of the state are kept, in forward and in backward; what reads a step is computed with
// it.
TEST(Recurrences, OfMatricesThatAreReadStepByStep) {
  const std::string text = R"(
size B, T, E, N
train model m(q: [B, T, E], k: [B, T, E], v: [B, T, N], g: [B, T]) -> z {
  param c: [E, N]
  scan t: T { s[b,t,e,n] = 0.9 * s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from c[e,n] }
  z[b,t,n] = (sum[e] q[b,t,e] * s[b,t,e,n]) + (sum[e] q[b,t,e]^2 * g[b,t] * s[b,t,e,n])
}
)";
  std::vector<Sizes> all;
  for (int64_t t : {0, 1, 2, 3, 8})
    for (int64_t n : {1, 3, 17}) all.push_back({{"B", 2}, {"T", t}, {"E", 5}, {"N", n}});
  for (int64_t e : {0, 1, 16, 31}) all.push_back({{"B", 3}, {"T", 5}, {"E", e}, {"N", 16}});
  all.push_back({{"B", 0}, {"T", 5}, {"E", 4}, {"N", 4}});
  all.push_back({{"B", 2}, {"T", 5}, {"E", 4}, {"N", 0}});
  std::vector<driver::Compiled> models = compile_text(text, {}, Derive::tangents);
  EXPECT_NE(plan::to_string(*models.at(0).plan).find("s.steps[2, B, E, N]"), std::string::npos);
  Library library(std::move(models));
  expect_agreement(library, all, {.gradient = true, .jvp = true});
  expect_agreement(
      compile_text(R"(
size B, T, E, N
train model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  scan t: T down { s[b,e,t,n] = s[b,e,t+1,n] * k[b,t,e] + v[b,t,n] from 0 }
  z[b,n,t] = sum[e] q[b,t,e] * s[b,e,t,n]
}
)"),
      {{{"B", 2}, {"T", 1}, {"E", 3}, {"N", 7}}, {{"B", 3}, {"T", 6}, {"E", 8}, {"N", 9}}});
}

TEST(Recurrences, WithAttentionInside) {
  std::vector<Sizes> all;
  for (int64_t s : {0, 1, 5, 19})
    for (int64_t t : {0, 1, 6}) all.push_back({{"B", 3}, {"T", t}, {"S", s}});
  expect_agreement(decoder(), all);
}

// The second runs down over what the first gave, and both are results of their own.
// The scores of a step are in tiles, forward and backward.
TEST(Recurrences, WithScoresInTiles) {
  const std::string text = R"(
size B, N
size P = 130, W = 16
train model m(x: [N, B, P, W]) -> z {
  param u: [W, W]
  scan n: N {
    k[n, b: B, j: P, e] = sum[d: W] z[n - 1, b, j, d] * u[e,d]
    p[n,b,i: P,j] = softmax[j where j <= i] ((sum[e] (k[n,b,i,e] + x[n,b,i,e]) * k[n,b,j,e]) / W)
    z[n,b,i,e] = tanh(sum[j] p[n,b,i,j] * k[n,b,j,e]) + x[n,b,i,e] from 0.2
  }
}
)";
  expect_agreement(
      compile_text(text),
      {{{"B", 1}, {"N", 0}}, {{"B", 0}, {"N", 2}}, {{"B", 1}, {"N", 1}}, {{"B", 2}, {"N", 3}}});
}

// Backward has what stands between two definitions of a recurrence, but not these: what is left of
// it is put in order. Of two steps, some conditions of backward exclude each other.
TEST(Recurrences, OfFewStepsWithAttentionInside) {
  for (const char* scores : {"softmax[j where j <= i] (s[t,b,i,j])", "s[t,b,i,j]^2 / P"}) {
    for (const char* key : {"m", "prev"}) {
      expect_agreement(compile_text(fmt::format(R"(
size T = 2, B, P = 130, E = 8
train model m(x: [T, B, P, E], m: [T, B, P, E]) -> y {{
  param w: [E, E], u: [E, E]
  scan t: T {{
    prev[t, b: B, i: P, e: E] = z[t - 1, b, i, e]
    q[t,b,i,e] = (sum[f] prev[t,b,i,f] * w[e,f]) + x[t,b,i,e]
    k[t,b,j,e] = sum[f] {}[t,b,j,f] * u[e,f]
    s[t,b,i,j] = (sum[e] q[t,b,i,e] * k[t,b,j,e]) / sqrt(E) + 0.1 * t * (i - j)
    p[t,b,i,j] = {}
    z[t,b,i,e] = tanh((sum[j] p[t,b,i,j] * m[t,b,j,e]) + prev[t,b,i,e] * x[t,b,i,e]) from 0.1
  }}
  y[b,i,e] = z[T - 1, b, i, e] * x[0,b,i,e]
}}
)",
                                                key, scores)),
                       {{{"B", 1}}, {{"B", 2}}});
    }
  }
}

TEST(Recurrences, InBothDirections) {
  expect_agreement(compile_text(R"(
use std.recurrent
size B, T, N = 5, M = 7
train model m(x: [B, T, N], h0: [B, M]) -> h, back, both {
  h = gru(x, h0)
  param u: [M, M]
  scan t: T down {
    back[b,t,m] = tanh(h[b,t,m] + sum[k] u[m,k] * back[b, t + 1, k]) from h0[b,m]
  }
  both[b,t,m] = h[b,t,m] * back[b,t,m]
}
)"),
                   {{{"B", 2}, {"T", 0}}, {{"B", 2}, {"T", 1}}, {{"B", 3}, {"T", 8}}});
}

// A log-sum-exp that is carried is two planes, and the step is not their first dimension.
TEST(Recurrences, OfLogSumExps) {
  expect_agreement(compile_text(R"(
size B, T, N = 4
train model forward_algorithm(x: [B, T, N], start: [B, N]) -> a, total {
  param w: [N, N]
  scan t: T { a[b,t,n] = (logsumexp[m] (a[b, t - 1, m] + w[m,n])) + x[b,t,n] from start[b,n] }
  total[b] = logsumexp[t,n] a[b,t,n]
}
)"),
                   {{{"B", 3}, {"T", 6}}, {{"B", 1}, {"T", 1}}, {{"B", 2}, {"T", 0}}});
}

// Of the indices that a read names twice the step is the recurrence's.
TEST(Recurrences, AlongADiagonal) {
  Library library(compile_text(R"(
size B, T, M, N = 3
train model diagonal(s: [B, T], start: f32, w: [N], u: [M]) -> a, h {
  scan t: T down {
    a[i,j: N,t,k] = h[i,t + 1,j] * u[k]
    c[i,j,t,k: T] = s[j,i] * h[j,t + 1,0]
    h[i: B,t,j: N] = tanh(c[t,i,t,t] + w[j]) from start
  }
}
)"));
  expect_agreement(library, {{{"B", 2}, {"T", 0}, {"M", 2}},
                             {{"B", 2}, {"T", 1}, {"M", 2}},
                             {{"B", 3}, {"T", 4}, {"M", 1}}});
}

// Of one row a step, whose two numbers are kept for the gradient.
TEST(Recurrences, OfOneLogSumExpAStep) {
  Library library(compile_text(R"(
size T, N
size D = 8
train model memory(k: [T, D], v: [T, D], h0: [D], x: [N, D]) -> h {
  scan t: N {
    g[t,d] = sum[j: T] softmax[j] (sum[n] h[t - 1,n] * k[j,n]) * v[j,d]
    h[t,d] = 0.5 * h[t - 1,d] + g[t,d] + x[t,d] from h0[d]
  }
}
)"));
  expect_agreement(library, {{{"T", 5}, {"N", 1}}, {{"T", 5}, {"N", 4}}, {{"T", 49}, {"N", 3}}});
}

TEST(Recurrences, StoredInHalves) {
  expect_agreement(compile_text(R"(
size B, T, N = 8
train model m(x: f16[B, T, N], h0: f32[B, N]) -> h: f32 {
  param u: [N, N]
  scan t: T { h[b,t,n] = tanh(x[b,t,n] + sum[m] h[b, t - 1, m] * u[n,m]) from h0[b,n] }
}
)"),
                   {{{"B", 3}, {"T", 6}}});
}

// What a length hides is not there, in every step.
TEST(Recurrences, DoNotSeeHiddenData) {
  Library& library = decoder();
  Arrays given = random_call(library.model(), {{"B", 2}, {"T", 3}, {"S", 6}}, 5, 4);
  given.at("length").values = {2, 4};
  const Outcome clean = library.call(given);
  ASSERT_EQ(clean.status, ATTN_OK) << clean.message;
  for (size_t b : {0, 1})
    for (size_t j = static_cast<size_t>(given.at("length").values[b]); j < 6; ++j)
      for (size_t n = 0; n < 8; ++n)
        given.at("memory").values[(b * 6 + j) * 8 + n] = std::numeric_limits<double>::quiet_NaN();
  const Outcome hidden = library.call(given);
  ASSERT_EQ(hidden.status, ATTN_OK) << hidden.message;
  for (const auto& [name, array] : clean.values)
    EXPECT_EQ(array.values, hidden.values.at(name).values) << name;
}

// Two steps are in memory; which of them is the last depends on their number.
TEST(Recurrences, OfWhichTheLastStepIsRead) {
  for (int steps : {2, 3, 4, 7})
    for (const bool down : {false, true}) {
      const std::string text =
          fmt::format(R"(
size B, N, P = {}
model m(x: [B, N], u: [N, N]) -> y {{
  scan t: P {} {{ h[t, b: B, n: N] = tanh((sum[m] h[t {} 1, b, m] * u[n,m]) + x[b,n]) from 0 }}
  y[b,n] = exp(h[{}, b, n])
}}
)",
                      steps, down ? "down" : "", down ? '+' : '-', down ? "0" : "P - 1");
      Library library(compile_text(text, {}, Derive::as_written));
      expect_agreement(library, {{{"B", 2}, {"N", 3}}, {{"B", 5}, {"N", 17}}}, {.gradient = false});
    }
}

TEST(Recurrences, GiveTheSameBitsOnAnyNumberOfThreads) {
  Library& library = memory();
  const Arrays given = random_call(library.model(), {{"B", 37}, {"T", 11}}, 5);
  library.use_threads(1);
  const Outcome one = library.call(given);
  ASSERT_EQ(one.status, ATTN_OK) << one.message;
  for (int threads : {2, 3}) {
    library.use_threads(threads);
    for (const auto& [name, array] : library.call(given).values)
      EXPECT_EQ(array.values, one.values.at(name).values) << name << " on " << threads;
  }
  library.use_threads(2);
}

TEST(RandomRecurrences, GiveWhatTheEvaluatorGives) {
  const auto [first, last] = seeds("ATTN_RANDOM_RECURRENCES", 3);
  for (uint64_t seed = first; seed <= last; ++seed) {
    const std::string text = random_recurrence(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    expect_agreement_beyond_rounding(
        compile_text(text), {{{"B", 2}, {"T", 4}}, {{"B", 1}, {"T", 1}}, {{"B", 3}, {"T", 0}}});
  }
}

void expect_agreement_of_rounds(uint64_t seed) {
  const std::string text = random_recurrence(seed, Steps::rounds);
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  expect_agreement_beyond_rounding(compile_text(text), {{}});
}

TEST(RandomRecurrences, OfRoundsGiveWhatTheEvaluatorGives) {
  const auto [first, last] = seeds("ATTN_RANDOM_RECURRENCES", 3);
  for (uint64_t seed = first; seed <= last; ++seed) expect_agreement_of_rounds(seed);
}

// All that ever failed: a last step that is read by its number, conditions that exclude each other,
// a map that is the same at all steps, and steps that grow.
TEST(RandomRecurrences, OfRoundsThatHaveFailed) {
  for (uint64_t seed : {7, 19, 89, 238}) expect_agreement_of_rounds(seed);
}

}  // namespace
}  // namespace attn::testing
