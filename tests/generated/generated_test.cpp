// The folder generated/ holds what the compiler writes for the models of examples/: header and tables
// as `attnc build` does, plan and derivation as `attnc emit`. tools/refresh_generated.sh rewrites
// it.
#include <sstream>

#include "compiler/driver/build.h"
#include "compiler/text/text.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ATTN_SOURCE_DIR;

// Names the first line that differs; the files are too long to be shown.
void expect_fresh(const fs::path& path, const std::string& actual) {
  if (updating_goldens()) return expect_golden(path, actual);
  ASSERT_TRUE(fs::exists(path)) << path << " is missing: run tools/refresh_generated.sh";
  std::istringstream kept(read_text(path)), fresh(actual);
  std::string old_line, new_line;
  for (int line = 1;; ++line) {
    const bool more_old = static_cast<bool>(std::getline(kept, old_line));
    const bool more_new = static_cast<bool>(std::getline(fresh, new_line));
    if (!more_old && !more_new) return;
    ASSERT_TRUE(more_old && more_new && old_line == new_line)
        << path.string() << ":" << line << " is not what the compiler writes now\n  kept "
        << (more_old ? old_line : "(end)") << "\n  now  " << (more_new ? new_line : "(end)")
        << "\nrun tools/refresh_generated.sh";
  }
}

class Generated : public ::testing::TestWithParam<const char*> {};

TEST_P(Generated, IsWhatTheCompilerWrites) {
  const std::string name = GetParam();
  driver::Source source;
  driver::load(source, (kRoot / "examples" / name / (name + ".attn")).string());
  ASSERT_FALSE(source.diagnostics.has_errors()) << render(source.map, source.diagnostics);
  std::vector<driver::Compiled> models = driver::compile(source, {});
  ASSERT_FALSE(models.empty()) << render(source.map, source.diagnostics);

  std::string plans, gradients;
  for (const driver::Compiled& model : models) {
    plans += plan::to_string(*model.plan);
    if (model.step_plan) plans += plan::to_string(*model.step_plan);
    if (model.gradient) gradients += text::to_string(*model.gradient);
  }
  std::vector<emit::ModelPlan> planned;
  const emit::Library library =
      driver::make_library(name, source, models, planned, {"x86-64-v2", "x86-64-v3", "x86-64-v4"});
  const fs::path folder = kRoot / "generated";
  expect_fresh(folder / (name + ".h"), library.header);
  expect_fresh(folder / (name + ".c"), library.tables);
  expect_fresh(folder / (name + ".plan"), plans);
  expect_fresh(folder / (name + ".gradient"), gradients);
}

INSTANTIATE_TEST_SUITE_P(Examples, Generated, ::testing::Values("attention", "digits"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace attn::testing
