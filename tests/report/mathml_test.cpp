// Formulas as browsers take them.
#include "compiler/report/mathml.h"

#include <gtest/gtest.h>

#include "compiler/base/check.h"
#include "compiler/ops/table.h"
#include "tests/report/xml.h"

namespace attn::report {
namespace {

// Without the element around it.
std::string inner(const std::string& tex) {
  const std::string all = mathml(tex, "");
  EXPECT_EQ(testing::xml_problem(all), "") << all;
  const size_t begin = all.find('>') + 1;
  return all.substr(begin, all.rfind("</math>") - begin);
}

TEST(Mathml, LettersNumbersAndScripts) {
  EXPECT_EQ(
      inner("x_{i,j}"),
      "<msub><mi>x</mi><mrow><mi>i</mi><mo separator=\"true\">,</mo><mi>j</mi></mrow></msub>");
  EXPECT_EQ(inner("\\mathit{wq}^{2}"), "<msup><mi class=\"w\">wq</mi><mn>2</mn></msup>");
  EXPECT_EQ(inner("p^{(\\mathrm{lse})}_{i}"),
            "<msubsup><mi>p</mi><mi>i</mi><mrow><mo stretchy=\"false\">(</mo><mi>lse</mi><mo "
            "stretchy=\"false\">)</mo></mrow></msubsup>");
  EXPECT_EQ(inner("\\mathrm{d}\\gamma"),
            "<mrow><mi mathvariant=\"normal\">d</mi><mi>γ</mi></mrow>");
  EXPECT_EQ(inner("i'"), "<mi class=\"w\">i′</mi>");
}

TEST(Mathml, SumsHaveWhatTheyRunOverBelow) {
  EXPECT_EQ(inner("\\sum_{d} x"), "<mrow><munder><mo>∑</mo><mi>d</mi></munder><mi>x</mi></mrow>");
  const std::string named = inner("\\operatorname*{logsumexp}_{j\\,:\\ j \\le i} s");
  EXPECT_NE(named.find("<munder><mo movablelimits=\"false\""), std::string::npos) << named;
  EXPECT_NE(named.find("<mo>≤</mo>"), std::string::npos) << named;
}

TEST(Mathml, SignsKnowWhetherTheyStandFirst) {
  EXPECT_EQ(inner("a - b"), "<mrow><mi>a</mi><mo>−</mo><mi>b</mi></mrow>");
  EXPECT_EQ(inner("a = -b"),
            "<mrow><mi>a</mi><mo>=</mo><mo form=\"prefix\">−</mo><mi>b</mi></mrow>");
}

TEST(Mathml, BracketsAreHighOnlyAroundWhatIsHigh) {
  EXPECT_NE(inner("\\left(a\\right)").find("stretchy=\"false\""), std::string::npos);
  EXPECT_EQ(inner("\\left(\\frac{a}{b}\\right)").find("stretchy=\"false\""), std::string::npos);
  EXPECT_NE(inner("\\left|a\\right|").find("|"), std::string::npos);
}

TEST(Mathml, ChoicesAreRowsOfTwo) {
  const std::string cases =
      inner("\\begin{cases} x & i < 3 \\\\ 0 & \\text{otherwise} \\end{cases}");
  EXPECT_NE(cases.find("<mtr><mtd><mrow><mi>x</mi></mrow></mtd>"), std::string::npos) << cases;
  EXPECT_NE(cases.find("&lt;"), std::string::npos) << cases;
  EXPECT_NE(cases.find("<mtext>otherwise</mtext>"), std::string::npos) << cases;
}

TEST(Mathml, ReadsTheTexOfEveryOperation) {
  int with_tex = 0;
  for (const ir::Operation& row : ops::table()) {
    std::string tex(row.tex);
    if (tex.empty()) continue;
    ++with_tex;
    if (tex.find('#') == std::string::npos) tex += "\\left(#\\right)";
    tex.replace(tex.find('#'), 1, "x");
    EXPECT_NE(inner(tex).find("<mi>x</mi>"), std::string::npos) << tex;
  }
  EXPECT_GT(with_tex, 10);
}

TEST(Mathml, WhatIsNotOursIsAnError) {
  for (const char* tex : {"\\unknown", "{x", "x}", "x_", "_i", "\\left[x\\right]", "a ; b",
                          "\\begin{matrix} x \\end{matrix}", "\\frac{a}"})
    EXPECT_THROW(mathml(tex, ""), InternalError) << tex;
}

TEST(Mathml, TheSpokenFormIsEscaped) {
  const std::string all = mathml("x", "a < b && \"c\"");
  EXPECT_NE(all.find("alttext=\"a &lt; b &amp;&amp; &quot;c&quot;\""), std::string::npos) << all;
}

}  // namespace
}  // namespace attn::report
