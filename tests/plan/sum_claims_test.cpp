// Which sums are loops over windows, products of matrices, or running: from a model's text to its
// kernels.
#include <gtest/gtest.h>

#include "forms.h"

namespace attn::testing {
namespace {

struct SumClaim {
  const char *name, *text, *kernels;
};
void PrintTo(const SumClaim& c, std::ostream* out) { *out << c.name; }

constexpr SumClaim kClaims[] = {
    {"RunningSums", R"(
train model t(x: [N, D]) -> y {
  y[i: N, d] = sum[j where j <= i] x[j,d]
})",
     "loops y <- y\nbackward: loops dx <- dx"},
    {"WindowsOfEachChannel", R"(
train model t(x: [B, D, T], w: [D, 3]) -> y {
  y[b,d,t: T] = sum[k: 3 where inside] x[b,d,t + k - 1] * w[d,k]
})",
     "loops y <- y\nbackward: loops dx <- dx\n"
     "backward: row dw.part <- dw.part\nbackward: row dw <- dw"},
    {"ConvolutionOfGroups", R"(
size G = 4, C = 16, F = 16
train model t(x: [B, G*C, T], w: [G*F, C, 3]) -> y {
  y[b,f: G*F,t: T] = sum[c: C, k: 3 where inside] x[b,C * (f // F) + c,t + k - 1] * w[f,c,k]
})",
     "contraction y.part <- y.part\nloops y <- y\n"
     "backward: contraction dx.part <- dx.part\nbackward: loops dx <- dx\n"
     "backward: contraction dw.part <- dw.part\nbackward: loops dw <- dw"},
    {"ConvolutionWithStrides", R"(
size C = 16, F = 16
train model t(x: [B, C, 2*T], w: [F, C, 3]) -> y {
  y[b,f,t: T] = sum[c, k: 3 where inside] x[b,c,2*t + k - 1] * w[f,c,k]
})",
     "contraction y <- y\nbackward: contraction dw <- dw\n"
     "backward: contraction dx.part <- dx.part\nbackward: loops dx <- dx"},
    {"WindowsOfScores", R"(
model t(q: [B, T, D], k: [B, T, D], v: [B, T, D], w: [3, 3]) -> z {
  s[b,i,j] = sum[d] q[b,i,d] * k[b,j,d]
  c[b,i: T,j: T] = sum[m: 3, n: 3 where inside] w[m,n] * s[b,i + m - 1,j + n - 1]
  p[b,i,j] = softmax[j] (c[b,i,j])
  z[b,i,d] = sum[j] p[b,i,j] * v[b,j,d]
})",
     "contraction s <- s\nstreaming z <- c p.lse z"},
};

class SumClaims : public ::testing::TestWithParam<SumClaim> {};

TEST_P(SumClaims, AreOfOneForm) { EXPECT_EQ(kernels_of(GetParam().text), GetParam().kernels); }

INSTANTIATE_TEST_SUITE_P(Each, SumClaims, ::testing::ValuesIn(kClaims),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace attn::testing
