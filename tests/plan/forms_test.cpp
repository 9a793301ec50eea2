// Forms are views of definitions: what a form says is what was claimed for it.
#include "forms.h"

#include <gtest/gtest.h>

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

class Forms : public ::testing::TestWithParam<fs::path> {};

TEST_P(Forms, ComputeWhatWasClaimed) {
  const auto file = planned(GetParam());
  EXPECT_FALSE(file->kernels.empty());
  for (const KernelCase& c : file->kernels)
    for (uint64_t seed : {1, 2, 3})
      EXPECT_EQ(FormCheck(c, seed).difference(c.kernel->form), "") << c.kernel->name;
}

INSTANTIATE_TEST_SUITE_P(Each, Forms, ::testing::ValuesIn(files_with_plans()),
                         [](const auto& which) {
                           return which.param.parent_path().stem().string() + "_" +
                                  which.param.stem().string();
                         });

}  // namespace
}  // namespace attn::testing
