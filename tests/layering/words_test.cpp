// Holds the general passes to being general, and the files to being anybody's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "includes.h"

namespace attn::layering {
namespace {

// Every line of the chosen files that the pattern matches, as "path:line: text".
std::string lines_with(const Sources& sources, const std::vector<std::string>& folders,
                       const std::regex& pattern) {
  std::string found;
  for (const auto& [path, text] : sources) {
    bool chosen = folders.empty();
    for (const std::string& folder : folders) chosen = chosen || path.starts_with(folder);
    if (!chosen) continue;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (line.size() < 4000 && std::regex_search(line, pattern)) {
        found += fmt::format("{}:{}: {}\n", path, number, line);
      }
    }
  }
  return found;
}

const std::regex& models() {
  static const std::regex pattern("softmax|attention|layer[ _-]?norm", std::regex::icase);
  return pattern;
}

// Written in pieces, so that this file does not hold what it looks for.
const std::regex& machine_paths() {
  static const std::regex pattern(
      "(^|[^A-Za-z0-9_./~-])/(wo"
      "rk|ro"
      "ot|ho"
      "me|Us"
      "ers|tmp/at"
      "tn)/");
  return pattern;
}

const std::vector<std::string> kGeneral = {"compiler/derive/", "compiler/simplify/",
                                           "compiler/plan/", "compiler/lower/"};

TEST(Words, GeneralPassesNameNoModel) {
  EXPECT_EQ(lines_with(read_tree(ATTN_SOURCE_DIR), kGeneral, models()), "");
}

TEST(Words, NoFileNamesAMachinesFolders) {
  EXPECT_EQ(lines_with(read_tree(ATTN_SOURCE_DIR), {}, machine_paths()), "");
}

TEST(Words, FindsAModelInAComment) {
  const Sources sources = {{"compiler/plan/rows.cpp", "int x;\n// As in Layer-Norm.\n"},
                           {"compiler/elaborate/reduce.cpp", "// softmax is spelled out here\n"}};
  EXPECT_EQ(lines_with(sources, kGeneral, models()),
            "compiler/plan/rows.cpp:2: // As in Layer-Norm.\n");
}

TEST(Words, FindsAMachinesFolderButNoFolderInAPath) {
  const std::string path = std::string("/wo") + "rk/main";
  const Sources sources = {{"a.md", "see " + path + "\n"}, {"b.md", "see some" + path + "\n"}};
  EXPECT_EQ(lines_with(sources, {}, machine_paths()), "a.md:1: see " + path + "\n");
}

}  // namespace
}  // namespace attn::layering
