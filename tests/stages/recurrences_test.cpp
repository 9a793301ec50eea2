// Recurrences through the stages that take them: what each prints, and that it is a program again.
#include "tests/elaborate/elaborated.h"
#include "tests/stages/stages.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(ATTN_SOURCE_DIR) / "tests" / "stages" / "recurrences";

class EveryRecurrence : public ::testing::TestWithParam<fs::path> {};

TEST_P(EveryRecurrence, ReadsAsItsGoldensDo) {
  fs::path path = GetParam();
  const auto s = stages_of(path, {.jvp = true});
  ASSERT_EQ(s->models.size(), 1u);
  const driver::Compiled& m = s->models[0];
  expect_golden(path.replace_extension(".graph"), text::to_string(m.raw));
  expect_golden(path.replace_extension(".gradient"), text::to_string(*m.gradient));
  expect_golden(path.replace_extension(".jvp"), text::to_string(*m.jvp));
  expect_golden(path.replace_extension(".plan"), plan::to_string(*m.plan));
}

TEST_P(EveryRecurrence, IsAProgramAgainAfterEachPass) {
  const auto s = stages_of(GetParam());
  ASSERT_FALSE(s->passes.empty());
  std::map<std::string, std::pair<size_t, size_t>> ends;
  for (size_t k = 0; k < s->passes.size(); ++k) {
    const auto [it, fresh] = ends.try_emplace(s->passes[k].first, k, k);
    it->second.second = k;
  }
  for (const auto& [pass, place] : ends) {
    EXPECT_EQ(round_trip(s->passes[place.first].second), "") << "after " << pass;
    EXPECT_EQ(round_trip(s->passes[place.second].second), "") << "after the last " << pass;
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, EveryRecurrence, ::testing::ValuesIn(files_in(kFolder, ".attn")),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace attn::testing
