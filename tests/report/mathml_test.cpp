// Formulas as browsers take them.
#include "compiler/report/mathml.h"

#include <gtest/gtest.h>

#include "compiler/ops/table.h"
#include "tests/report/xml.h"

namespace attn::report {
namespace {

using namespace text;

// Without the element around it.
std::string inner(const Math& formula) {
  const std::string all = mathml(formula);
  EXPECT_EQ(testing::xml_problem(all), "") << all;
  const size_t begin = all.find('>') + 1;
  return all.substr(begin, all.rfind("</math>") - begin);
}

const Math a = letters("a"), b = letters("b"), i = letters("i"), j = letters("j");

TEST(Mathml, LettersNumbersAndScripts) {
  EXPECT_EQ(
      inner(below(letters("x"), joined({i, j}, {comma()}))),
      "<msub><mi>x</mi><mrow><mi>i</mi><mo separator=\"true\">,</mo><mi>j</mi></mrow></msub>");
  EXPECT_EQ(inner(above(letters("wq"), number("2"))),
            "<msup><mi class=\"w\">wq</mi><mn>2</mn></msup>");
  EXPECT_EQ(inner(row({upright("d"), letters("gamma")})),
            "<mrow><mi mathvariant=\"normal\">d</mi><mi>γ</mi></mrow>");
  EXPECT_EQ(inner(primes(i, 1)), "<mi class=\"w\">i′</mi>");
}

TEST(Mathml, BothScriptsAreOneElementInEitherOrder) {
  const Math raised = row({mark("("), upright("lse"), mark(")")});
  const std::string both =
      "<msubsup><mi>a</mi><mi>i</mi><mrow><mo stretchy=\"false\">(</mo><mi>lse</mi><mo "
      "stretchy=\"false\">)</mo></mrow></msubsup>";
  EXPECT_EQ(inner(below(above(a, raised), i)), both);
  EXPECT_EQ(inner(above(below(a, i), raised)), both);
}

TEST(Mathml, SumsHaveWhatTheyRunOverBelow) {
  EXPECT_EQ(inner(row({limits("sum", i), a})),
            "<mrow><munder><mo>∑</mo><mi>i</mi></munder><mi>a</mi></mrow>");
  const std::string named =
      inner(limits("logsumexp", row({j, such_that(), j, sign("≤", "\\le"), i})));
  EXPECT_NE(named.find("<munder><mo movablelimits=\"false\""), std::string::npos) << named;
  EXPECT_NE(named.find("<mo>≤</mo>"), std::string::npos) << named;
}

TEST(Mathml, AMinusBeforeAnOperandIsAPrefix) {
  EXPECT_EQ(inner(row({a, sign("-"), b})), "<mrow><mi>a</mi><mo>−</mo><mi>b</mi></mrow>");
  EXPECT_EQ(inner(row({a, sign("="), row({minus(), b})})),
            "<mrow><mi>a</mi><mo>=</mo><mo form=\"prefix\">−</mo><mi>b</mi></mrow>");
}

TEST(Mathml, BracketsAreHighOnlyAroundWhatIsHigh) {
  EXPECT_NE(inner(bracketed(a)).find("stretchy=\"false\""), std::string::npos);
  EXPECT_EQ(inner(bracketed(fraction(a, b))).find("stretchy=\"false\""), std::string::npos);
}

TEST(Mathml, ChoicesAreRowsOfTwo) {
  const std::string text = inner(cases(a, row({i, sign("<"), number("3")}), number("0")));
  EXPECT_NE(text.find("<mtr><mtd><mrow><mi>a</mi></mrow></mtd>"), std::string::npos) << text;
  EXPECT_NE(text.find("&lt;"), std::string::npos) << text;
  EXPECT_NE(text.find("<mtext>otherwise</mtext>"), std::string::npos) << text;
}

TEST(Mathml, WritesEveryOperationAsTexDoes) {
  for (const ir::Operation& row : ops::table()) {
    const Math formula = call(row, std::vector<Math>(row.arity < 0 ? 1 : row.arity, a));
    EXPECT_NE(inner(formula).find("<mi>a</mi>"), std::string::npos) << row.name;
    EXPECT_NE(tex(formula).find('a'), std::string::npos) << row.name;
  }
  auto of = [](std::string_view name) { return call(*ops::find(name), {a}); };
  EXPECT_EQ(tex(of("tanh")), "\\tanh\\left(a\\right)");
  EXPECT_EQ(tex(of("sqrt")), "\\sqrt{a}");
  EXPECT_EQ(tex(of("abs")), "\\left|a\\right|");
  EXPECT_EQ(tex(of("log1p")), "\\operatorname{log1p}\\left(a\\right)");
  EXPECT_EQ(inner(of("sqrt")), "<msqrt><mi>a</mi></msqrt>");
  EXPECT_NE(inner(of("sigmoid")).find("<mi>σ</mi>"), std::string::npos);
  EXPECT_NE(inner(of("floor")).find("⌊"), std::string::npos);
}

// A row needs no more than its TeX.
TEST(Mathml, WritesAnOperationOfAnyTex) {
  const ir::Operation sinh{.name = "sinh", .notation = {"\\sinh"}};
  const ir::Operation bessel{.name = "bessel", .arity = 2, .notation = {"\\mathcal{J}_0", "J₀"}};
  EXPECT_EQ(tex(call(sinh, {a})), "\\sinh\\left(a\\right)");
  EXPECT_NE(inner(call(sinh, {a})).find("<mi>sinh</mi>"), std::string::npos);
  EXPECT_EQ(tex(call(bessel, {a, b})), "\\mathcal{J}_0\\left(a, b\\right)");
  EXPECT_NE(inner(call(bessel, {a, b})).find("<mi>J₀</mi>"), std::string::npos);
}

TEST(Mathml, TheSpokenFormIsEscapedOrInWords) {
  const std::string given = mathml(a, "a < b && \"c\"");
  EXPECT_NE(given.find("alttext=\"a &lt; b &amp;&amp; &quot;c&quot;\""), std::string::npos)
      << given;
  const Math sum = row({limits("sum", j), fraction(a, row({b, sign("-"), number("1")}))});
  EXPECT_NE(mathml(sum).find("alttext=\"∑[j] a/(b − 1)\""), std::string::npos) << mathml(sum);
}

}  // namespace
}  // namespace attn::report
