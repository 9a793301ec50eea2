// Each pass: lines before -> lines after.
#include "compiler/simplify/passes.h"

#include "lines.h"

namespace attn::testing {
namespace {

using namespace simplify;

TEST(SpreadGuards, GivesAProductTheGuardsOfItsFactors) {
  expect_pass(strengthen, R"(
    size T
    input a[T], b[T]
    p[i,j] = a[i] * b[j] where j <= i
    z[i] = sum[j] p[i,j] * b[j]
    output z)",
              {"p[i,j] = a[i] * b[j] where j <= i", "z[i] = sum[j where j <= i] b[j] * p[i,j]"});
}

TEST(SpreadGuards, TakesOnlyWhatAllTermsShare) {
  expect_pass(strengthen, R"(
    size T
    input a[T], b[T]
    p[i,j] = a[i] * b[j] where j <= i
    r[i,j] = p[i,j] + a[j]
    output r)",
              {"p[i,j] = a[i] * b[j] where j <= i", "r[i,j] = a[j] + p[i,j]"});
}

TEST(SpreadGuards, GivesATensorWhatItsReadersDemand) {
  expect_pass(
      demand, R"(
    size T, E
    input q[T,E], k[T,E]
    s[i,j] = sum[e] q[i,e] * k[j,e]
    z[i] = sum[j where j <= i] exp(s[i,j])
    output z)",
      {"s[i,j] = sum[e] q[i,e] * k[j,e] where j <= i", "z[i] = sum[j where j <= i] exp(s[i,j])"});
}

// An index that conditions speak of is the same in each read; other subscripts do not matter.
TEST(SpreadGuards, DemandsThroughSplitsAndGathers) {
  expect_pass(demand, R"(
    size T, H, E
    input q[T,H,E], w[T,E]
    int n[T]
    s[t,h,e] = q[t,h,e] ^ 2
    r[t,e] = w[t,e] ^ 2
    y[t,i: H * E] = s[t, i // E, i % E] + r[n[t], i % E] where n[t] > t
    output y)",
              {"s[t,h,e] = q[t,h,e]^2 where n[t] > t", "r[t,e] = w[t,e]^2",
               "y[t,i] = r[n[t], i % E] + s[t, i // E, i % E] where n[t] > t"});
}

TEST(SpreadGuards, DemandsNothingWhereOneReaderIsFree) {
  const Lines same = {"s[i,j] = a[i] * a[j]", "z[i] = sum[j where j <= i] exp(s[i,j])",
                      "y[i] = max[j] s[i,j]"};
  expect_pass(demand, R"(
    size T
    input a[T]
    s[i,j] = a[i] * a[j]
    z[i] = sum[j where j <= i] exp(s[i,j])
    y[i] = max[j] s[i,j]
    output z, y)",
              same);
}

TEST(Fold, TurnsABoundIntoARange) {
  expect_pass(fold, R"(
    size S
    input x[S + 1]
    y = sum[j where j < S] x[j]
    output y)",
              {"y = sum[j: S] x[j]"});
}

TEST(Fold, TakesTheOneValueOfAnIndex) {
  expect_pass(fold, R"(
    size S, N = 4
    input x[N, S], z[N, S]
    u = sum[i, j where i <= 0] x[i,j]
    v = sum[i, j where i >= N - 1] z[i,j]
    w = sum[i where i >= N - 1] x[i,0]
    output u, v, w)",
              {"u = sum[j] x[0,j]", "v = sum[j] z[N - 1, j]", "w = x[N - 1, 0]"});
}

// Of no value it would be read outside of its range.
TEST(Fold, LeavesAnIndexThatMayHaveNoValue) {
  expect_pass(fold, R"(
    size S
    input x[S]
    y = sum[i where i >= S - 1] x[i]
    output y)",
              {"y = sum[i where i >= S - 1] x[i]"});
}

TEST(Fold, SimplifiesUnderTheGuard) {
  expect_pass(fold, R"(
    size T
    input a[T], b[T]
    y[i,j] = if j <= i then a[i] else b[j] where j <= i
    output y)",
              {"y[i,j: T] = a[i] where j <= i"});
}

TEST(Fold, DropsAnIndexThatAnEqualityDetermines) {
  expect_pass(fold, R"(
    size N, V
    input d[N]
    int t[N]
    y[n] = sum[v: V where v == t[n]] d[n]
    output y)",
              {"y[n] = d[n] where 0 <= t[n] < V"});
}

