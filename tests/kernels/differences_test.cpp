// What the comparison of kernels with the evaluator takes for rounding.
#include "differences.h"

#include <gtest/gtest.h>

#include "compiled.h"

namespace attn::testing {
namespace {

constexpr const char* kModel = R"(
size N
model m(x: [N], c: [N]) -> larger, apart, steep {
  larger[i] = if x[i] > c[i] then 1.0 else 0.0
  apart[i] = 1e6 * (x[i] - c[i])
  steep[i] = 1e5 * (1 - tanh(6 * x[i])^2)
}
)";

// x and c are 1: both results are 0, and far from that where one of the two is rounded.
class Roundings : public ::testing::Test {
 protected:
  std::string difference_of(const std::string& result, double value) {
    Arrays got = library_.reference(given_);
    for (double& v : got.at(result).values) v = value;
    return differ_beyond_rounding(library_, "", given_, got, 1e-4, 0.05);
  }

  Library library_{compile_text(kModel)};
  const Arrays given_ = {{"x", {{4}, {1, 1, 1, 1}}}, {"c", {{4}, {1, 1, 1, 1}}}};
};

TEST_F(Roundings, ExplainWhatIsProportionalToThem) {
  EXPECT_EQ(difference_of("apart", 0.1), "");
  EXPECT_NE(difference_of("apart", 100), "");
}

// 1 - tanh^2 of a tanh that is nearly 1, about 2.5.
TEST_F(Roundings, OfFunctionsExplainWhatCancels) {
  EXPECT_EQ(difference_of("steep", 2.47), "");
  EXPECT_NE(difference_of("steep", 2.2), "");
}

TEST_F(Roundings, ExplainNoStep) { EXPECT_NE(difference_of("larger", 1), ""); }

}  // namespace
}  // namespace attn::testing
