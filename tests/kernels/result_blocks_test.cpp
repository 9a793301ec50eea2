// The last product of groups, computed in blocks of its results.
#include <gtest/gtest.h>

#include <algorithm>

#include "agreement.h"
#include "compiler/lower/lower.h"

namespace attn::testing {
namespace {

// What lies where the last step writes is read by that step before; what does not fit there, of
// more than 36 rows, is read where it lies. A gradient that is left out is not computed, and lends
// nothing.
TEST(ResultBlocks, GiveWhatTheEvaluatorGives) {
  if (tested_target() != lower::host_target()) GTEST_SKIP() << "plans of GPUs have no blocks";
  std::vector<driver::Compiled> models = compile_text(R"(
size T, D = 72, F = 1536, X = 3
train model gated(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], u: [X, F, D], w: [X, D, F]
  a[t,f] = sum[d] x[t,d] * v[on[t],f,d]
  b[t,f] = sum[d] x[t,d] * u[on[t],f,d]
  h[t,f] = a[t,f] * sigmoid(a[t,f]) * b[t,f]
  y[t,d] = x[t,d] + 0.01 * (sum[f] h[t,f] * w[on[t],d,f])
}
train model scaled(x: [T, D], on: int[T]) -> y {
  param p: [F, X, D], w: [X, D, F], c: [F]
  a[t,f] = c[f] * (sum[d] x[t,d] * p[f,on[t],d])
  h[t,f] = a[t,f] * sigmoid(a[t,f])
  y[t,d] = 0.01 * (sum[f] h[t,f] * w[on[t],d,f])
}
)",
                                                      {}, Derive::as_written);
  for (const driver::Compiled& m : models)
    EXPECT_TRUE(std::ranges::any_of(m.plan->backward->slices, [&](const plan::Slice& s) {
      return s.block == 768 && m.plan->backward->places[s.whole.value] == plan::Place::result;
    })) << plan::to_string(*m.plan);
  Library library(std::move(models));
  for (const std::string model : {"gated", "scaled"})
    for (const int64_t t : {0, 1, 3, 31, 37}) {
      SCOPED_TRACE(model + " of " + std::to_string(t));
      const Arrays given = experts_call(library.model(model), t, 3);
      expect_agreement(library, model, given, 5e-5);
      const Outcome all = library.call(given, {}, model);
      for (const auto& [name, array] : all.values) {
        if (name == "y") continue;
        const Outcome one = library.call(given, {.wanted = {name}}, model);
        ASSERT_EQ(one.status, ATTN_OK) << one.message;
        EXPECT_EQ(one.values.size(), 2) << name;  // and y
        EXPECT_TRUE(same_bits(one.values.at(name).values, array.values)) << name;
      }
    }
  // Beside the gradients is half of what the last of them is summed from, or all of it.
  const auto at_once = [&](int64_t t) {
    return library.call(experts_call(library.model("gated"), t, 3), {}, "gated").at_once;
  };
  EXPECT_LT(at_once(31), 31 * (1536 * 4 / 2 + 72 * 4) + 16384);
  EXPECT_GT(at_once(37), 37 * 1536 * 4);
  EXPECT_LT(at_once(37), 37 * (1536 * 4 + 72 * 4) + 16384);
}

}  // namespace
}  // namespace attn::testing
