// Programs and the graphs that they become; every graph is a program that becomes itself.
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(ATTN_SOURCE_DIR) / "tests" / "elaborate" / "graphs";

const Beside& parts() {
  static const Beside files = {{"parts.attn",
                                "block scaled(x: [..., D], by: f32) -> y {\n"
                                "  y[..., d] = by * x[..., d]\n"
                                "}\n"}};
  return files;
}

TEST(Graphs, AreWhatTheProgramsMean) {
  expect_goldens_in(
      kFolder,
      [](const std::filesystem::path& file) {
        const auto e = elaborate_text(read_text(file), {}, parts(), file.filename().string());
        EXPECT_FALSE(e->diagnostics.has_errors()) << file;
        std::string text = e->messages();
        for (size_t k = 0; k < e->program.models.size(); ++k) text += e->text(k) + "\n";
        return text;
      },
      ".graph");
}

TEST(Graphs, AreProgramsThatBecomeThemselves) {
  for (const std::filesystem::path& file : files_in(kFolder, ".attn")) {
    const auto e = elaborate_text(read_text(file), {}, parts(), file.filename().string());
    EXPECT_FALSE(e->program.models.empty()) << e->messages();
    for (size_t k = 0; k < e->program.models.size(); ++k) {
      SCOPED_TRACE(file.filename().string() + ", model " + e->graph(k).name);
      const auto again = elaborate_text(e->text(k));
      ASSERT_EQ(again->program.models.size(), 1u) << again->messages() << e->text(k);
      std::string difference;
      EXPECT_TRUE(text::same_graph(e->graph(k), again->graph(), &difference)) << difference;
      EXPECT_EQ(e->text(k), again->text());
    }
  }
}

}  // namespace
}  // namespace attn::testing
