// Each pass over several sums: lines before -> lines after.
#include "compiler/simplify/passes.h"

#include "compiler/simplify/pass.h"
#include "lines.h"

namespace attn::testing {
namespace {

using namespace simplify;

TEST(MergeEqual, KeepsOneUpToNamesAndOrder) {
  expect_pass(merge_equal, R"(
    size T, E
    input q[T,E], k[T,E]
    a[i,j] = sum[e] q[i,e] * k[j,e]
    b[m,n] = sum[f] k[n,f] * q[m,f]
    c[i,j] = sum[e] q[j,e] * k[i,e]
    y[i,j] = a[i,j] + b[i,j] + c[i,j]
    output y)",
              {"a[i,j] = sum[e] q[i,e] * k[j,e]", "c[i,j] = sum[e] k[i,e] * q[j,e]",
               "y[i,j] = 2 * a[i,j] + c[i,j]"});
}

TEST(MergeEqual, CopiesAnOutputThatIsComputedTwice) {
  expect_pass(merge_equal, R"(
    size T
    input x[T,T]
    a[i] = sum[j] x[i,j]
    b[i] = sum[j] x[i,j]
    output a, b)",
              {"a[i] = sum[j] x[i,j]", "b[i] = a[i]"});
}

TEST(MergeScaled, SumsOnce) {
  expect_pass(
      merge_scaled, R"(
    size T, E
    input x[T,E], u[T]
    a[i] = sum[e] 2 * u[i] * x[i,e]^2
    b[i] = sum[e] 3 * x[i,e]^2
    output a, b)",
      {"a.core[i] = sum[e] x[i,e]^2", "a[i] = 2 * u[i] * a.core[i] where a.core[i] != 0",
       "b[i] = 3 * a.core[i]"});
}

TEST(MergeScaled, SumsOnceWhereOneHasNoCondition) {
  expect_pass(merge_scaled, R"(
    size T, E
    input x[T,E], u[T], v[T]
    a[i] = sum[e where u[i] > 0] v[i] * x[i,e]^2
    b[i] = sum[e] 3 * x[i,e]^2
    output a, b)",
              {"a.core[i] = sum[e] x[i,e]^2",
               "a[i] = v[i] * a.core[i] where u[i] > 0 and a.core[i] != 0",
               "b[i] = 3 * a.core[i]"});
  // Else it would be computed where nobody asks for it.
  expect_pass(merge_scaled, R"(
    size T, E
    input x[T,E], u[T], v[T]
    a[i] = sum[e where u[i] > 0] v[i] * x[i,e]^2
    b[i] = sum[e where u[i] < 0] 3 * x[i,e]^2
    c[i] = sum[e where u[i] > 0] 2 * x[i,e]^2
    output a, b, c)",
              {"a.core[i] = sum[e where u[i] > 0] x[i,e]^2",
               "a[i] = v[i] * a.core[i] where a.core[i] != 0",
               "b[i] = sum[e where u[i] < 0] 3 * x[i,e]^2", "c[i] = 2 * a.core[i]"});
}

TEST(MergeScaled, SumsAnewForTargetsThatRepeatASum) {
  expect_pass(merge_scaled, R"(
    size T, E
    input x[T,E]
    a[i,j: T] = sum[e] x[i,e]^2
    b[i] = sum[e] 3 * x[i,e]^2
    output a, b)",
              {"a.core[i] = sum[e] x[i,e]^2", "a[i,j: T] = a.core[i]", "b[i] = 3 * a.core[i]"});
}

TEST(ReBracket, SumsThePairThatTakesFewerPoints) {
  expect_pass(re_bracket, R"(
    size T, E = 4
    input q[T,E], k[T,E], v[T,E]
    z[i,e] = sum[j,f] q[i,f] * k[j,f] * v[j,e]
    output z)",
              {"z.pair[e, e2] = sum[j] k[j,e2] * v[j,e]", "z[i,e] = sum[f] q[i,f] * z.pair[e,f]"});
}

TEST(ReBracket, LeavesAContractionOfASumWhole) {
  const Lines same = {"s[i,j] = sum[e] (q[i,e] + u[e]) * k[j,e]"};
  expect_pass(re_bracket, R"(
    size T, E = 4
    input q[T,E], k[T,E]
    param u[E]
    s[i,j] = sum[e] (q[i,e] + u[e]) * k[j,e]
    output s)",
              same);
}

