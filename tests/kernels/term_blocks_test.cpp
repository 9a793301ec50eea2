// Sums that are taken in blocks of their terms.
#include <gtest/gtest.h>

#include <algorithm>

#include "agreement.h"
#include "compiler/lower/lower.h"

namespace attn::testing {
namespace {

int blocks_in(const plan::Function& f) {
  int blocks = 0;
  for (const plan::Slice& s : f.slices) blocks += s.block > 0;
  return blocks;
}

// What is read at the terms lies anywhere in a tensor; with a saved block, blocks lie within what
// is saved; without one, each lies where the others did. `plain` and `trains` compute the same h,
// in kernels of their own.
TEST(TermBlocks, GiveWhatTheEvaluatorGives) {
  if (tested_target() != lower::host_target()) GTEST_SKIP() << "plans of GPUs have no blocks";
  std::vector<driver::Compiled> models = compile_text(R"(
size T, D = 200, F = 1536, X = 3
train model gated(x: [T, D], on: int[T], seen: bool[T, D]) -> y, s {
  param p: [F, X, D], u: [X, D, F], w: [X, D, F], bias: [X, F], c: [F, 3]
  g[f] = sum[k: 3] c[f,k]
  a[t,f] = bias[on[t],f] + (sum[d where seen[t,d]] x[t,d] * p[f,on[t],d])
  b[t,f] = g[f] * (sum[d] x[t,d] * u[on[t],d,f])
  h[t,f] = a[t,f] * sigmoid(a[t,f]) * b[t,f]
  y[t,d] = x[t,d] + 0.01 * (sum[f] h[t,f] * w[on[t],d,f])
  s = sum[f] g[f]
}
train model turned(x: [T, D], on: int[T]) -> y: [D, T] {
  param v: [X, F, D], w: [X, D, F]
  h[f,t] = relu(sum[d] x[t,d] * v[on[t],f,d])
  y[d,t] = sum[f] h[f,t] * w[on[t],d,f]
}
model plain(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  h[t,f] = relu(sum[d] x[t,d] * v[on[t],f,d])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f]
}
train model trains(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  h[t,f] = relu(sum[d] x[t,d] * v[on[t],f,d])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f]
}
train model frozen(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  a[t,f] = sum[d] x[t,d] * stop(v[on[t],f,d])
  h[t,f] = a[t,f] * sigmoid(a[t,f])
  y[t,d] = sum[f] h[t,f] * stop(w[on[t],d,f])
}
train model steps(x: [T, D], on: int[T], keep: bool[T, F]) -> y {
  param v: [X, F, D], w: [X, D, F], r: [D]
  h[t,f] = relu(sum[d] x[t,d] * v[on[t],f,d])
  z[t,d] = 0.1 * (sum[f where keep[t,f]] h[t,f] * w[on[t],d,f])
  scan t: T { y[t,d] = tanh(z[t,d] + r[d] * y[t-1,d]) from 0 }
}
)",
                                                      {}, Derive::as_written);
  for (const driver::Compiled& m : models)
    EXPECT_GE(blocks_in(m.plan->forward), 2) << plan::to_string(*m.plan);
  // Without gradients of weights, what backward sums over the hidden values has blocks, too.
  const auto frozen = std::ranges::find(models, "frozen", &driver::Compiled::name);
  EXPECT_GE(blocks_in(*frozen->plan->backward), 2) << plan::to_string(*frozen->plan);
  Library library(std::move(models));
  const Arrays given = experts_call(library.model("plain"), 11, 3);
  const Outcome plain = library.call(given, {.gradient = false}, "plain");
  EXPECT_EQ(differ(library.reference(given, "plain", {.gradient = false}), plain.values, 5e-5), "")
      << plain.message;
  for (const std::string model : {"gated", "turned", "trains", "frozen", "steps"})
    for (const int64_t t : {0, 1, 3, 11}) {
      SCOPED_TRACE(model + " of " + std::to_string(t));
      expect_agreement(library, model, experts_call(library.model(model), t, 3), 5e-5);
    }
  // Of a and h one of two blocks is in memory; where backward follows, all of them and of b.
  const int64_t row = 1536 * 4;
  const Outcome o = library.call(experts_call(library.model("gated"), 130, 3), {}, "gated");
  EXPECT_LT(o.unsaved, 130 * (row / 2 + 200 * 4) + 16384);
  EXPECT_GE(o.apart, 130 * 3 * row);
}

}  // namespace
}  // namespace attn::testing
