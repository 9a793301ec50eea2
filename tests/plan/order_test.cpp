// In which order kernels run, and that a model's depth does not decide how much memory they need.
#include "compiler/plan/order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/plan/function.h"
#include "forms.h"
#include "tests/support/build_graph.h"

namespace attn::testing {
namespace {

// Layers, each with a weight and a bias.
std::string layers(int count) {
  return fmt::format(R"(
size B, D
train model m(x0: [B, D]) -> loss {{
  x[b,d] = x0[b,d]
  repeat l: {} as layers {{
    param w: [D, D], c: [D]
    h[b,d] = sum[e] w[d,e] * x[b,e] + c[d]
    x[b,d] = x[b,d] + tanh(h[b,d])
  }}
  loss = sum[b,d] x[b,d] ^ 2
}})",
                     count);
}

// The kernels' results, a word each.
std::string order_of(const plan::Function& f) {
  std::string result;
  for (const plan::Kernel& k : f.kernels)
    for (ir::TensorId t : k.writes) result += (result.empty() ? "" : " ") + f.graph[t].name;
  return result;
}

TEST(Order, GivesTheWorkspaceOfALayerToTheNext) {
  const auto bytes = [](int count) {
    const auto file = planned_text(layers(count));
    const plan::Function& backward = *file->models.at(0).plan->backward;
    return plan::poly_text(backward.graph, plan::workspace_bytes(backward.graph, backward));
  };
  EXPECT_EQ(bytes(3), bytes(8));
}

TEST(Order, PutsGradientsOfWeightsWhereWhatTheyReadEnds) {
  const auto file = planned_text(layers(2));
  EXPECT_EQ(order_of(*file->models.at(0).plan->backward),
            "dlayers.1.h dlayers.1.c dlayers.1.w dlayers.0.x dlayers.0.h dlayers.0.c dx0 "
            "dlayers.0.w");
}

// What two layers need is computed at the beginning, from what is there before the call.
TEST(Order, DelaysWhatNothingReadsYet) {
  const ir::Graph g = build_graph(R"(
    size T; input x[T]; cotangent dy[T]
    p0[i: T] = exp(x[i])
    p1[i: T] = exp(2 * x[i])
    d1[i: T] = sum[j: T] p1[j] * dy[i]
    d0[i: T] = sum[j: T] p0[j] * d1[j] * x[i]
    output d0)");
  std::vector<plan::Claimed> kernels;
  for (const ir::Definition& d : g.definitions)
    kernels.push_back({d.target, {.form = plan::LoopsForm{d}, .definitions = {d}}});
  std::string order;
  for (const plan::Claimed& c :
       plan::in_order(g, target::costs(target::Arch::x86_64), kernels, {}, {}))
    order += g[c.at].name + " ";
  EXPECT_EQ(order, "p1 d1 p0 d0 ");
}

}  // namespace
}  // namespace attn::testing
