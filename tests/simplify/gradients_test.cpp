// What the passes make of the gradients of known models, line by line.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "agree.h"
#include "compiler/solve/unmaterialised.h"
#include "lines.h"
#include "models.h"

namespace attn::testing {
namespace {

ir::Graph gradient_of(const char* name) {
  for (const NamedModel& m : kModels)
    if (std::strcmp(m.name, name) == 0) return simplified_gradient(build_graph(m.text));
  ADD_FAILURE() << "no model " << name;
  return {};
}

TEST(Gradient, OfAttentionIsTheDerivationOnPaper) {
  expect_lines(gradient_of("attention"),
               (Lines{"q[b,h,i,e] = sum[d] x[b,i,d] * wq[h,e,d]",
                      "k[b,h,j,e] = sum[d] x[b,j,d] * wk[h,e,d]",
                      "v[b,h,j,e] = sum[d] x[b,j,d] * wv[h,e,d]",
                      "s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E) where j <= i",
                      "p.lse[b,h,i] = logsumexp[j where j <= i] s[b,h,i,j]",
                      "p[b,h,i,j] = exp(s[b,h,i,j] - p.lse[b,h,i]) where j <= i",
                      "z[b,h,i,e] = sum[j where j <= i] p[b,h,i,j] * v[b,h,j,e]",
                      "dz[b,h,i,e] = sum[d] dy[b,i,d] * wo[d,h,e]",
                      "dp[b,h,i,j] = sum[e] dz[b,h,i,e] * v[b,h,j,e] where j <= i",
                      "dp.lse[b,h,i] = sum[e] -dz[b,h,i,e] * z[b,h,i,e]",
                      "ds[b,h,i,j] = p[b,h,i,j] * (dp[b,h,i,j] + dp.lse[b,h,i]) where j <= i",
                      "dv[b,h,j,e] = sum[i where j <= i] p[b,h,i,j] * dz[b,h,i,e]",
                      "dk[b,h,j,e] = sum[i where j <= i] ds[b,h,i,j] * q[b,h,i,e] / sqrt(E)",
                      "dq[b,h,i,e] = sum[j where j <= i] ds[b,h,i,j] * k[b,h,j,e] / sqrt(E)",
                      "dx.1[b,i,d] = sum[h,e] dv[b,h,i,e] * wv[h,e,d]",
                      "dx.2[b,i,d] = sum[h,e] dk[b,h,i,e] * wk[h,e,d]",
                      "dx.3[b,i,d] = sum[h,e] dq[b,h,i,e] * wq[h,e,d]",
                      "dx[b,i,d] = dx.1[b,i,d] + dx.2[b,i,d] + dx.3[b,i,d]",
                      "dwq[h,e,d] = sum[b,i] dq[b,h,i,e] * x[b,i,d]",
                      "dwk[h,e,d] = sum[b,j] dk[b,h,j,e] * x[b,j,d]",
                      "dwv[h,e,d] = sum[b,j] dv[b,h,j,e] * x[b,j,d]",
                      "dwo[d,h,e] = sum[b,i] dy[b,i,d] * z[b,h,i,e]"}));
}

// One sweep over the tiles: everything that reads an unmaterialised tensor is complete after the
// first.
TEST(Gradient, OfAttentionNeedsOnePassOverItsTiles) {
  for (const char* name : {"attention", "relative", "entropy", "gated", "windowed_with_lengths"}) {
    ir::Graph g = gradient_of(name);
    solve::Unmaterialised unmaterialised(g);
    std::vector<int> numbers =
        solve::sweep_numbers(g, unmaterialised, solve::independent_of_cotangents(g));
    EXPECT_EQ(*std::max_element(numbers.begin(), numbers.end()), 1) << name;
  }
}

TEST(Gradient, OfAnAddedVectorReadsTheSumsOfTheQuery) {
  ir::Graph g = gradient_of("relative");
  expect_line(g, "du[h,e] = sum[b,i] dq.2[b,h,i,e]");
  expect_line(g, "dp.lse[b,h,i] = sum[e] -dz[b,h,i,e] * z[b,h,i,e]");
}

TEST(Gradient, OfTheEntropyOfWeightsReadsTheEntropy) {
  ir::Graph g = gradient_of("entropy");
  expect_line(g, "dp.lse.2.part[b,i] = sum[e] dz[b,i,e] * z[b,i,e]");
  expect_line(g,
              "dp.lse[b,i] = (if -3e38 < p.lse[b,i] then da[b,i] else 0) - dp.lse.2.part[b,i] - "
              "da[b,i] * a[b,i]");
}

TEST(Gradient, OfCrossEntropyIsTheWeightsMinusTheTarget) {
  expect_lines(gradient_of("cross_entropy"),
               (Lines{"l[n,v] = sum[d] h[n,d] * w[v,d]", "l.lse[n] = logsumexp[v] l[n,v]",
                      "dl[n,v] = dloss * exp(l[n,v] - l.lse[n]) / max(N, 1) + (if v == t[n] then "
                      "-dloss / max(N, 1) else 0)",
                      "dh[n,d] = sum[v] dl[n,v] * w[v,d]", "dw[v,d] = sum[n] dl[n,v] * h[n,d]"}));
}

TEST(Gradient, OfANormSharesItsReciprocal) {
  ir::Graph g = gradient_of("norm_and_feed_forward");
  expect_line(g, "n.u[b,i] = 1 / sqrt(sq[b,i] / D + 0.01)");
  expect_line(g, "dsq[b,i] = -0.5 * dn.u[b,i] * n.u[b,i]^3 / D");
  int roots = 0;
  for (const ir::Definition& d : g.definitions)
    ir::visit(d.body, [&](const ir::Expr& x) {
      roots += x.is(ir::Kind::power) && !x.args()[1]->number.is_integer && !tensors(x).empty();
      return true;
    });
  EXPECT_EQ(roots, 1);
  EXPECT_LE(g.definitions.size(), 20u);
}

TEST(Gradient, OfLinearAttentionHasNoTensorOverTwoSequences) {
  ir::Graph g = gradient_of("linear_attention");
  solve::Unmaterialised unmaterialised(g);
  for (const ir::Definition& d : g.definitions)
    EXPECT_FALSE(unmaterialised(d.target)) << g[d.target].name;
  expect_line(g, "dq[b,i,e] = sum[e2] dz[b,i,e2] * z.pair[b,e2,e]");
}

// Six layers of attention and feed-forward: some 270 definitions.
TEST(Gradient, OfManyLayersIsQuick) {
  std::string text = "size B, T, D = 8, H = 2, E = D / H, F = 4 * D\ninput x0[B,T,D]\n";
  for (int l = 0; l < 6; ++l) {
    std::string layer = R"(
      param L.wq[H,E,D], L.wk[H,E,D], L.wv[H,E,D], L.wo[D,H,E], L.w1[F,D], L.w2[D,F], L.g[D]
      L.q[b,h,i,e] = sum[d] X[b,i,d] * L.wq[h,e,d]
      L.k[b,h,j,e] = sum[d] X[b,j,d] * L.wk[h,e,d]
      L.v[b,h,j,e] = sum[d] X[b,j,d] * L.wv[h,e,d]
      L.s[b,h,i,j] = sum[e] L.q[b,h,i,e] * L.k[b,h,j,e] / sqrt(E)
      L.lse[b,h,i] = logsumexp[j where j <= i] L.s[b,h,i,j]
      L.p[b,h,i,j] = exp(L.s[b,h,i,j] - L.lse[b,h,i]) where j <= i
      L.z[b,h,i,e] = sum[j] L.p[b,h,i,j] * L.v[b,h,j,e]
      L.o[b,i,d] = sum[h,e] L.z[b,h,i,e] * L.wo[d,h,e]
      L.r[b,i,d] = X[b,i,d] + L.o[b,i,d]
      L.sum[b,i] = sum[d] L.r[b,i,d]
      L.m[b,i] = L.sum[b,i] / D
      L.sq[b,i] = sum[d] (L.r[b,i,d] - L.m[b,i])^2
      L.n[b,i,d] = (L.r[b,i,d] - L.m[b,i]) / sqrt(L.sq[b,i] / D + 0.01) * L.g[d]
      L.u[b,i,f] = sum[d] L.n[b,i,d] * L.w1[f,d]
      L.a[b,i,f] = L.u[b,i,f] * sigmoid(L.u[b,i,f])
      L.f[b,i,d] = sum[f] L.a[b,i,f] * L.w2[d,f]
      Y[b,i,d] = L.r[b,i,d] + L.f[b,i,d]
)";
    for (auto [from, to] :
         {std::pair<std::string, std::string>{"L.", "l" + std::to_string(l) + "."},
          {"X[", "x" + std::to_string(l) + "["},
          {"Y[", "x" + std::to_string(l + 1) + "["}})
      for (size_t at = 0; (at = layer.find(from, at)) != std::string::npos; at += to.size())
        layer.replace(at, from.size(), to);
    text += layer;
  }
  text += "output x6\n";
  ir::Graph forward = build_graph(text);
  auto begin = std::chrono::steady_clock::now();
  ir::Graph g = simplified_gradient(forward);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (int l = 0; l < 6; ++l) {
    std::string p = "l" + std::to_string(l) + ".";
    expect_line(g, "d" + p + "lse[b,h,i] = sum[e] -d" + p + "z[b,h,i,e] * " + p + "z[b,h,i,e]");
  }
  // About 0.2 s of one core; machines that run tests are busy, sanitizers slow.
  EXPECT_LT(seconds, 10);
}

}  // namespace
}  // namespace attn::testing
