// Results that are computed with other extents than their caller knows.
#include "compiler/plan/reshaped.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/plan/plan.h"
#include "tests/support/build_graph.h"

namespace attn::testing {
namespace {

using namespace ir;

// With which extents the gradient of w[N, D] is computed: "H, E, D".
std::string computed(const std::string& definitions) {
  Graph g = build_graph(R"(
    size H, D, E = 8, N = 8*H
    param w[N,D]; input x[D,H,E]
    )" + definitions);
  g[*g.find("dw")].companion_of = *g.find("w");
  g = plan::reshape_outputs(std::move(g));
  const TensorId out = g.outputs.at(0).tensor;
  EXPECT_EQ(g[out].name, "dw");
  EXPECT_NE(g.definition_of(out), nullptr);
  EXPECT_EQ(plan::is_reshaped(g, out), g[out].extents.size() == 3);
  std::string text;
  for (const Poly& p : g[out].extents) text += (text.empty() ? "" : ", ") + plan::poly_text(g, p);
  return text;
}

TEST(Reshaped, IsACopyInTheSameOrder) {
  EXPECT_EQ(
      computed("s[h: H, e: E, d: D] = x[d,h,e]; dw[n: N, d: D] = s[n // E, n % E, d]; output dw"),
      "H, E, D");
  EXPECT_EQ(
      computed("s[e: E, h: H, d: D] = x[d,h,e]; dw[n: N, d: D] = s[n // H, n % H, d]; output dw"),
      "E, H, D");
}

TEST(Reshaped, IsNoCopyInAnotherOrder) {
  EXPECT_EQ(
      computed("s[e: E, h: H, d: D] = x[d,h,e]; dw[n: N, d: D] = s[n % E, n // E, d]; output dw"),
      "N, D");
  EXPECT_EQ(
      computed("s[d: D, h: H, e: E] = x[d,h,e]; dw[n: N, d: D] = s[d, n // E, n % E]; output dw"),
      "N, D");
}

TEST(Reshaped, IsNothingThatOthersReadOrThatIsHidden) {
  const std::string s = "s[h: H, e: E, d: D] = x[d,h,e]; ";
  EXPECT_EQ(
      computed(s + "dw[n: N, d: D] = s[n // E, n % E, d]; output dw; y[d: D] = sum[h: H] s[h,0,d]; "
                   "output y"),
      "N, D");
  EXPECT_EQ(computed(s + "dw[n: N, d: D] = s[n // E, n % E, d] where d < n; output dw"), "N, D");
  EXPECT_EQ(computed(s + "dw[n: N, d: D] = 2 * s[n // E, n % E, d]; output dw"), "N, D");
}

}  // namespace
}  // namespace attn::testing
