// Small programs, each with the text of its stages: NAME.graph, NAME.gradient and NAME.plan,
// for some also NAME.tex and NAME.dot.
#include "tests/stages/stages.h"

#include "compiler/text/dot.h"
#include "compiler/text/formula.h"
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(ATTN_SOURCE_DIR) / "tests" / "stages";

class EveryProgram : public ::testing::TestWithParam<fs::path> {};

TEST_P(EveryProgram, ReadsAsItsGoldensDo) {
  fs::path path = GetParam();
  const auto s = stages_of(path);
  ASSERT_EQ(s->models.size(), 1u);
  const driver::Compiled& m = s->models[0];
  expect_golden(path.replace_extension(".graph"), text::to_string(m.raw));
  // A model with states has none.
  if (m.gradient) expect_golden(path.replace_extension(".gradient"), text::to_string(*m.gradient));
  expect_golden(path.replace_extension(".plan"), plan::to_string(*m.plan));
}

TEST_P(EveryProgram, IsAProgramAgainAfterEachPass) {
  const auto s = stages_of(GetParam());
  ASSERT_EQ(s->models.size(), 1u);
  EXPECT_EQ(round_trip(s->models[0].raw), "");
  const std::optional<ir::Graph>& gradient = s->models[0].gradient;
  if (gradient) {
    EXPECT_EQ(round_trip(*gradient), "");
    if (gradient->definitions.size() > 60) return;  // it takes long, and shows no more
  }
  // The later rounds of a pass change little; its first and last results are enough.
  std::map<std::string, std::pair<size_t, size_t>> ends;
  for (size_t k = 0; k < s->passes.size(); ++k) {
    const auto [it, fresh] = ends.try_emplace(s->passes[k].first, k, k);
    it->second.second = k;
  }
  EXPECT_TRUE(ends.count("graph") && (!gradient || ends.count("derive")));
  for (const auto& [pass, place] : ends) {
    EXPECT_EQ(round_trip(s->passes[place.first].second), "") << "after " << pass;
    EXPECT_EQ(round_trip(s->passes[place.second].second), "") << "after the last " << pass;
  }
}

TEST(Updates, AreGraphsThatReadAsTheirGoldensDo) {
  const auto s = stages_of(kFolder / "update.attn");
  ASSERT_EQ(s->models.size(), 1u);
  const driver::Compiled& m = s->models[0];
  std::string text;
  for (const ir::Update& u : m.step->updates) {
    text += text::to_string(u.graph) + "\n";
    EXPECT_EQ(round_trip(u.graph), "");
  }
  expect_golden(kFolder / "update.step", text + plan::to_string(*m.step_plan));
}

TEST(Drawn, AsTexAndAsDot) {
  for (const char* name : {"attention", "convolution"}) {
    const auto s = stages_of(kFolder / (std::string(name) + ".attn"));
    ASSERT_EQ(s->models.size(), 1u);
    const driver::Compiled& m = s->models[0];
    expect_golden(kFolder / (std::string(name) + ".tex"),
                  text::to_tex(m.raw) + "\n" + text::to_tex(*m.gradient, &m.forward));
    expect_golden(kFolder / (std::string(name) + ".dot"),
                  text::to_dot(m.raw) + "\n" + text::to_dot(*m.gradient, &m.forward));
  }
}

// Derivatives that a program asks for, as definitions.
TEST(Derived, JacobianAndHessianProductsReadAsTheirGoldensDo) {
  const std::set<std::string> with_a_loss{"attention", "convolution", "norm_ffn", "tied"};
  for (const char* name :
       {"attention", "convolution", "norm_ffn", "tied", "gaussian", "relative"}) {
    SCOPED_TRACE(name);
    const bool hvp = with_a_loss.count(name) > 0;
    const auto s = stages_of(kFolder / (std::string(name) + ".attn"), {.jvp = true, .hvp = hvp});
    ASSERT_EQ(s->models.size(), 1u);
    const driver::Compiled& m = s->models[0];
    expect_golden(kFolder / (std::string(name) + ".jvp"), text::to_string(*m.jvp));
    EXPECT_EQ(round_trip(*m.jvp), "");
    EXPECT_EQ(m.plan->jvp.has_value(), true);
    if (!hvp) continue;
    expect_golden(kFolder / (std::string(name) + ".hvp"), text::to_string(*m.hvp));
    EXPECT_EQ(round_trip(*m.hvp), "");
    EXPECT_EQ(m.plan->hvp.has_value(), true);
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, EveryProgram, ::testing::ValuesIn(files_in(kFolder, ".attn")),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace attn::testing