TEST(Fold, KeepsAnIndexWhereALongerOneIsSolvedInstead) {
  expect_pass(fold, R"(
    size N, T
    input d[T]
    y[n: N] = sum[t: T, k: 3 where n == 2 * t + k] d[t]
    output y)",
              {"y[n: N] = sum[t, k: 3 where n == 2 * t + k] d[t]"});
  expect_pass(fold, R"(
    size N, T
    input d[3]
    y[n: N] = sum[t: 3, k: T + 3 where n == 2 * t + k] d[t]
    output y)",
              {"y[n: N] = sum[t where 0 <= n - 2 * t < T + 3] d[t]"});
}

TEST(Fold, ComputesNothingWhereSizesOrRangesExcludeTheCondition) {
  expect_pass(fold, R"(
    size T, N = 4
    input x[T,N]
    y[i] = sum[n where N < 3] x[i,n]
    z[i,k:2] = x[i,k] where k > 1
    m[i] = max[n where N < 3] x[i,n]
    output y, z, m)",
              {"y[i] = 0", "z[i,k] = 0", "m[i] = max[n where N < 3] x[i,n]"});
}

TEST(Fold, MakesASumOfNothingAMap) {
  expect_pass(fold, R"(
    size T
    input x[T]
    y = sum[i] 0 * x[i]
    output y)",
              {"y = 0"});
}

TEST(Inline, SubstitutesScaledCopies) {
  expect_pass(inline_trivial, R"(
    size T
    input x[T]
    param w
    a[i] = 2 * w * x[i]
    b[i] = exp(a[i])
    output b)",
              {"a[i] = 2 * w * x[i]", "b[i] = exp(2 * w * x[i])"});
}

TEST(Inline, LeavesGathersAlone) {
  const Lines same = {"x[i,d] = table[token[i], d]", "y[i] = sum[d] x[i,d]^2"};
  expect_pass(inline_trivial, R"(
    size T, V, D
    int token[T]
    param table[V,D]
    x[i,d] = table[token[i],d]
    y[i] = sum[d] x[i,d]^2
    output y)",
              same);
}

TEST(Inline, KeepsWhatAMaximumIsComparedWith) {
  expect_pass(inline_trivial, R"(
    size T
    input x[T], w, g
    a[i] = w * x[i]
    b[i] = x[i]
    m = max[i] a[i]
    n = max[i] b[i]
    d[i] = g where a[i] == m
    e[i] = g where b[i] == n
    output d, e)",
              {"a[i] = w * x[i]", "b[i] = x[i]", "m = max[i] a[i]", "n = max[i] x[i]",
               "d[i] = g where a[i] == m", "e[i] = g where x[i] == n"});
}

TEST(Inline, KeepsTheGuardOfWhatItSubstitutes) {
  expect_pass(inline_trivial, R"(
    size T
    input x[T]
    a[i] = 2 * x[i] where i < 3
    b[i] = a[i] + x[i]
    output b)",
              {"a[i] = 2 * x[i] where i < 3", "b[i] = x[i] + (if i < 3 then 2 * x[i] else 0)"});
}

TEST(Inline, CancelsLogarithmsOfExponentials) {
  expect_pass(inline_trivial, R"(
    size N, V
    input l[N,V], y[N]
    p[n,v] = exp(l[n,v] - y[n])
    a[n] = sum[v] p[n,v] * log(p[n,v])
    output a)",
              {"p[n,v] = exp(l[n,v] - y[n])", "a[n] = sum[v] p[n,v] * (l[n,v] - y[n])"});
}

TEST(Inline, PutsAMapIntoItsOnlyReaderUnlessWorkGrows) {
  expect_pass(inline_single, R"(
    size T, D
    input x[T]
    param w[D]
    a[i] = tanh(x[i])
    b[i] = a[i] + 1
    c[i,d] = b[i] * w[d]
    output c)",
              {"a[i] = tanh(x[i])", "b[i] = 1 + tanh(x[i])", "c[i,d] = w[d] * b[i]"});
}

