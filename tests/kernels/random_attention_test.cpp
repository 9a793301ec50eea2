// Random attention: streaming kernels give what the evaluator gives, forward and backward.
#include "tests/support/random_attention.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "compiled.h"

namespace attn::testing {
namespace {

// The first seed and the last; more of them by hand: ATTN_RANDOM_ATTENTION=100..400.
TEST(RandomAttention, GivesWhatTheEvaluatorGives) {
  uint64_t first = 1, last = 3;
  if (const char* text = getenv("ATTN_RANDOM_ATTENTION")) {
    ASSERT_EQ(std::sscanf(text, "%lu..%lu", &first, &last), 2);
  }
  for (uint64_t seed = first; seed <= last; ++seed) {
    const RandomAttention random = random_attention(seed);
    SCOPED_TRACE(random.text);
    std::unique_ptr<Library> library;
    try {
      library = std::make_unique<Library>(compile_text(random.text));
    } catch (const std::exception& e) {
      ADD_FAILURE() << seed << ": " << e.what();
      continue;
    }
    for (const auto& sizes : random.calls) {
      const Arrays given = random_call(library->model(), sizes, seed, 3);
      Outcome o = library->call(given);
      if (o.status == ATTN_OK) o.message = differ(library->reference(given), o.values, 1e-4, 0.05);
      EXPECT_EQ(o.message, "") << seed << " B=" << sizes.at("B") << " T=" << sizes.at("T")
                               << " S=" << sizes.at("S") << "\n"
                               << plan::to_string(*library->model().plan);
    }
  }
}

}  // namespace
}  // namespace attn::testing
