// Gradients of extremes of what is computed: the comparisons that find where a maximum was see the
// very values that it was taken of, whatever kernels compute them.
#include <gtest/gtest.h>

#include "agreement.h"
#include "compiler/lower/lower.h"

namespace attn::testing {
namespace {

void expect_agreement_at(Library& library, const std::string& model,
                         const std::vector<Sizes>& calls) {
  for (const Sizes& sizes : calls) {
    SCOPED_TRACE(model + " " + text_of(sizes));
    expect_agreement(library, model, random_call(library.model(model), sizes, 5), 1e-4);
  }
}

// Data and an equality of the result's own indices are conditions of one sum.
TEST(Extremes, OnADiagonal) {
  Library library(compile_text(R"(
size M = 3, N = 2
train model m(x: [N, N]) -> y { y = max[i] min[j: M where j % 2 == 1] x[i, i] }
)"));
  expect_agreement_at(library, "m", {{}});
}

// Beside an integer that is as far from 0 as one of 32 bits can be.
TEST(Extremes, OfIntegersAtTheEndOfTheirRange) {
  Library library(compile_text(R"(
size T
model m(k: int[T]) -> a, b, c, d, e, f {
  a[i] = min(k[i] - 2, 2147483647)
  b[i] = max(-2147483647, k[i] + 3)
  c[i] = if k[i] > 1 then -2147483647 else k[i] + 2
  d[i] = if k[i] > 1 then k[i] - 2 else 2147483647
  e[i: T] = min[t: T where t == i] (k[t] - 3)
  f = max[t where t == T - 1] (k[t] + T - t)
}
)",
                               {}, Derive::as_written));
  constexpr CallOptions kForward{.gradient = false};
  for (int64_t t : {0, 1, 3, 16, 17, 37}) {
    const Arrays given = random_call(library.model(), {{"T", t}}, 2);
    const Outcome o = library.call(given, kForward);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    EXPECT_EQ(differ(library.reference(given, "m", kForward), o.values, 0), "") << t;
  }
}

TEST(Extremes, OfProducts) {
  Library library(compile_text(R"(
size T, S in 1.., E
model greatest(q: [T, E], k: [S, E], w: [T]) -> y {
  y[i] = max[j] (w[i] * sum[e] q[i,e] * k[j,e])
}
model least(q: [T, E], k: [S, E], b: [S]) -> y {
  y[i] = min[j] ((sum[e] q[i,e] * k[j,e]) + b[j])
}
model late(q: [T, E], k: [S, E]) -> loss {
  loss = mean[i] (max[j where (i + j) % 3 > 0 or j == 0] (sum[e] q[i,e] * k[j,e]))^2
}
)"));
  std::vector<Sizes> calls = {{{"T", 1}, {"S", 300}, {"E", 16}},
                              {{"T", 3}, {"S", 65}, {"E", 17}},
                              {{"T", 0}, {"S", 3}, {"E", 3}},
                              {{"T", 64}, {"S", 1}, {"E", 0}}};
  // Sums that kernels take in several parts, each in its own way. (Another target interprets them.)
  if (tested_target() == lower::host_target())
    calls.insert(calls.end(), {{{"T", 65}, {"S", 70}, {"E", 600}},
                               {{"T", 1}, {"S", 300}, {"E", 64}},
                               {{"T", 130}, {"S", 17}, {"E", 1100}}});
  for (const char* model : {"greatest", "least", "late"})
    expect_agreement_at(library, model, calls);
}

TEST(Extremes, OfMaps) {
  Library library(compile_text(R"(
size N, M in 1..
model affine(x: [N, M], w: [M], b: [M]) -> y, z {
  u[i,j] = x[i,j] * w[j] + b[j]
  y[i]   = max[j] u[i,j]
  z[j]   = min[i] (u[i,j] * x[i,j] + y[i]) where N > 0
}
model ties(x: [N, M], w: [M]) -> y {
  y[i] = max[j, k: M] (sum[l: M] x[i,j] * w[(j + 3) % M])
}
)"));
  for (const char* model : {"affine", "ties"})
    expect_agreement_at(library, model,
                        {{{"N", 1}, {"M", 1}},
                         {{"N", 3}, {"M", 3}},
                         {{"N", 33}, {"M", 7}},
                         {{"N", 130}, {"M", 65}}});
}

TEST(Extremes, OfRecurrences) {
  Library library(compile_text(R"(
size T, N in 1..
model best(x: [T, N], u: [N, N], h0: [N]) -> h {
  scan t: T {
    h[t,n] = (max[m] (h[t-1,m] * u[m,n] + x[t,m])) * 0.5 from h0[n]
  }
}
)"));
  expect_agreement_at(library, "best",
                      {{{"T", 0}, {"N", 3}}, {{"T", 1}, {"N", 1}}, {{"T", 9}, {"N", 33}}});
}

// What a maximum of given elements found is kept: nothing is computed again.
TEST(Extremes, OfGivenElements) {
  const std::vector<driver::Compiled> models = compile_text(R"(
size N, M in 1..
model widest(x: [N, M]) -> y {
  y[i] = max[j] x[i,j]
}
)");
  for (const plan::Kernel& k : models[0].plan->backward->kernels)
    for (ir::TensorId t : k.writes) EXPECT_NE(models[0].plan->backward->graph[t].name, "y");
}

}  // namespace
}  // namespace attn::testing
