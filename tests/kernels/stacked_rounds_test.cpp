// Tensors of which each round of a `repeat` makes a part.
#include <gtest/gtest.h>

#include "compiled.h"

namespace attn::testing {
namespace {

// All layers as one output, and a mixture of them; each part reads the one before it.
TEST(StackedRounds, GiveWhatTheEvaluatorGives) {
  Library library(compile_text(R"(
    size B, T, D = 9, L = 3
    block layer(x: [..., D]) -> y {
      param w: [D, D], b: [D] = normal(0, 0.5)
      y[..., d] = x[..., d] + tanh((sum[k] x[..., k] * w[d,k]) + b[d])
    }
    train model m(x: [B, T, D]) -> y, all {
      param mix: [L]
      repeat l: L as layers {
        x = layer(x)
        all[b,l,t,d] = x[b,t,d]
      }
      p[l] = softmax[l] (mix[l])
      y[b,t,d] = sum[l] p[l] * all[b,l,t,d]
    })"));
  for (const auto& [b, t] : {std::pair{2, 0}, {1, 1}, {2, 3}, {3, 17}}) {
    const Arrays given = random_call(library.model(), {{"B", b}, {"T", t}}, 5);
    const Outcome o = library.call(given);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    EXPECT_EQ(differ(library.reference(given), o.values), "") << b << " " << t;
    if (t == 3) {
      EXPECT_EQ(differ_from_differences(library.model(), given), "");
    }
  }
}

}  // namespace
}  // namespace attn::testing
