// A model of examples/models that people also write in another way gives the same in both.
#include <gtest/gtest.h>

#include "tests/kernels/compiled.h"

namespace attn::testing {
namespace {

TEST(Writings, ExpertsByAnIndexAreExpertsByCalls) {
  const std::map<std::string, int64_t> sizes = {{"D", 16}, {"F", 32}, {"X", 5}};
  const std::string root = ATTN_SOURCE_DIR;
  std::vector<driver::Compiled> both = compile_file(root + "/examples/models/mixtral.attn", sizes);
  for (driver::Compiled& model : compile_file(root + "/tests/models/mixtral_by_calls.attn", sizes))
    both.push_back(std::move(model));
  Library library(std::move(both), 2, target_in_turn(0));
  for (int64_t t : {1, 6, 75}) {
    const Arrays given =
        random_call(library.model("mixtral"), {{"B", 2}, {"T", t}}, static_cast<uint64_t>(t), 5);
    const Outcome one = library.call(given, {}, "mixtral");
    const Outcome other = library.call(given, {}, "mixtral_by_calls");
    ASSERT_EQ(one.status, ATTN_OK) << one.message;
    ASSERT_EQ(other.status, ATTN_OK) << other.message;
    EXPECT_EQ(differ(other.values, one.values, 2e-5), "") << t;
  }
}

}  // namespace
}  // namespace attn::testing
