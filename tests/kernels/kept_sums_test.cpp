// Sums that a kernel stores beside what it makes of them, for backward alone.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "agreement.h"
#include "compiler/lower/lower.h"

namespace attn::testing {
namespace {

// A call without a saved block writes nothing of the sum that backward reads, whichever code
// computes it: of few and of many rows, of rows in groups, and where what is hidden is not finite.
TEST(Products, LeaveOutWhatIsStoredForBackwardAlone) {
  Library library(compile_text(R"(
size T, D = 40, F = 150, X = 3
train model gate(x: [T, D], on: bool[T, D]) -> y {
  param w1: [F, D], w2: [D, F]
  a[t,f] = sum[d where on[t,d]] x[t,d] * w1[f,d]
  h[t,f] = a[t,f] * sigmoid(a[t,f])
  y[t,d] = sum[f] h[t,f] * w2[d,f]
}
train model experts(x: [T, D], on: int[T]) -> y {
  param v1: [X, F, D], v2: [X, D, F]
  a[t,f] = sum[d] x[t,d] * v1[on[t], f, d]
  h[t,f] = a[t,f] * sigmoid(a[t,f])
  y[t,d] = sum[f] h[t,f] * v2[on[t], d, f]
}
)"));
  for (const std::string model : {"gate", "experts"})
    for (const int64_t t : {0, 1, 3, 17, 130, 200}) {
      SCOPED_TRACE(model + " of " + std::to_string(t));
      Arrays given = random_call(library.model(model), {{"T", t}}, 3);
      if (model == "experts")
        for (double& expert : given.at("on").values)
          expert = static_cast<int>(std::abs(expert)) % 3;
      expect_agreement(library, model, given, 5e-5);
      const Outcome o = library.call(given, {}, model);
      // Of h and y alone, which with a are in memory where backward follows. (GPUs write a.)
      const int64_t h = t * 150 * 4;
      if (tested_target() == lower::host_target()) {
        EXPECT_LT(o.unsaved, h + h / 2 + 4096);
      }
      EXPECT_GE(o.apart, 2 * h);
      if (model == "experts") continue;
      std::vector<double>&x = given.at("x").values, &on = given.at("on").values;
      for (size_t k = 0; k < x.size(); ++k)
        if (on[k] == 0) x[k] = k % 2 ? std::numeric_limits<double>::infinity() : std::nan("");
      const Outcome hidden = library.call(given, {}, model);
      ASSERT_EQ(hidden.status, ATTN_OK) << hidden.message;
      EXPECT_TRUE(same_bits(o.values.at("y").values, hidden.values.at("y").values));
    }
}

}  // namespace
}  // namespace attn::testing