TEST(ReBracket, KnowsWhatWeightsSumTo) {
  expect_pass(re_bracket, R"(
    size T, E = 4
    input q[T,E], k[T,E], g[T]
    s[i,j] = sum[e] q[i,e] * k[j,e]
    y[i] = logsumexp[j where j <= i] s[i,j]
    p[i,j] = exp(s[i,j] - y[i]) where j <= i
    r[i] = sum[j where j <= i] g[i] * p[i,j]
    output r, y)",
              {"s[i,j] = sum[e] q[i,e] * k[j,e]", "y[i] = logsumexp[j where j <= i] s[i,j]",
               "p[i,j] = exp(s[i,j] - y[i]) where j <= i", "r[i] = g[i] where -3e38 < y[i]"});
}

TEST(ReBracket, ReadsASumOfTheSameConditionsOnly) {
  expect_pass(
      re_bracket, R"(
    size T, E = 4
    input p[T,T], v[T,E], g[T,E]
    z[i,e] = sum[j where j <= i] p[i,j] * v[j,e]
    a[i] = sum[j,e where j <= i] p[i,j] * v[j,e] * g[i,e]
    b[i] = sum[j,e where j < i] p[i,j] * v[j,e] * g[i,e]
    output z, a, b)",
      {"z[i,e] = sum[j where j <= i] p[i,j] * v[j,e]", "a[i] = sum[e] g[i,e] * z[i,e]",
       "b.pair[i,e] = sum[j where j < i] p[i,j] * v[j,e]", "b[i] = sum[e] g[i,e] * b.pair[i,e]"});
}

// No two sides of these three make a product that packing would serve; of a pair they do.
TEST(ReBracket, SumsAPairFirstWhereAllWouldBeNoProductOfTwo) {
  expect_pass(re_bracket, R"(
    size B, N = 64, M = 32
    input dy[B,M], w[N,M], z[B,N], s[B]
    dg[n] = sum[b,m] dy[b,m] * w[n,m] * z[b,n]
    dz[b,n] = sum[m] dy[b,m] * s[b] * w[n,m]
    dw[n,m] = sum[b] dy[b,m] * s[b] * z[b,n]
    output dg, dz, dw)",
              {"dg.pair[n,b] = sum[m] dy[b,m] * w[n,m]", "dg[n] = sum[b] z[b,n] * dg.pair[n,b]",
               "dz[b,n] = s[b] * dg.pair[n,b]", "dw[n,m] = sum[b] dy[b,m] * s[b] * z[b,n]"});
}

TEST(ReBracket, CountsAnIndexThatNothingMentions) {
  expect_pass(re_bracket, R"(
    size T, S
    input x[T]
    y = sum[i, j: S] x[i]
    z = sum[i, j: S - 4] x[i]
    output y, z)",
              {"y = sum[i] S * x[i]", "z = sum[i, j: S - 4] x[i]"});
}

TEST(Specialise, ComputesAnUnmaterialisedTensorWhereItIsRead) {
  expect_pass(specialise, R"(
    size N, D = 2, V = 200
    input h[N,D]
    int t[N]
    param w[V,D]
    l[n,v] = sum[d] h[n,d] * w[v,d]
    y[n] = logsumexp[v] l[n,v]
    r[n] = y[n] - l[n,t[n]]
    output r)",
              {"l[n,v] = sum[d] h[n,d] * w[v,d]", "y[n] = logsumexp[v] l[n,v]",
               "l.at[n] = sum[d] h[n,d] * w[t[n], d]", "r[n] = y[n] - l.at[n]"});
}

TEST(Factor, CollectsWhatTermsShare) {
  expect_pass(factor, R"(
    size T
    input a[T], b[T], p[T], c[T]
    y[i] = a[i] * p[i] + b[i] * p[i] + c[i]
    output y)",
              {"y[i] = c[i] + p[i] * (a[i] + b[i])"});
}

TEST(Pipeline, NamesEveryPassOnce) {
  std::set<std::string> names;
  for (const Pass& p : pipeline()) EXPECT_TRUE(names.insert(p.name).second) << p.name;
  EXPECT_EQ(names.size(), 19u);
}

}  // namespace
}  // namespace attn::testing
