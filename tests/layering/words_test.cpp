// Holds the general passes to being general, and the files to being anybody's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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

// Comparisons of an operation's name, and of anything with the name of one.
std::regex spellings(const Sources& sources) {
  const std::string& table = sources.at("compiler/ops/table.cpp");
  static const std::regex row("\\.name = \"([a-z0-9_]+)\"");
  std::string names;
  for (std::sregex_iterator it(table.begin(), table.end(), row), end; it != end; ++it)
    names += (names.empty() ? "" : "|") + (*it)[1].str();
  return std::regex(fmt::format(
      R"re(\b(operation|op)(->|\.)name *[!=]=|[!=]= *"({0})"|"({0})" *[!=]=|\bis_\w*\(.*"({0})"\))re",
      names));
}

// Whatever comes after elaboration, which looks up what a user wrote.
const std::vector<std::string> kAfterElaboration = {
    "compiler/ir/",   "compiler/solve/",  "compiler/derive/", "compiler/simplify/",
    "compiler/plan/", "compiler/lower/",  "compiler/emit/",   "compiler/evaluate/",
    "compiler/text/", "compiler/driver/", "compiler/report/"};

std::string recognised_by_name(const Sources& sources) {
  return lines_with(sources, kAfterElaboration, spellings(sources));
}

TEST(Words, NoPassRecognisesAnOperationByItsName) {
  EXPECT_EQ(recognised_by_name(read_tree(ATTN_SOURCE_DIR)), "");
}

TEST(Words, FindsAnOperationRecognisedByItsName) {
  const std::string found = recognised_by_name(
      {{"compiler/ops/table.cpp", "{.name = \"max\", .arity = 2},\n{.name = \"log1p\"},\n"},
       {"compiler/solve/a.cpp", "name == \"max\"\n\"log1p\" != name\nname == \"maximum\"\n"},
       {"compiler/text/b.cpp", "if (is_call(e, \"max\"))\ncalled(\"max\")\nop->name == word\n"},
       {"tests/c.cpp", "name == \"max\"\n"}});
  EXPECT_EQ(found,
            "compiler/solve/a.cpp:1: name == \"max\"\n"
            "compiler/solve/a.cpp:2: \"log1p\" != name\n"
            "compiler/text/b.cpp:1: if (is_call(e, \"max\"))\n"
            "compiler/text/b.cpp:3: op->name == word\n");
}

// Comparisons of a function's name, and names of tensors that are cut to find others.
std::string identified_by_name(const Sources& sources) {
  static const std::regex pattern(
      R"re(\bname *[!=]= *"(forward|backward|gradient|jvp|hvp|update)"|starts_with\("probe)re"
      R"re(|name\.substr\(1\)|name\[0\] *[!=]= *'[dth]')re");
  return lines_with(sources,
                    {"compiler/derive/", "compiler/plan/", "compiler/lower/", "compiler/emit/",
                     "compiler/driver/", "compiler/report/"},
                    pattern);
}

TEST(Words, FunctionsAndCompanionsAreNotToldByTheirNames) {
  EXPECT_EQ(identified_by_name(read_tree(ATTN_SOURCE_DIR)), "");
}

TEST(Words, FindsAFunctionToldByItsName) {
  const Sources sources = {
      {"compiler/emit/a.cpp", "f.name == \"backward\"\nc.stage == \"jvp\"\n"},
      {"compiler/plan/b.cpp", "f->name.starts_with(\"probe\")\n"},
      {"compiler/driver/c.cpp", "g.find(o.name.substr(1))\nif (name[0] == 'd')\n"},
      {"compiler/dsl/d.cpp", "name.substr(1)\n"}};
  EXPECT_EQ(identified_by_name(sources),
            "compiler/driver/c.cpp:1: g.find(o.name.substr(1))\n"
            "compiler/driver/c.cpp:2: if (name[0] == 'd')\n"
            "compiler/emit/a.cpp:1: f.name == \"backward\"\n"
            "compiler/plan/b.cpp:1: f->name.starts_with(\"probe\")\n");
}

