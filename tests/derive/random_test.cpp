// Gradients of random graphs against central differences.
#include <gtest/gtest.h>

#include "gradient_check.h"
#include "tests/support/random_graph.h"

namespace attn::testing {
namespace {

TEST(Random, GradientsOfTwoHundredGraphsAreRight) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 200 && wrong < 5; ++seed) {
    const RandomGraph r = random_graph(seed);
    const std::string text = check_gradient(r.graph, r.inputs);
    EXPECT_EQ(text, "") << "seed " << seed;
    wrong += !text.empty();
  }
}

TEST(Random, GradientsAreRightWhereSizesAreZeroOrOne) {
  RandomOptions options;
  options.empty_sizes = true;
  int wrong = 0;
  for (uint64_t seed = 1000; seed < 1060 && wrong < 5; ++seed) {
    const RandomGraph r = random_graph(seed, options);
    const std::string text = check_gradient(r.graph, r.inputs);
    EXPECT_EQ(text, "") << "seed " << seed;
    wrong += !text.empty();
  }
}

}  // namespace
}  // namespace attn::testing
