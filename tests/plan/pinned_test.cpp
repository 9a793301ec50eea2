// Programs that the planner once failed on: random programs, made small. The number is the seed.
#include <gtest/gtest.h>

#include "forms.h"

namespace attn::testing {
namespace {

struct Pinned {
  const char *name, *text;
};
void PrintTo(const Pinned& p, std::ostream* out) { *out << p.name; }

const Pinned kPinned[] = {
    {"UnderAConditionOfSizesThatNeverHolds837", R"(
size B in 1.., T, S in 1.., M, N = 4
train model m(x1: [B, T, N], x2: [B, S, M]) -> z14 {
  param w1: [N, M]
  q11[i: B, j: T, m: M] = sum[l] l * w1[l,m]
  p12[i: B, j: T, k: T] = (sum[m] q11[i,j,m] * q11[i,k,m]) / 4 + 1    where S == 0
  z14[i: B, k: T] = sum[j] p12[i,j,k]
}
)"},
    {"SumsUnderKnownSizes1367", R"(
size B, T, N = 4

train model m(x1: [B, T, N]) -> z7, p6, u4 {
  u4[i: B, l: 2*T - 1]    = sum[j: T, k: T] x1[i,k,1]
  p6[i: B, j: T, k: T] = softmax[k where N < 3] (1)
  z7[i: B, j: T, l: N] = sum[k] p6[i,j,k] * x1[i,k,l]
}
)"},
    {"AResultThatATileAndAnotherKernelRead3585", R"(
size B, T, M = 1, N = 1

train model m(x1: [B, T, N]) -> c7 {
  param scalar: f32
  param w3: [N, N]
  q1[i: B, j: T, m: M] = sum[l] x1[i,j,l]
  p2[i: B, j: T, k: T] = sigmoid((sum[m] q1[i,k,m]) / 4 + scalar * j)
  z4[i: B, k: T] = sum[j] p2[i,j,k]
  scan t: T {
    a6[i,t,j] = erf(w3[j,i])
  }
  c7[i: 2, j] = (sum[k: N, l] a6[k,l,k] * z4[j,l]) * 0.0625
}
)"},
    {"WeightsOfOneKey3684", R"(
size B in 1.., T in 1.., S, M, N = 1

train model m(x1: [B, T, N], x3: [T]) -> c10, p9 {
  param w1: [N, M]
  param w3: [N, S, 1]
  param w2: [1, T, M]
  q5[i: B, j: T, m: M] = sum[l] x1[i,j,l] * w1[l,m]
  p6[i: B, j: T, k: T] = softmax[k where k == 0] ((sum[m] q5[i,j,m] * q5[i,k,m]) / 4 + 0.5)
  z7[i: B, j: T, l: N] = sum[k] p6[i,j,k] * x1[i,k,l]
  k8[i: S, j] = x3[j]
  p9[i,j] = softmax[j] (k8[j,i])
  c10[i, j: B] = (sum[k where i <= k] z7[j,i,k]) * 0.25
}
)"},
    {"DiagonalsOfNormalizedRows5082", R"(
use std.norm
size B, T, S in 1.., N = 2

block layer5(x: [..., N]) -> y, z {
  param w: [N, N]
  y[..., n] = sum[m] w[n,m]
  z[...]    = 1
}

train model m(kind: [B, T], on: [S]) -> k13, y8 {
  param scalar: f32
  r4[m: T // 2, i: B, k: N] = 1
  (y6, z7) = layer5(r4)
  y8 = layer_norm_eps(y6, 0.25)
  scan t: T down {
    c11[i: 2, j: T, t] = (sum[k: N] scalar *
        (if 0 <= j - 2 and j < N then y6[j - 2, j - 2, 1] else 0)) * 0.5 + 1
  }
  k13[i: S, j] = c11[1,j,j]
}
)"},
    {"APlaceBeyondTheTiles637", R"(
size B, T, M = 1, N = 1
train model m(x1: [B, T, N]) -> u10 {
  q1[i: B, j: T, m: M] = 1
  p2[i: B, j: T, k: T] = (sum[m: M] j * q1[i,k,m]) / 4 + 1
  u10[i: B, l: 2*T - 1]   = sum[j: T, k: T where l == j] p2[i,k,j]
}
)"},
    {"RowsAtOnePlace5888", R"(
size B, T, M = 1, N = 1
train model m(x1: [B, T, N]) -> c7 {
  param scalar: f32
  q1[i: B, j: T, m: M] = 1
  p2[i: B, j: T, k: T] = softmax[k] ((sum[m: M] j * q1[i,k,m]) / 4 + 0.5)
  z3[i: B, j: T, l: N] = sum[k: T] p2[i,j,k] * x1[i,k,l]
  c7[i: N, j: M] = (if 1 < B and j < T then z3[1,j,j] else 0) * scalar * 0.25 + 1
}
)"},
    {"OnePointOfAScatter2978", R"(
size B, T, M = 1, N = 1
train model m(x1: [B, T, N]) -> c4 {
  param scalar: f32
  param w1: [N, M]
  u2[i: B, l: 2*T - 1] = sum[j: T, k: T where l == 1] (if i % 2 == 1 then 1 else scalar)
  c4[i: N, j: B, k: T] = (sum[l: N] (if 1 < B and 1 < T then u2[1,1] else 1) *
      (if j < N then w1[j,i] else 0)) * 0.25 + 1
}
)"},
    {"ATileOfASumThatItsConditionsRuleOut", R"(
size T, K
model m(n: int, v: [T, 3], q: [T, 3], k: [2, K, 3]) -> y {
  s[h,i,j] = sum[e] k[h,i,e] * q[j,e]
  z[h,i,d] = sum[j] s[h,i,j]^2 * v[j,d]
  t[i,d: 3] = sum[h,e] z[h,i,e]
  y[i,j: T] = t[i,j] where j < 3 and n > 1 and (if 3 != n then 0 else 1) > n
}
)"},
};

class PinnedPlans : public ::testing::TestWithParam<Pinned> {};

// Plans are verified as they are made.
TEST_P(PinnedPlans, ComputeWhatTheirDefinitionsDo) {
  const auto file = planned_text(GetParam().text);
  ASSERT_FALSE(file->source.diagnostics.has_errors());
  ASSERT_FALSE(file->kernels.empty());
  for (const KernelCase& c : file->kernels)
    for (uint64_t seed = 1; seed <= 2; ++seed)
      EXPECT_EQ(FormCheck(c, seed).difference(c.kernel->form), "") << c.kernel->name;
}

INSTANTIATE_TEST_SUITE_P(Each, PinnedPlans, ::testing::ValuesIn(kPinned),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace attn::testing