// Names of instruction sets: those of the command line, of levels and of symbols. (PTX calls four
// numbers `.v4.`)
std::string named_levels(Sources sources) {
  static const std::regex pattern("(^|[^A-Za-z0-9])k?[vV][234]($|[^A-Za-z0-9.])");
  std::erase_if(sources, [](const auto& file) {
    return file.first.starts_with("compiler/target/") || file.first.ends_with("/tuning.cpp");
  });
  return lines_with(sources, {"compiler/"}, pattern);
}

TEST(Words, TheTableOfTargetsAloneNamesThem) {
  EXPECT_EQ(named_levels(read_tree(ATTN_SOURCE_DIR)), "");
}

TEST(Words, FindsATargetNamedElsewhere) {
  EXPECT_EQ(named_levels({{"compiler/driver/a.cpp", "\"x86-64-v2\"\nv20\nLevel::kV3\n"},
                          {"compiler/emit/b.cpp", "symbol + \"_v4\"\n"},
                          {"compiler/lower/cpu/tuning.cpp", "kV4\n"},
                          {"compiler/target/target.cpp", "x86_64_v3\n"}}),
            "compiler/driver/a.cpp:1: \"x86-64-v2\"\n"
            "compiler/driver/a.cpp:3: Level::kV3\n"
            "compiler/emit/b.cpp:1: symbol + \"_v4\"\n");
}

// "name: file" of every entry of a list of workarounds that the file does not use.
std::string unused_workarounds(const Sources& sources) {
  const std::string folder = "compiler/lower/";
  std::istringstream lines(sources.at(folder + "halide/WORKAROUNDS.md"));
  std::string line, name, file, missing;
  while (std::getline(lines, line)) {
    if (line.starts_with("### `")) name = line.substr(5, line.size() - 6);
    if (!line.starts_with("In: ")) continue;
    std::istringstream files(line.substr(4));
    while (std::getline(files >> std::ws, file, ',')) {
      const auto found = sources.find(folder + file);
      if (found == sources.end() || found->second.find(name) == std::string::npos)
        missing += fmt::format("{}: {}\n", name, file);
    }
  }
  return missing;
}

TEST(Words, WorkaroundsAreWhereTheirListSays) {
  EXPECT_EQ(unused_workarounds(read_tree(ATTN_SOURCE_DIR)), "");
}

TEST(Words, FindsAWorkaroundThatIsGone) {
  EXPECT_EQ(unused_workarounds({{"compiler/lower/halide/WORKAROUNDS.md",
                                 "### `opaque`\nWhy.\nIn: terms/a.cpp, cpu/b.cpp, cpu/c.cpp\n"},
                                {"compiler/lower/terms/a.cpp", "opaque(x)\n"},
                                {"compiler/lower/cpu/b.cpp", "in_range(x)\n"}}),
            "opaque: cpu/b.cpp\nopaque: cpu/c.cpp\n");
}

// "path: document" of every document that a source names and that is not in the tree.
std::string missing_documents(const Sources& sources) {
  static const std::regex document("(^|[^A-Za-z0-9_./$-])([A-Za-z0-9_][A-Za-z0-9_./-]*\\.md)\\b");
  std::string missing;
  for (const auto& [path, text] : sources) {
    // A patch names the files of two trees, a/ and b/; that it applies is another test.
    if (path.ends_with(".md") || path.ends_with(".patch") || path.starts_with("tests/layering/"))
      continue;
    for (std::sregex_iterator it(text.begin(), text.end(), document), end; it != end; ++it) {
      const std::string name = (*it)[2].str();
      const bool there = std::any_of(sources.begin(), sources.end(), [&](const auto& file) {
        return file.first == name || file.first.ends_with("/" + name);
      });
      if (!there) missing += fmt::format("{}: {}\n", path, name);
    }
  }
  return missing;
}

TEST(Words, DocumentsThatSourcesNameAreThere) {
  EXPECT_EQ(missing_documents(read_tree(ATTN_SOURCE_DIR)), "");
}

TEST(Words, FindsADocumentThatIsGone) {
  EXPECT_EQ(missing_documents({{"docs/page.md", "gone.md"},
                               {"compiler/a.cpp", "// See docs/page.md, page.md.\n"},
                               {"tools/b.sh", "# See other/page.md and design.md.\n"}}),
            "tools/b.sh: other/page.md\ntools/b.sh: design.md\n");
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
