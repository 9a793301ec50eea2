// Holds the source to the arrows of includes.cpp, which docs/how-it-works.md draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "includes.h"

namespace attn::layering {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Layering, EveryIncludeFollowsAnArrow) {
  const Sources sources = read_tree(ATTN_SOURCE_DIR);
  ASSERT_TRUE(sources.contains("compiler/base/check.h")) << "the tree was not found";
  EXPECT_EQ(joined(broken_arrows(sources)), "");
}

// The arrows of a Mermaid diagram, each a line: "  lower_terms --> solve".
std::string drawn(const std::string& page) {
  std::vector<std::string> lines;
  std::istringstream text(page);
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("  ") && line.find(" --> ") != std::string::npos) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return joined(lines);
}

TEST(Layering, ThePictureHasTheArrowsOfTheTable) {
  std::string table;
  for (const auto& [from, list] : arrows())
    for (const std::string& to : list) table += "  " + from + " --> " + to + "\n";
  std::replace(table.begin(), table.end(), '/', '_');
  const std::string page = read_tree(ATTN_SOURCE_DIR).at("docs/how-it-works.md");
  EXPECT_EQ(drawn(page.substr(page.find("## Layers"))), drawn(table));
}

TEST(Layering, ArrowsAreFollowedToTheirEnds) {
  EXPECT_EQ(may_include("ops"), (std::vector<std::string>{"base", "ir", "ops"}));
  EXPECT_EQ(may_include("derive"),
            (std::vector<std::string>{"base", "derive", "ir", "ops", "solve"}));
  const std::vector<std::string> lower = may_include("lower/halide");
  EXPECT_EQ(std::count(lower.begin(), lower.end(), "elaborate"), 0);
  EXPECT_EQ(std::count(lower.begin(), lower.end(), "ir"), 1);
  EXPECT_EQ(may_include("runtime"), (std::vector<std::string>{"runtime"}));
}

TEST(Layering, AllowsAnArrowOverSeveralLayers) {
  EXPECT_EQ(joined(broken_arrows({{"compiler/base/check.h", ""},
                                  {"compiler/plan/loops.cpp",
                                   "#include <vector>\n#include \"compiler/base/check.h\"\n"}})),
            "");
}

TEST(Layering, RefusesAnArrowThatPointsUp) {
  EXPECT_EQ(joined(broken_arrows({{"compiler/ops/table.h", ""},
                                  {"compiler/ir/graph.h",
                                   "#pragma once\n  #  include \"compiler/ops/table.h\"\n"}})),
            "compiler/ir/graph.h:2: ir may not include ops (compiler/ops/table.h)\n");
}

TEST(Layering, RefusesNeighboursThatKnowEachOther) {
  EXPECT_EQ(
      joined(broken_arrows({{"compiler/plan/plan.h", ""},
                            {"compiler/derive/derive.cpp", "#include \"../plan/plan.h\"\n"}})),
      "compiler/derive/derive.cpp:1: derive may not include plan (../plan/plan.h)\n");
}

TEST(Layering, RefusesARuntimeThatKnowsTheCompiler) {
  EXPECT_EQ(joined(broken_arrows({{"compiler/ir/graph.h", ""},
                                  {"runtime/src/npy.cpp", "#include \"compiler/ir/graph.h\"\n"}})),
            "runtime/src/npy.cpp:1: runtime may not include ir (compiler/ir/graph.h)\n");
}

TEST(Layering, RefusesAFormThatKnowsItsSchedule) {
  EXPECT_EQ(joined(broken_arrows(
                {{"compiler/lower/cpu/tuning.h", ""},
                 {"compiler/lower/forms/row.cpp", "#include \"compiler/lower/cpu/tuning.h\"\n"}})),
            "compiler/lower/forms/row.cpp:1: lower/forms may not include lower/cpu "
            "(compiler/lower/cpu/tuning.h)\n");
}

TEST(Layering, RefusesAFolderThatNoArrowSpeaksOf) {
  EXPECT_EQ(joined(broken_arrows({{"compiler/utils/misc.cpp", ""},
                                  {"compiler/lower/opencl/rows.cpp", ""},
                                  {"compiler/plan/tiles/grow.cpp", ""}})),
            "compiler/lower/opencl/rows.cpp: no arrow speaks of the folder lower/opencl\n"
            "compiler/utils/misc.cpp: no arrow speaks of the folder utils\n");
}

TEST(Layering, RefusesAnIncludeThatIsNotThere) {
  EXPECT_EQ(joined(broken_arrows({{"dsl/print.cpp", "#include \"dsl/gone.h\"\n"}})),
            "dsl/print.cpp:1: there is no \"dsl/gone.h\"\n");
}

TEST(Layering, RefusesHalideBehindAHeaderOfLower) {
  const Sources sources = {{"compiler/lower/panels.h", "#include <Halide.h>\n"},
                           {"compiler/lower/panels.cpp", "#include \"compiler/lower/panels.h\"\n"},
                           {"compiler/emit/archive.cpp", "#include \"compiler/lower/panels.h\"\n"}};
  EXPECT_EQ(joined(broken_arrows(sources)),
            "compiler/emit/archive.cpp:1 -> compiler/lower/panels.h:1: sees Halide, which only "
            "compiler/lower/ may\n");
}

TEST(Layering, RefusesSpiritOutsideTheParser) {
  const Sources sources = {{"dsl/parse.cpp", "#include \"dsl/tokens.h\"\n"},
                           {"dsl/tokens.h", "#include <boost/spirit/home/x3.hpp>\n"},
                           {"dsl/lines.cpp", "\n#include \"dsl/tokens.h\"\n"}};
  EXPECT_EQ(joined(broken_arrows(sources)),
            "dsl/lines.cpp:2 -> dsl/tokens.h:1: sees Boost.Spirit, which only dsl/parse.cpp may\n");
}

}  // namespace
}  // namespace attn::layering
