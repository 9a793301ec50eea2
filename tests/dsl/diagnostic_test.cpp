// How messages look, and what counts as near for "did you mean".
#include "compiler/base/diagnostic.h"

#include <gtest/gtest.h>

#include "compiler/base/check.h"

namespace attn {
namespace {

Span span_of(const SourceMap& sources, int32_t file, const std::string& text) {
  const uint32_t begin = static_cast<uint32_t>(sources.file(file).text.find(text));
  return {file, begin, begin + static_cast<uint32_t>(text.size())};
}

TEST(Diagnostics, ShowEveryPlaceInvolved) {
  SourceMap sources;
  const int32_t file = sources.add("mini.attn",
                                   "size T\n\nmodel m(q: [T, 80],\n        k: [T, 64]) -> s {\n"
                                   "  s[i,j] = sum[e] q[i,e] * k[j,e]\n}\n");
  Diagnostics diagnostics;
  Diagnostic& error =
      diagnostics.error(span_of(sources, file, "k[j,e]"), "index `e` has two ranges, 80 and 64");
  error.primary.text = "here e runs over 64";
  error.others.push_back({span_of(sources, file, "q[i,e]"), "here over 80"});
  error.others.push_back({span_of(sources, file, "80"), "declared here"});
  error.help = "use one size for both";
  EXPECT_EQ(render(sources, diagnostics),
            "error: index `e` has two ranges, 80 and 64\n"
            "  --> mini.attn:5:28\n"
            "    |\n"
            "  3 | model m(q: [T, 80],\n"
            "    |                -- declared here\n"
            "  5 |   s[i,j] = sum[e] q[i,e] * k[j,e]\n"
            "    |                   ------ here over 80\n"
            "    |                            ^^^^^^ here e runs over 64\n"
            "    = help: use one size for both\n");
}

TEST(Diagnostics, ShowPlacesOfOtherFiles) {
  SourceMap sources;
  const int32_t a = sources.add("a.attn", "use \"b.attn\"\n");
  const int32_t b = sources.add("b.attn", "size T\nsize T\n");
  Diagnostics diagnostics;
  diagnostics.error({a, 4, 12}, "twice").others.push_back({{b, 12, 13}, "the other"});
  EXPECT_EQ(render(sources, diagnostics),
            "error: twice\n"
            "  --> a.attn:1:5\n"
            "    |\n"
            "  1 | use \"b.attn\"\n"
            "    |     ^^^^^^^^\n"
            "  --> b.attn:2:6\n"
            "    |\n"
            "  2 | size T\n"
            "    |      - the other\n");
}

TEST(Diagnostics, MarksStandUnderTheirTextBehindTabsAndWideBytes) {
  SourceMap sources;
  const int32_t file = sources.add("t.attn", "\tüü = x\t+ \x01\xFF y\n");
  Diagnostics diagnostics;
  diagnostics.error(span_of(sources, file, "y"), "m");
  EXPECT_EQ(render(sources, diagnostics),
            "error: m\n"
            "  --> t.attn:1:16\n"
            "    |\n"
            "  1 |     üü = x    + ?? y\n"
            "    |                    ^\n");
}

TEST(Diagnostics, StopAtTheLimitOfErrorsAndCountTheRest) {
  SourceMap sources;
  sources.add("f.attn", "x\n");
  Diagnostics diagnostics;
  for (int i = 0; i < 25; ++i) diagnostics.error({0, 0, 1}, "e" + std::to_string(i));
  const std::string text = render(sources, diagnostics);
  EXPECT_NE(text.find("e19"), std::string::npos);
  EXPECT_EQ(text.find("e20"), std::string::npos);
  EXPECT_NE(text.find("and 5 more errors"), std::string::npos);
  EXPECT_EQ(diagnostics.error_count(), 25);
}

TEST(Diagnostics, NeedNoPlace) {
  SourceMap sources;
  Diagnostics diagnostics;
  diagnostics.error({}, "-D X=3: there is no size `X`").help = "the sizes are B, T";
  EXPECT_EQ(render(sources, diagnostics),
            "error: -D X=3: there is no size `X`\n    = help: the sizes are B, T\n");
}

TEST(Diagnostics, WarningsNameTheirCategoryAndAreNoErrors) {
  SourceMap sources;
  sources.add("f.attn", "x\n");
  Diagnostics diagnostics;
  diagnostics.warning({0, 0, 1}, "performance", "slow");
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(render(sources, diagnostics).find("warning[performance]: slow\n"), 0u);
}

TEST(Diagnostics, WarningsOfOnePlaceThatDifferInNamesOnlyAreFolded) {
  Diagnostics all;
  const Span here{0, 0, 3}, there{0, 4, 7};
  all.warning(here, "performance", "`layers.0.w` lowers slowly: no pack");
  all.warning(here, "performance", "`layers.0.w` is stored, for `y`");
  all.warning(here, "performance", "`layers.1.w` lowers slowly: no pack");
  all.warning(there, "performance", "`layers.0.w` lowers slowly: no pack");
  all.warning(here, "names", "`layers.0.w` lowers slowly: no pack");
  all.warning(here, "performance", "`layers.2.w` lowers slowly: no pack");
  all.error(here, "`a` is wrong");
  all.error(here, "`b` is wrong");
  all.fold_warnings();
  std::vector<std::string> messages;
  for (const Diagnostic& d : all.all()) messages.push_back(d.message);
  EXPECT_EQ(messages, (std::vector<std::string>{
                          "`layers.0.w` lowers slowly: no pack (2 more like it)",
                          "`layers.0.w` is stored, for `y`", "`layers.0.w` lowers slowly: no pack",
                          "`layers.0.w` lowers slowly: no pack", "`a` is wrong", "`b` is wrong"}));
}

TEST(Diagnostics, ColourOnlySurroundsTheText) {
  SourceMap sources;
  sources.add("f.attn", "x = y\n");
  Diagnostics diagnostics;
  diagnostics.error({0, 4, 5}, "m").help = "h";
  std::string text = render(sources, diagnostics, true);
  EXPECT_NE(text.find("\x1b["), std::string::npos);
  for (size_t at; (at = text.find('\x1b')) != std::string::npos;) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  EXPECT_EQ(text, render(sources, diagnostics));
}

TEST(SourceMap, CountsLinesByAnyLineEndAndColumnsInBytes) {
  SourceMap sources;
  sources.add("f", "a\r\nb\rc\n\xC3\xBC x");
  EXPECT_EQ(sources.position(0, 3).line, 2);
  EXPECT_EQ(sources.position(0, 5).line, 3);
  EXPECT_EQ(sources.position(0, 10).line, 4);
  EXPECT_EQ(sources.position(0, 10).column, 4);
  EXPECT_EQ(sources.line(0, 1), "a");
  EXPECT_EQ(sources.line(0, 4), "\xC3\xBC x");
}

TEST(Span, CoverIsTheSmallestThatHoldsBoth) {
  EXPECT_EQ(cover({0, 3, 5}, {0, 1, 2}), (Span{0, 1, 5}));
  EXPECT_EQ(cover({}, {0, 1, 2}), (Span{0, 1, 2}));
  EXPECT_THROW(cover({0, 1, 2}, {1, 1, 2}), InternalError);
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  const std::vector<std::string> names = {"model", "param", "softmax", "layer_norm", "x", "wq"};
  EXPECT_EQ(nearest("modle", names), "model");
  EXPECT_EQ(nearest("layernorm", names), "layer_norm");
  EXPECT_EQ(nearest("sofmax", names), "softmax");
  EXPECT_EQ(nearest("wk", names), "wq");
  EXPECT_EQ(nearest("attention", names), "");
  EXPECT_EQ(nearest("z", names), "");
  EXPECT_EQ(nearest("", names), "");
}

}  // namespace
}  // namespace attn
