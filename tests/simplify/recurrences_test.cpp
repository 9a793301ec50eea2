// Every pass leaves recurrences as they were, and takes out of them what needs no earlier step.
#include <gtest/gtest.h>

#include "compiler/ir/recurrence.h"
#include "compiler/simplify/pass.h"
#include "tests/elaborate/elaborated.h"
#include "tests/simplify/agree.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_recurrence.h"

namespace attn::testing {
namespace {

std::vector<int64_t> sizes_of(const ir::Graph& g, int64_t rows, int64_t steps) {
  std::vector<int64_t> sizes(g.sizes.size());
  for (size_t k = 0; k < sizes.size(); ++k) sizes[k] = g.sizes[k].name == "T" ? steps : rows;
  g.complete(sizes);
  return sizes;
}

TEST(Recurrences, AgreeAfterEveryPass) {
  for (uint64_t seed = 100; seed < 160; ++seed) {
    const std::string source = random_recurrence(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + source);
    const auto e = elaborate_text(source);
    ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
    const std::vector<int64_t> sizes =
        sizes_of(e->graph(), 1 + static_cast<int64_t>(seed % 3), static_cast<int64_t>(seed % 5));
    const evaluate::Arrays inputs = random_inputs(e->graph(), sizes, seed);
    ASSERT_EQ(disagreement(e->graph(), sizes, inputs, seed), "");
  }
}

// The gradients of weights and inputs are sums over all steps, behind the scan.
TEST(Recurrences, HoldOnlyWhatNeedsTheStepBefore) {
  const auto e = elaborate_text(
      "size B, T, N = 4, M = 8\nmodel m(x: [B, T, N], h0: [B, M]) -> y {\n"
      "  param w: [M, N], u: [M, M], v: [N, M]\n  scan t: T {\n"
      "    a[b,t,m] = sum[n] x[b,t,n] * w[m,n]\n"
      "    h[b,t,m] = tanh(a[b,t,m] + (sum[k] h[b,t-1,k] * u[m,k])) from h0[b,m]\n"
      "    y[b,t,n] = sum[m] h[b,t,m] * v[n,m]\n  }\n}\n");
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph g = simplified_gradient(e->graph());
  const ir::Needs needs(g);
  for (const char* outside : {"a", "dw", "du", "dv", "dx", "dh0"})
    EXPECT_FALSE(needs.steps(g.find(outside).value())) << outside;
  const std::vector<ir::Recurrence> all = ir::recurrences(g);
  ASSERT_EQ(all.size(), 2u) << text::to_string(g);
  EXPECT_FALSE(all[0].down);
  EXPECT_TRUE(all[1].down);
  EXPECT_TRUE(needs.steps(g.find("h").value()));
}

TEST(Recurrences, CarryNothingTwice) {
  const auto e = elaborate_text(
      "size T\nmodel m(x: [T]) -> y {\n  scan t: T {\n    a[t] = x[t] + sin(b[t-1])\n"
      "    b[t] = a[t] from 0\n  }\n  y[t] = 2 * b[t]\n}\n");
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph g = simplify::simplify(e->graph());
  const std::vector<ir::Recurrence> all = ir::recurrences(g);
  ASSERT_EQ(all.size(), 1u) << text::to_string(g);
  EXPECT_EQ(all[0].step.size(), 1u) << text::to_string(g);
  EXPECT_FALSE(g.definition_of(g.find("b").value())) << text::to_string(g);
}

// dh[i,t] needs dh[i,t+1]; the gradient of what h starts from reads it at t = 0 alone.
TEST(Recurrences, AreNotComputedAtOneStepFromTheStepBefore) {
  const auto e = elaborate_text(
      "size B, T in 1.., N\nmodel m(x: [B, T], z: [T, T]) -> y {\n  param w: [N], h0: f32\n  scan "
      "t: T {\n"
      "    h[i: B,t,j] = tanh(0.5 * h[i,t - 1,j] + (float(int(z[t,t])) + w[j])) from h0\n  }\n"
      "  y[i: T] = tanh(z[i,i] +\n"
      "    (if 0 <= i - 2 < B and 0 < T and 1 < N then h[i - 2,0,1] else 0))\n}\n");
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph g = simplified_gradient(e->graph());
  EXPECT_TRUE(ir::Needs(g).steps(g.find("dh").value())) << text::to_string(g);
}

TEST(Recurrences, AreOnlyThoseThatStep) {
  ir::Graph g;
  g.name = "m";
  const ir::IndexId t = g.new_index("t", ir::Poly(4));
  const ir::TensorId h = g.new_tensor({.name = "h", .extents = {ir::Poly(4)}});
  const ir::Expr at = ir::index_value(t);
  g.definitions.push_back({.target = h, .free = {t}, .body = g.read(h, {at - 1})});
  EXPECT_EQ(ir::recurrences(g).size(), 1u);
  EXPECT_EQ(ir::carried(g), std::set<ir::TensorId>{h});
  g.definitions[0].body = g.read(h, {at});
  EXPECT_TRUE(ir::arrange(g).has_value());
  EXPECT_THROW(ir::verify(g, "test"), InternalError);
  g.definitions[0].body = g.read(h, {at - 1}) + g.read(h, {at + 1});
  EXPECT_THROW(ir::verify(g, "test"), InternalError);
  g.definitions[0].body = g.read(h, {at - 2});
  EXPECT_THROW(ir::verify(g, "test"), InternalError);
}

}  // namespace
}  // namespace attn::testing
