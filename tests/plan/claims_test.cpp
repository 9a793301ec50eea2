// Which definitions go into one kernel, and of which form: from a model's text to its kernels.
#include <gtest/gtest.h>

#include "forms.h"

namespace attn::testing {
namespace {

struct Claim {
  const char *name, *text, *kernels;
};
void PrintTo(const Claim& c, std::ostream* out) { *out << c.name; }

constexpr Claim kClaims[] = {
    {"SumOfProducts", R"(
model t(a: [N, K], b: [K, M]) -> y {
  y[i,j] = sum[k] a[i,k] * b[k,j]
})",
     "contraction y <- y"},
    {"SumOfWhatElementsPick", R"(
model t(keep: bool[N, M], x: [M, D]) -> y {
  y[i,d] = sum[j where keep[i,j]] x[j,d]
})",
     "contraction y <- y"},
    {"SumOfWhatIndicesPick", R"(
model t(x: [N, D]) -> y {
  y[i: N, d] = sum[j where j != i] x[j,d]
})",
     "loops y <- y; its sum is a plain loop: no two factors of it can be packed apart"},
    {"SumOfProductsWithItsEpilogue", R"(
model t(a: [N, K], b: [K, M], c: [M]) -> y {
  h[i,j] = (sum[k] a[i,k] * b[k,j]) + c[j]
  y[i,j] = tanh(h[i,j])
})",
     "contraction y <- h.sum y"},
    {"SumOfTwoSumsOfProducts", R"(
model t(a: [N, K], b: [K, M], c: [N, K], d: [K, M]) -> y {
  y[i,j] = (sum[k] a[i,k] * b[k,j]) + (sum[k] c[i,k] * d[k,j])
})",
     "contraction y <- y.sum.2 y.sum y"},
    {"LogSumExpOfATermThatDoesNotVary", R"(
train model t(x0: [B, T], tok: int[N]) -> z {
  a[i: 2, k: B] = 1
  q[b: B, n: N, k: T] = softmax[k] (sum[i: 2] float(tok[n]) * a[i, b])
  z[i: B, j: N] = sum[l: T] q[i, j, l]
})",
     "loops q.sum <- q.sum\n"
     "loops q.lse <- q.lse; its logsumexp is a plain loop over all its points\n"
     "loops q.u <- q.u\n"
     "loops z <- z; its sum is a plain loop: no two factors of it can be packed apart\n"
     "backward: loops dx0 <- dx0"},
    {"SumOfProductsThatTwoRead", R"(
model t(a: [N, K], b: [K, M]) -> y, h {
  h[i,j] = sum[k] a[i,k] * b[k,j]
  y[i,j] = tanh(h[i,j])
})",
     "contraction h <- h\n"
     "loops y <- y"},
    {"MatricesThatDataPicks", R"(
train model t(x: [N, D], expert: int[N]) -> y {
  param w: [V, E, D], c: [V, E]
  y[n,e] = tanh((sum[d] x[n,d] * w[expert[n], e, d]) + c[expert[n], e])
})",
     "row expert.least expert.greatest <- expert.least expert.greatest\n"
     "contraction y <- y.sum y\n"
     "backward: row expert.least expert.greatest <- expert.least expert.greatest\n"
     "backward: contraction dx <- dx\n"
     "backward: contraction dw <- dw\n"
     "backward: loops dc <- dc"},
    {"ScattersThatAreAddedToAProduct", R"(
train model t(token: int[B, T], before: int[T]) -> z {
  param table: [V, D]
  h[b,t,d] = tanh(table[token[b,t], d] + table[before[t], d])
  z[b,t,v] = sum[d] h[b,t,d] * table[v,d]
})",
     "loops token.least <- token.least\n"
     "loops token.greatest <- token.greatest\n"
     "row before.least before.greatest <- before.least before.greatest\n"
     "contraction z <- z\n"
     "backward: loops token.least <- token.least\n"
     "backward: loops token.greatest <- token.greatest\n"
     "backward: row before.least before.greatest <- before.least before.greatest\n"
     "backward: loops h <- h\n"
     "backward: contraction dtable.part <- dtable.1 dtable.part\n"
     "backward: contraction dh <- dh\n"
     "backward: loops dtable.part.2 <- dtable.2 dtable.part.2\n"
     "backward: loops dtable <- dtable.3 dtable"},
    {"ScatterThatIsAddedToAnOutput", R"(
model t(token: int[N], x: [N, D], c: [V, D]) -> z {
  z[v: V, d] = c[v,d]^2 + sum[n where token[n] == v] x[n,d]
})",
     "loops z <- z.sum z"},
    {"ScatterThatTwoRead", R"(
model t(token: int[N], x: [N, D], c: [V, D]) -> z, y {
  s[v: V, d] = sum[n where token[n] == v] x[n,d]
  z[v,d] = c[v,d] + s[v,d]
  y[v,d] = c[v,d] * s[v,d]
})",
     "loops s <- s\n"
     "loops z <- z\n"
     "loops y <- y"},
    {"MatrixTimesVector", R"(
model t(a: [N, K], b: [K]) -> y {
  y[i] = sum[k] a[i,k] * b[k]
})",
     "row y <- y"},
    {"Convolution", R"(
size C = 3, F = 16
model t(x: [N, C]) -> y {
  param w: [F, 5, C]
  y[i: N, d] = sum[k: 5, c where inside] x[i + k - 2, c] * w[d,k,c]
})",
     "contraction y <- y"},
    {"SoftmaxOfRows", R"(
model t(x: [N, M]) -> p {
  p[i,j] = softmax[j] (x[i,j])
})",
     "row p <- p.lse p"},
    {"NormOfRows", R"(
model t(x: [N, M], gain: [M]) -> y {
  m[i] = mean[j] x[i,j]
  v[i] = mean[j] (x[i,j] - m[i])^2
  y[i,j] = (x[i,j] - m[i]) * rsqrt(v[i] + 1e-5) * gain[j]
})",
     "row y <- m v y.u y"},
    {"SumsOfRowsAndOfColumns", R"(
model t(a: [N, M], b: [N, M]) -> y, r {
  y[j] = sum[i] a[i,j] * b[i,j]
  r[i] = sum[j] a[i,j]
})",
     "row y r <- y r"},
    {"SumOfAll", R"(
model t(x: [N, M], y: [N, M]) -> loss {
  loss = mean[i,j] (x[i,j] - y[i,j])^2
})",
     "row loss.part <- loss.part\n"
     "row loss <- loss"},
    {"SumOfNoProduct", R"(
model t(a: [N, K], b: [M, K]) -> y {
  y[i,j] = sum[k] abs(a[i,k] - b[j,k])
})",
     "row y <- y"},
    {"Attention", R"(
model t(q: [T, E], k: [T, E], v: [T, E]) -> z {
  s[i,j] = (sum[e] q[i,e] * k[j,e]) / sqrt(E)
  p[i,j] = softmax[j where j <= i] (s[i,j])
  z[i,e] = sum[j] p[i,j] * v[j,e]
})",
     "streaming z <- s p.lse z"},
    {"AttentionAndItsGradient", R"(
train model t(q: [T, E], k: [T, E], v: [T, E]) -> z {
  s[i,j] = (sum[e] q[i,e] * k[j,e]) / sqrt(E)
  p[i,j] = softmax[j where j <= i] (s[i,j])
  z[i,e] = sum[j] p[i,j] * v[j,e]
})",
     "streaming p.lse z <- s p.lse z\n"
     "backward: row dp.lse <- dp.lse\n"
     "backward: tiles dq dk dv <- s p dp ds dq dk dv"},
    {"AttentionWhoseMapIsAnOutput", R"(
model t(q: [T, E], k: [T, E], v: [T, E]) -> z, p {
  s[i,j] = (sum[e] q[i,e] * k[j,e]) / sqrt(E)
  p[i,j] = softmax[j where j <= i] (s[i,j])
  z[i,e] = sum[j] p[i,j] * v[j,e]
})",
     "contraction s <- s\n"
     "row p <- p.lse p\n"
     "contraction z <- z"},
    {"ScoresWithoutSoftmax", R"(
model t(q: [T, E], k: [T, E], v: [T, E]) -> z {
  s[i,j] = sum[f] q[i,f] * k[j,f]
  z[i,e] = sum[j where j <= i] sigmoid(s[i,j]) * v[j,e]
})",
     "tiles z <- s z"},
    {"LossOverAVocabulary", R"(
model t(x: [N, D], w: [V, D], label: int[N]) -> loss {
  s[i,v] = sum[d] x[i,d] * w[v,d]
  loss = mean[i] ((logsumexp[v] s[i,v]) - s[i,label[i]])
})",
     "row label.least label.greatest <- label.least label.greatest\n"
     "streaming loss.lse <- s loss.lse\n"
     "row loss.part <- loss.part\n"
     "row s.at <- s.at\n"
     "row loss <- loss.part.2 loss"},
    {"CheapMapWithTwoReaders", R"(
model t(a: [N, M], b: [M, N]) -> y, z {
  h[i,j] = a[i,j] + 1
  y[i,j] = h[i,j] * b[j,i]
  z[i,j] = h[i,j] - b[j,i]
})",
     "loops y <- y\n"
     "loops z <- z"},
    {"ExpensiveMapWithTwoReaders", R"(
model t(a: [N, M], b: [N, M], c: [N, M]) -> y, z {
  h[i,j] = tanh(a[i,j]) * exp(b[i,j])
  y[i,j] = h[i,j] + c[i,j]
  z[j,i] = h[i,j] * c[i,j]
})",
     "loops h <- h\n"
     "loops y <- y\n"
     "loops z <- z"},
    {"MapWithOneReader", R"(
model t(a: [N, M]) -> y {
  h[i,j] = tanh(a[i,j])
  y[j,i] = h[i,j] + 1
})",
     "loops y <- y"},
    {"Gather", R"(
model t(table: [V, D], token: int[N]) -> y {
  y[i,d] = table[token[i], d]
})",
     "row token.least token.greatest <- token.least token.greatest\n"
     "loops y <- y"},
    {"SumOfFewPlanes", R"(
size H = 12
model t(s: [B, H, N, M], a: [H, H]) -> r {
  r[b,g,i,j] = sum[h] s[b,h,i,j] * a[h,g]
})",
     "loops r <- r"},
    {"SumOfFewPlanesOfKnownSize", R"(
size H = 12, P = 512
model t(s: [H, P, P], a: [H, H]) -> r {
  r[g,i,j] = sum[h] s[h,i,j] * a[h,g]
})",
     "loops r <- r"},
    {"SumOfGatheredRows", R"(
model t(x: [V, M], at: int[N, K], w: [N, K, M]) -> y {
  y[i,m] = sum[k] x[at[i,k], m] * w[i,k,m]
})",
     "loops at.least <- at.least\n"
     "loops at.greatest <- at.greatest\n"
     "loops y <- y; its sum is a plain loop: no two factors of it can be packed apart"},
    {"MaximumOfColumns", R"(
model t(a: [N, M, K]) -> y {
  y[j,k] = max[i] a[i,j,k]
})",
     "loops y <- y; its max is a plain loop over all its points"},
    {"TwoLayersAndTheirGradient", R"(
train model t(x: [N, D]) -> y {
  param w: [E, D], u: [D, E], c: [E]
  h[i,e] = tanh((sum[d] x[i,d] * w[e,d]) + c[e])
  y[i,d] = sum[e] h[i,e] * u[d,e]
})",
     "contraction h <- h.sum h\n"
     "contraction y <- y\n"
     "backward: contraction du <- du\n"
     "backward: contraction dh.sum <- dh dh.sum\n"
     "backward: contraction dx <- dx\n"
     "backward: contraction dw <- dw\n"
     "backward: row dc <- dc"},
    {"ScoresOfKnownPositions", R"(
size P = 197, W = 64
model t(q: [B, P, W], k: [B, P, W], v: [B, P, W]) -> z {
  p[b,i,j] = softmax[j] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
})",
     "streaming z <- p.sum p.lse z"},
    {"ScoresOfFewKnownPositions", R"(
size P = 49, W = 64
model t(q: [B, P, W], k: [B, P, W], v: [B, P, W]) -> z {
  p[b,i,j] = softmax[j] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
})",
     "contraction p.sum <- p.sum\n"
     "row p.lse <- p.lse\n"
     "contraction z <- z"},
    {"ScoresThatTheCallerWants", R"(
size P = 197, W = 64
model t(q: [B, P, W], k: [B, P, W], v: [B, P, W]) -> z, p {
  p[b,i,j] = softmax[j] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
})",
     "contraction p.sum <- p.sum\n"
     "row p <- p.lse p\n"
     "contraction z <- z"},
    {"ScoresOfAMaximum", R"(
size P = 197, W = 64
model t(q: [B, P, W], k: [B, P, W], v: [B, P, W]) -> z {
  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
  m[b,i] = max[j] s[b,i,j]
  z[b,i,e] = sum[j] exp(s[b,i,j] - m[b,i]) * v[b,j,e]
})",
     "contraction s <- s\n"
     "row m <- m\n"
     "contraction z <- z"},
    {"LayerOfKnownPositions", R"(
size P = 512, W = 64
model t(x: [B, P, W]) -> y {
  param w: [1024, W], u: [W, 1024]
  h[b,i,f] = tanh(sum[d] x[b,i,d] * w[f,d])
  y[b,i,d] = sum[f] h[b,i,f] * u[d,f]
})",
     "contraction h <- h.sum h\n"
     "contraction y <- y"},
    {"ProductsOfProducts", R"(
size P = 16, W = 64
model t(q: [B, P, W], k: [B, P, W], v: [B, P, W]) -> z {
  s[b,d,e] = sum[j] k[b,j,d] * v[b,j,e]
  z[b,i,e] = sum[d] q[b,i,d] * s[b,d,e]
})",
     "contraction s <- s\n"
     "contraction z <- z"},
    {"ScoresWithinARecurrence", R"(
size P = 197, W = 64
model t(x: [N, B, P, W], k: [B, P, W], v: [B, P, W]) -> z {
  scan n: N {
    q[n, b: B, i, e] = z[n - 1, b, i, e] + x[n,b,i,e]
    p[n,b,i,j] = softmax[j] (sum[e] q[n,b,i,e] * k[b,j,e])
    z[n,b,i,e] = sum[j] p[n,b,i,j] * v[b,j,e] from 0
  }
})",
     "streaming z.n <- p.sum.n p.lse.n z.n"},
    // Backward computes the scores of a step again, in the loop.
    {"GradientsOfScoresWithinARecurrence", R"(
size P = 197, W = 64
train model t(x: [N, B, P, W]) -> z {
  param u: [W, W]
  scan n: N {
    k[n, b: B, j: P, e] = sum[d: W] z[n - 1, b, j, d] * u[e,d]
    p[n,b,i: P,j] = softmax[j] (sum[e] (k[n,b,i,e] + x[n,b,i,e]) * k[n,b,j,e])
    z[n,b,i,e] = sum[j] p[n,b,i,j] * k[n,b,j,e] from 0
  }
})",
     "contraction k.n <- k.n\n"
     "streaming p.lse.n z.n <- p.sum.n p.lse.n z.n\n"
     "backward: contraction dz.total.n <- dz.total.1.n dz.total.n\n"
     "backward: tiles dp.lse.n dk.1.n <- p.sum.n p.n dp.n dp.lse.n dk.1.n\n"
     "backward: tiles dk.2.n dk.3.n <- p.sum.n p.n dp.n dk.2.n dk.3.n\n"
     "backward: loops dk.n <- dk.n\n"
     "backward: loops dx <- dx\n"
     "backward: contraction du <- du"},
    {"MatrixTimesVectorInABatch", R"(
model t(p: [B, N], v: [B, N, M]) -> y {
  y[b,e] = sum[j] p[b,j] * v[b,j,e]
})",
     "contraction y <- y"},
    {"SumOfProductsOfColumns", R"(
size C = 64
train model t(x: [B, T, C]) -> y {
  param w: [C, 1, 4]
  y[b, t: T, c] = sum[k where inside] x[b, t + k - 3, c] * w[c,0,k]
})",
     "loops y <- y\n"
     "backward: loops dx <- dx\n"
     "backward: row dw.part <- dw.part\n"
     "backward: loops dw <- dw"},
    {"Recurrence", R"(
model t(x: [B, T, N], u: [N, N]) -> h {
  scan t: T {
    h[b,t,n] = tanh(x[b,t,n] + (sum[m] h[b,t-1,m] * u[n,m])) from 0
  }
})",
     "contraction h.steps.t <- h.sum.steps.t h.steps.t\n"
     "loops h <- h"},
};

class Claims : public ::testing::TestWithParam<Claim> {};

TEST_P(Claims, AreOfOneForm) { EXPECT_EQ(kernels_of(GetParam().text), GetParam().kernels); }

INSTANTIATE_TEST_SUITE_P(Each, Claims, ::testing::ValuesIn(kClaims),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace attn::testing
