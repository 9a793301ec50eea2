// The manual's examples, the standard library and the example programs are in the language, and the
// printer gives them back.
#include <gtest/gtest.h>

#include "dsl/parse.h"
#include "dsl/print.h"
#include "tests/support/golden.h"

namespace attn::dsl {
namespace {

// Without a message, and back again through the printer.
void expect_in_the_language(const std::string& name, const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const File file = parse(sources, sources.add(name, text), diagnostics);
  ASSERT_TRUE(diagnostics.all().empty()) << render(sources, diagnostics);
  const File again = parse(sources, sources.add("printed", print(file)), diagnostics);
  EXPECT_TRUE(diagnostics.all().empty()) << render(sources, diagnostics);
  EXPECT_TRUE(equal(file, again)) << print(file);
}

// The text between ```attn and ```. Statements without a block around them get one.
std::vector<std::string> examples_of(const std::string& manual) {
  std::vector<std::string> examples;
  for (size_t at = 0; (at = manual.find("```attn\n", at)) != std::string::npos;) {
    at += 8;
    const size_t end = manual.find("```", at);
    std::string text = manual.substr(at, end - at);
    if (text.find('{') == std::string::npos && text.rfind("size", 0) != 0) {
      text = "block example(x: [N, M]) -> y {\n" + text + "}\n";
    }
    examples.push_back(std::move(text));
    at = end;
  }
  return examples;
}

TEST(Manual, EveryExampleIsInTheLanguage) {
  const std::string manual = testing::read_text(ATTN_SOURCE_DIR "/dsl/LANGUAGE.md");
  const std::vector<std::string> examples = examples_of(manual);
  EXPECT_GT(examples.size(), 10u);
  for (const std::string& text : examples) expect_in_the_language("LANGUAGE.md", text);
}

TEST(StandardLibrary, IsInTheLanguage) {
  const auto files = testing::files_in(ATTN_SOURCE_DIR "/dsl/std", ".attn");
  EXPECT_FALSE(files.empty());
  for (const auto& path : files) {
    expect_in_the_language(path.filename().string(), testing::read_text(path));
  }
}

TEST(Examples, AreInTheLanguage) {
  namespace fs = std::filesystem;
  for (const auto& entry : fs::recursive_directory_iterator(ATTN_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".attn") continue;
    expect_in_the_language(entry.path().filename().string(), testing::read_text(entry.path()));
  }
}

}  // namespace
}  // namespace attn::dsl
