// Random graphs are valid, deterministic, of moderate values, and hold every kind of definition.
#include "tests/support/random_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace attn::testing {
namespace {

TEST(RandomGraphs, EvaluateToModerateNumbers) {
  std::map<ir::Combine, int> seen;
  int guards = 0, definitions = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    RandomGraph r = random_graph(seed);
    evaluate::Arrays values = evaluate::evaluate(r.graph, r.inputs);
    for (const ir::Definition& d : r.graph.definitions) {
      ++seen[d.combine];
      ++definitions;
      guards += !d.guard.empty();
      if (d.combine != ir::Combine::set && d.combine != ir::Combine::sum) continue;
      for (double v : values.at(r.graph[d.target].name).values)
        ASSERT_TRUE(std::isfinite(v) && std::abs(v) < 1e4) << v << " at seed " << seed;
    }
  }
  EXPECT_EQ(seen.size(), 7u);
  for (auto [combine, n] : seen) EXPECT_GT(n, 10) << name_of(combine);
  EXPECT_GT(guards, definitions / 5);
}

TEST(RandomGraphs, EvaluateAtEmptySizes) {
  RandomOptions options;
  options.empty_sizes = true;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    RandomGraph r = random_graph(seed, options);
    evaluate::Arrays values = evaluate::evaluate(r.graph, r.inputs);
    for (const ir::Output& o : r.graph.outputs)
      for (double v : values.at(r.graph[o.tensor].name).values)
        ASSERT_FALSE(std::isnan(v)) << "at seed " << seed;
  }
}

// Central differences with two steps agree: nothing sits on a kink.
TEST(RandomGraphs, AreSmoothWhereTheyAreEvaluated) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomGraph r = random_graph(seed);
    evaluate::Arrays direction = random_inputs(r.graph, r.sizes, seed + 5000);
    auto at = [&](double step) {
      evaluate::Arrays moved = r.inputs;
      for (const ir::Tensor& t : r.graph.tensors) {
        if (!moved.count(t.name) || !ir::is_real(ir::arithmetic_type(t.storage))) continue;
        std::vector<double>& values = moved.at(t.name).values;
        for (size_t k = 0; k < values.size(); ++k)
          values[k] += step * direction.at(t.name).values[k];
      }
      evaluate::Arrays result = evaluate::evaluate(r.graph, moved);
      double sum = 0;
      for (const ir::Output& o : r.graph.outputs)
        for (double v : result.at(r.graph[o.tensor].name).values)
          sum += std::max(-1e6, std::min(v, 1e6));
      return sum;
    };
    double fine = (at(1e-5) - at(-1e-5)) / 2e-5, coarse = (at(4e-5) - at(-4e-5)) / 8e-5;
    ASSERT_NEAR(fine, coarse, 1e-4 * (1 + std::abs(fine))) << "at seed " << seed;
  }
}

TEST(RandomGraphs, AreTheSameForTheSameSeed) {
  RandomGraph a = random_graph(7), b = random_graph(7), c = random_graph(8);
  ASSERT_EQ(a.graph.definitions.size(), b.graph.definitions.size());
  for (size_t k = 0; k < a.graph.definitions.size(); ++k)
    EXPECT_EQ(a.graph.definitions[k].body, b.graph.definitions[k].body);
  EXPECT_EQ(a.inputs.at("x").values, b.inputs.at("x").values);
  EXPECT_NE(a.inputs.at("x").values, c.inputs.at("x").values);
}

}  // namespace
}  // namespace attn::testing
