// Every pass leaves every output as it was: on random graphs and on models of all kinds.
#include "agree.h"

#include <gtest/gtest.h>

#include "models.h"
#include "tests/support/build_graph.h"
#include "tests/support/random_graph.h"

namespace attn::testing {
namespace {

TEST(Agreement, HoldsOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 250; ++seed) {
    RandomOptions options;
    options.definitions = 4 + static_cast<int>(seed % 7);
    SCOPED_TRACE(seed);
    RandomGraph r = random_graph(seed, options);
    EXPECT_EQ(disagreement(r.graph, r.sizes, r.inputs, seed), "") << "seed " << seed;
  }
}

TEST(Agreement, HoldsWhereSizesAreEmpty) {
  for (uint64_t seed = 1000; seed < 1060; ++seed) {
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

}  // namespace
}  // namespace attn::testing
