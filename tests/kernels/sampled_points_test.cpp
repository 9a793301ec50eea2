// Sums that data adds along several dimensions at once: gradients of what is read between points of
// an image, and counts of pairs.
#include <gtest/gtest.h>

#include "agreement.h"
#include "compiler/solve/equalities.h"

namespace attn::testing {
namespace {

Library& sampled() {
  static Library library(compile_text(R"(
size B, Q, R = 9, C = 7, E, N
train model between(x: [B, R, C, E], at: [B, Q, 2]) -> z {
  r[b,q] = 6 * at[b,q,0] + 3
  c[b,q] = 6 * at[b,q,1] + 3
  fr[b,q] = r[b,q] - floor(r[b,q])
  fc[b,q] = c[b,q] - floor(c[b,q])
  wr[b,q,u: 2] = if u == 0 then 1 - fr[b,q] else fr[b,q]
  wc[b,q,s: 2] = if s == 0 then 1 - fc[b,q] else fc[b,q]
  ir[b,q] = int(floor(r[b,q]))
  ic[b,q] = int(floor(c[b,q]))
  z[b,q,e] = sum[u: 2, s: 2 where 0 <= ir[b,q] + u < R and 0 <= ic[b,q] + s < C] wr[b,q,u] *
             wc[b,q,s] * x[b,ir[b,q] + u,ic[b,q] + s,e]
}
train model lines(x: [R, E], at: int[N]) -> z {
  z[n,e] = sum[u: 3 where at[n] + u < R] x[at[n] + u,e] * (u + 1)
}
train model shifted(a: int[N], w: [N]) -> y {
  y[i: R,j: C] = sum[n where i == j + a[n]] w[n]
}
train model pairs(a: int[N], b: int[N], w: [N]) -> y, m {
  y[i: R, j: C] = sum[n where i == a[n] and j == b[n]] w[n]
  m[i: R, j: C] = max[n where i == a[n] and j == b[n]] w[n]
}
)"));
  return library;
}

TEST(SampledPoints, GiveWhatTheEvaluatorGives) {
  for (int64_t b : {0, 1, 2})
    for (int64_t q : {0, 1, 3, 23})
      for (int64_t e : {0, 1, 16, 17}) {
        const Sizes sizes = {{"B", b}, {"Q", q}, {"E", e}};
        SCOPED_TRACE(text_of(sizes));
        expect_agreement(sampled(), "between", random_call(sampled().model("between"), sizes, 3),
                         2e-4);
      }
  for (int64_t n : {0, 1, 3, 40})
    for (int64_t e : {0, 1, 17}) {
      const Sizes lines = {{"N", n}, {"E", e}}, pairs = {{"N", n}};
      SCOPED_TRACE(text_of(lines));
      expect_agreement(sampled(), "lines", random_call(sampled().model("lines"), lines, 3, 9),
                       2e-5);
      expect_agreement(sampled(), "shifted", random_call(sampled().model("shifted"), pairs, 3, 7),
                       2e-5);
      expect_agreement(sampled(), "pairs", random_call(sampled().model("pairs"), pairs, 3, 7),
                       2e-5);
    }
}

// Each point is visited once, not once for each element that it might belong to.
TEST(SampledPoints, AreAddedWhereTheyBelong) {
  for (const auto& [model, name, dimensions] :
       {std::tuple("between", "dx", size_t{2}), std::tuple("lines", "dx", size_t{1})}) {
    ir::Graph gradient = *sampled().model(model).gradient;
    bool found = false;
    for (const ir::Definition& d : std::vector<ir::Definition>(gradient.definitions)) {
      if (gradient[d.target].name != name) continue;
      found = true;
      EXPECT_EQ(solve::find_scatters(solve::solve_equalities(gradient, d)).size(), dimensions)
          << model;
    }
    EXPECT_TRUE(found) << model;
  }
}

}  // namespace
}  // namespace attn::testing
