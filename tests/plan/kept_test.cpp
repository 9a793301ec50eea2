// What forward saves for backward.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "forms.h"

namespace attn::testing {
namespace {

// The tensors of the saved block.
std::string saved_of(const std::string& text) {
  const auto file = planned_text(text);
  const plan::Function& f = file->models.at(0).plan->forward;
  std::string names;
  for (ir::TensorId t : f.saved) names += (names.empty() ? "" : " ") + f.graph[t].name;
  return names;
}

// The same where an activation g of c stands between products.
std::string saved(const std::string& activation, const std::string& y) {
  return saved_of(fmt::format(R"(
use std.activations
size B, I, F, O
train model m(x: [B, I]) -> y {{
  param w: [F, I], v: [O, F], u: [O, F]
  c[b,f] = sum[i] w[f,i] * x[b,i]
  g[b,f] = {}
  y[b,o] = {}
}})",
                              activation, y));
}

constexpr const char* kOnce = "sum[f] v[o,f] * g[b,f]";
constexpr const char* kTwice = "(sum[f] v[o,f] * g[b,f]) * (sum[f] u[o,f] * g[b,f])";

// The product that gives the gradient of v packs g, and can compute it of c as it does.
TEST(Kept, IsNoActivationOfWhatItsDerivativeReads) { EXPECT_EQ(saved("sin(c[b,f])", kOnce), "c"); }

TEST(Kept, IsAnActivationThatTakesLong) { EXPECT_EQ(saved("gelu(c[b,f])", kOnce), "c g"); }

TEST(Kept, IsAnActivationThatItsDerivativeReads) { EXPECT_EQ(saved("tanh(c[b,f])", kOnce), "g"); }

// Its last bits decide which element is the greatest.
TEST(Kept, IsAnActivationThatIsComparedWithItsGreatest) {
  EXPECT_EQ(saved("sin(c[b,f])", "(sum[f] v[o,f] * g[b,f]) + (max[f] g[b,f])"), "c g y.max");
}

TEST(Kept, IsAnActivationThatSeveralProductsRead) {
  EXPECT_EQ(saved("gelu(c[b,f])", kTwice), "c g y.sum y.sum.2");
}

// Scores of which a parameter mixes the heads are stored though nothing as large is given: backward
// would store them, too. Those of one head are in tiles in both.
TEST(Kept, IsWhatIsLargeAndStoredInBoth) {
  constexpr const char* kText = R"(
size T, S, E
size H = 4
train model m(q: [H, T, E], k: [H, S, E], v: [H, S, E]) -> z {{
  param a: [H, H]
  s[g,i,j] = sum[e] q[g,i,e] * k[g,j,e]
  t[h: H, i, j] = {}
  p[h,i,j] = softmax[j] (t[h,i,j])
  z[h,i,e] = sum[j] p[h,i,j] * v[h,j,e]
}})";
  EXPECT_EQ(saved_of(fmt::format(kText, "sum[g] a[h,g] * s[g,i,j]")), "s t p.lse");
  EXPECT_EQ(saved_of(fmt::format(kText, "a[h,h] * s[h,i,j]")), "p.lse");
}

}  // namespace
}  // namespace attn::testing
