// Every pass leaves every output as it was: on random graphs and on models of all kinds.
#include "agree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/simplify/pass.h"
#include "models.h"
#include "tests/support/build_graph.h"
#include "tests/support/random_graph.h"

namespace attn::testing {
namespace {

TEST(Agreement, HoldsOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 220; ++seed) {
    RandomOptions options;
    options.definitions = 4 + static_cast<int>(seed % 7);
    SCOPED_TRACE(seed);
    RandomGraph r = random_graph(seed, options);
    EXPECT_EQ(disagreement(r.graph, r.sizes, r.inputs, seed), "") << "seed " << seed;
  }
}

TEST(Agreement, HoldsWhereSizesAreEmpty) {
  for (uint64_t seed = 1000; seed < 1040; ++seed) {
    RandomOptions options;
    options.empty_sizes = true;
    RandomGraph r = random_graph(seed, options);
    EXPECT_EQ(disagreement(r.graph, r.sizes, r.inputs, seed), "") << "seed " << seed;
  }
}

TEST(Agreement, HoldsOnModels) {
  for (const NamedModel& model : kModels) {
    ir::Graph g = build_graph(model.text);
    for (int64_t n : {0, 1, 2, 3}) {
      std::vector<int64_t> sizes;
      // Sizes that differ, so that a confusion of two indices shows.
      for (const ir::Size& s : g.sizes)
        sizes.push_back(s.value ? *s.value : n + (sizes.size() & 1));
      g.complete(sizes);
      evaluate::Arrays inputs = random_inputs(g, sizes, 7, 2);
      EXPECT_EQ(disagreement(g, sizes, inputs, n), "") << model.name << " at " << n;
    }
  }
}

// What a condition hides may be NaN or infinite: no bit of any result or gradient changes.
TEST(Agreement, HoldsBesideHiddenNonFiniteValues) {
  for (const NamedModel& model : kModels) {
    if (std::string(model.name) != "windowed_with_lengths") continue;
    ir::Graph forward = simplify::simplify(simplify::spread_guards(build_graph(model.text)));
    ir::Graph gradient = simplified_gradient(build_graph(model.text));
    std::vector<int64_t> sizes{2, 5, 6, 2};
    evaluate::Arrays inputs = random_inputs(gradient, sizes, 3);
    inputs["len"].values = {4, 0};
    for (const ir::Graph* g : {&forward, &gradient}) {
      evaluate::Arrays clean = evaluate::evaluate(*g, inputs);
      evaluate::Arrays dirty = inputs;
      for (const char* name : {"k", "v"})
        for (int64_t b = 0; b < 2; ++b)
          for (int64_t j = b == 0 ? 4 : 0; j < 6; ++j) {
            dirty[name].values[(b * 6 + j) * 2] = std::nan("");
            dirty[name].values[(b * 6 + j) * 2 + 1] = HUGE_VAL;
          }
      evaluate::Arrays results = evaluate::evaluate(*g, dirty);
      for (const ir::Output& o : g->outputs)
        EXPECT_EQ(results.at((*g)[o.tensor].name).values, clean.at((*g)[o.tensor].name).values)
            << o.name;
    }
  }
}

}  // namespace
}  // namespace attn::testing
