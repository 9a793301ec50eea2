// What the derived gradient costs, against a backward pass derived by hand.
#include "tests/stages/stages.h"

namespace attn::testing {
namespace {

// A factor of a sum's body that is written around the sum: it is computed once per element.
bool is_constant(const ir::Expr& e) { return ir::indices(e).empty() && ir::tensors(e).empty(); }

// Scalar operations of one definition where its sizes have these values; guards count as true.
double operations(const ir::Graph& g, const ir::Definition& d, const std::vector<int64_t>& sizes) {
  double elements = 1, points = 1;
  for (ir::IndexId i : d.free) elements *= static_cast<double>(g.value(g[i].extent, sizes));
  for (ir::IndexId i : d.reduced) points *= static_cast<double>(g.value(g[i].extent, sizes));
  if (d.combine == ir::Combine::set) return elements * static_cast<double>(ir::cost(d.body));
  std::vector<ir::Expr> inside, outside{ir::Expr(1)};
  const bool product = d.body.is(ir::Kind::multiply);
  for (const ir::Expr& f : product ? d.body.args() : std::vector<ir::Expr>{d.body})
    (product && is_constant(f) ? outside : inside).push_back(f);
  const double each = static_cast<double>(ir::cost(ir::multiply(inside))) + 1;
  return elements * (points * each + static_cast<double>(ir::cost(ir::multiply(outside))));
}

std::vector<int64_t> sizes_of(const ir::Graph& g, const std::map<std::string, int64_t>& given) {
  std::vector<int64_t> values(g.sizes.size());
  for (size_t k = 0; k < values.size(); ++k)
    if (auto it = given.find(g.sizes[k].name); it != given.end()) values[k] = it->second;
  g.complete(values);
  return values;
}

TEST(Operations, TheGradientOfAttentionCostsWhatAHandWrittenOneDoes) {
  const auto s = stages_of(std::filesystem::path(ATTN_SOURCE_DIR) / "examples" / "attention" /
                           "attention.attn");
  ASSERT_EQ(s->models.size(), 1u);
  const ir::Graph& g = *s->models[0].gradient;
  const double b = 4, t = 1024;
  const std::vector<int64_t> sizes = sizes_of(g, {{"B", 4}, {"T", 1024}});
  const double heads = static_cast<double>(sizes.at(g.find_size("H")->value));
  const double features = static_cast<double>(sizes.at(g.find_size("E")->value));
  const double width = static_cast<double>(sizes.at(g.find_size("D")->value));

  // Flash attention by hand: s is recomputed, dp, dv, dk, dq follow, each over every pair and
  // feature; eight products with weights: of y's cotangent, of the inputs' three, of the weights'
  // four. Nothing else is counted, neither exponentials nor sums of cotangents.
  const double by_hand = 5 * 2 * b * heads * t * t * features + 8 * 2 * b * t * width * width;

  // Ours: what forward has kept, or leaves as an output, costs nothing; pairs are recomputed.
  double ours = 0;
  std::string list;
  for (const ir::Definition& d : g.definitions) {
    const ir::Tensor& tensor = g[d.target];
    const bool forward = s->models[0].forward.find(tensor.name).has_value();
    const bool pairs = tensor.extents.size() == 4 && tensor.extents[2] == tensor.extents[3];
    if (forward && !pairs) continue;
    const double n = operations(g, d, sizes);
    ours += n;
    list += tensor.name + " " + std::to_string(n / by_hand) + "\n";
  }
  EXPECT_LE(ours, 1.3 * by_hand) << list;
  EXPECT_GE(ours, by_hand) << "something is not counted:\n" << list;
  RecordProperty("ratio", std::to_string(ours / by_hand));
}

// The term of a row in the softmax's derivative, -(sum[j] dp * p), is read off the result.
TEST(Operations, NoSumOverPairsStandsBesideTheContractions) {
  for (const char* name : {"attention", "relative", "grouped", "gaussian"}) {
    const auto s = stages_of(std::filesystem::path(ATTN_SOURCE_DIR) / "tests" / "stages" /
                             (std::string(name) + ".attn"));
    ASSERT_EQ(s->models.size(), 1u);
    const ir::Graph& g = *s->models[0].gradient;
    bool found = false;
    for (const ir::Definition& d : g.definitions) {
      if (g[d.target].name.find("p.lse") == std::string::npos || g[d.target].name[0] != 'd')
        continue;
      found = true;
      // Over features, and over the batch where the weights are shared by it; never over keys.
      const std::string text = text::to_string(g, d);
      EXPECT_NE(text.find("z["), std::string::npos) << text;
      EXPECT_EQ(text.find("p["), std::string::npos) << text;
    }
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace attn::testing