TEST(Find, ReadsTheWeightsInsteadOfTheirExponential) {
  expect_pass(
      find, R"(
    size T
    input s[T,T], y[T], g[T,T]
    p[i,j] = exp(s[i,j] - y[i]) where j <= i
    a[i] = sum[j where j <= i] g[i,j] * exp(s[i,j] - y[i])
    b[i] = sum[j] g[i,j] * exp(s[i,j] - y[i])
    output a, b)",
      {"p[i,j] = exp(s[i,j] - y[i]) where j <= i", "a[i] = sum[j where j <= i] g[i,j] * p[i,j]",
       "b[i] = sum[j] g[i,j] * exp(s[i,j] - y[i])"});
}

TEST(Find, SeesPartsOfProductsAndSignsOfSums) {
  expect_pass(
      find, R"(
    size T
    input x[T], m, a[T], b[T]
    d[i] = x[i] - m
    e[i] = 2 * a[i] * b[i] * x[i]
    y[i] = (m - x[i]) * a[i] * b[i] * x[i] * m
    output y)",
      {"d[i] = x[i] - m", "e[i] = 2 * x[i] * a[i] * b[i]", "y[i] = -0.5 * m * d[i] * e[i]"});
}

TEST(Find, TakesPowersOfARoot) {
  expect_pass(find, R"(
    size T
    input v[T]
    r[i] = 1 / sqrt(v[i] + 1)
    y[i] = (v[i] + 1) ^ -1.5
    output y)",
              {"r[i] = 1 / sqrt(v[i] + 1)", "y[i] = r[i]^3"});
}

TEST(Find, DoesNotReadOutOfRange) {
  expect_pass(find, R"(
    size T
    input x[2 * T + 2], w
    a[i: T] = x[i] * x[i] * w
    y[i: T] = x[2 * i] * x[2 * i] * w
    z[i: T] = x[i + 1] * x[i + 1] * w where i + 1 < T
    output y, z)",
              {"a[i] = w * x[i]^2", "y[i] = w * x[2 * i]^2", "z[i] = a[i + 1] where i + 1 < T"});
}

TEST(Hoist, ComputesAnExpensiveFactorOverItsOwnIndices) {
  expect_pass(hoist, R"(
    size T, D
    input x[T,D], v[T]
    y[i,d] = x[i,d] / sqrt(v[i] + 1)
    z[i,d] = x[i,d] * (v[i] + 1) ^ -1.5
    output y, z)",
              {"y.u[i] = 1 / sqrt(v[i] + 1)", "y[i,d] = x[i,d] * y.u[i]",
               "z.u[i] = 1 / sqrt(v[i] + 1)", "z[i,d] = x[i,d] * z.u[i]^3"});
}

// n == 1 says that there is an element 1, and is not a condition over the indices of v[1], none.
TEST(Hoist, KeepsInRangeWhatTheLostIndicesKept) {
  expect_pass(hoist, R"(
    size T, D
    input x[T,D], v[T]
    y[n,d] = x[n,d] * exp(v[1]) where n == 1
    output y)",
              {"y.u = exp(v[1]) where 2 <= T", "y[n,d] = y.u * x[n,d] where n == 1"});
}

// Of a row without terms the log-sum-exp is the lowest number.
TEST(Hoist, MakesWeightsFinite) {
  expect_pass(hoist, R"(
    size T
    input x[T], v[T]
    lse[i] = logsumexp[j:T where j < i] v[i]
    y[i] = sum[j:T where j < i] x[j] * exp(v[i] - lse[i])
    output y)",
              {"lse[i] = logsumexp[j:T where j < i] v[i]",
               "y.u[i] = if -3e38 < lse[i] then exp(v[i] - lse[i]) else 0",
               "y[i] = sum[j:T where j < i] x[j] * y.u[i]"});
}

TEST(Hoist, TakesTheConditionsThatItCan) {
  expect_pass(
      hoist, R"(
    size T, D
    input x[T,D], v[T]
    y[i,d] = if i > 0 and d < i then x[i,d] * exp(v[i - 1]) else x[i,d]
    z[i,d] = if i > 0 then x[i,d] * exp(v[i - 1]) else x[i,d]
    output y, z)",
      {"y[i,d] = if 0 < i and d < i then x[i,d] * exp(v[i - 1]) else x[i,d]",
       "z.u[i] = exp(v[i - 1]) where 0 < i", "z[i,d] = if 0 < i then x[i,d] * z.u[i] else x[i,d]"});
}

}  // namespace
}  // namespace attn::testing
