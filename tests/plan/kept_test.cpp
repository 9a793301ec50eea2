// What forward saves for backward.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "forms.h"

namespace attn::testing {
namespace {

// The tensors of the saved block where an activation g of c stands between products.
std::string saved(const std::string& activation, const std::string& y) {
  const auto file = planned_text(fmt::format(R"(
use std.activations
size B, I, F, O
train model m(x: [B, I]) -> y {{
  param w: [F, I], v: [O, F], u: [O, F]
  c[b,f] = sum[i] w[f,i] * x[b,i]
  g[b,f] = {}
  y[b,o] = {}
}})",
                                             activation, y));
  const plan::Function& f = file->models.at(0).plan->forward;
  std::string names;
  for (ir::TensorId t : f.saved) names += (names.empty() ? "" : " ") + f.graph[t].name;
  return names;
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

}  // namespace
}  // namespace attn::testing
