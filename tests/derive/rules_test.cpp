// What the differentiator promises at kinks, for inputs that nothing reads, and about names.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/derive/derive.h"
#include "gradient_check.h"
#include "tests/support/build_graph.h"
#include "tests/support/random_graph.h"

namespace attn::testing {
namespace {

using evaluate::Array;
using evaluate::Arrays;

// dx of one output y, whose cotangent is 1 everywhere.
std::vector<double> gradient_of(const std::string& text, const std::string& name, Arrays inputs,
                                std::vector<int64_t> of_result) {
  const ir::Graph g = build_graph(text);
  Diagnostics diagnostics;
  const ir::Graph gradient = derive::gradient(g, diagnostics);
  size_t n = 1;
  for (int64_t e : of_result) n *= static_cast<size_t>(e);
  inputs["dy"] = {of_result, std::vector<double>(n, 1)};
  return evaluate::evaluate(gradient, inputs).at("d" + name).values;
}

ir::Graph derived(const std::string& text, Diagnostics& diagnostics) {
  return derive::gradient(build_graph(text), diagnostics);
}

using Values = std::vector<double>;

TEST(Rules, AnUnusedInputHasAGradientOfExactZeros) {
  const auto text = "size N; input x[N], u[N,3]; y[i] = 2 * x[i]; output y";
  const Arrays inputs = {{"x", {{2}, {1, 2}}}, {"u", {{2, 3}, {1, 2, 3, 4, 5, 6}}}};
  EXPECT_EQ(gradient_of(text, "u", inputs, {2}), Values(6, 0.0));
  EXPECT_EQ(gradient_of(text, "x", inputs, {2}), Values({2, 2}));
}

TEST(Rules, EveryUseOfATensorIsSummed) {
  const auto all = R"(size N; input x[N,N]
    a[i] = sum[j] x[i,j] * x[j,i]
    y[i] = a[i] + x[i,i]
    output y)";
  const Arrays inputs = {{"x", {{2, 2}, {1, 2, 3, 4}}}};
  // y0 = x00² + x01 x10 + x00, y1 = x10 x01 + x11² + x11
  EXPECT_EQ(gradient_of(all, "x", inputs, {2}), Values({3, 6, 4, 9}));
}

TEST(Rules, ABroadcastInputIsSummedOverWhatItIsSpreadTo) {
  const auto text = "size N, M; input x[N,M]; param b[M]; y[i,j] = x[i,j] + b[j]; output y";
  const Arrays inputs = {{"x", {{3, 2}, Values(6, 1)}}, {"b", {{2}, {0, 0}}}};
  EXPECT_EQ(gradient_of(text, "b", inputs, {3, 2}), Values({3, 3}));
}

TEST(Rules, AnElementThatASumAddsSeveralTimesHasAGradientAsManyTimes) {
  const auto text = "size N, M; input x[N], v[M]; a[i] = 2 * x[i]; y[i] = sum[j:M] a[i]; output y";
  const Arrays inputs = {{"x", {{2}, {1, 2}}}, {"v", {{3}, {0, 0, 0}}}};
  EXPECT_EQ(gradient_of(text, "x", inputs, {2}), Values({6, 6}));
}

TEST(Rules, TiesOfAMaximumShareEqually) {
  const auto text = "size N; input x[2,N]; y[i] = max[j] x[i,j]; output y";
  const Arrays inputs = {{"x", {{2, 4}, {1, 3, 3, 3, 5, 1, 2, 4}}}};
  EXPECT_EQ(gradient_of(text, "x", inputs, {2}), Values({0, 1. / 3, 1. / 3, 1. / 3, 1, 0, 0, 0}));
}

TEST(Rules, TiesOfScalarsShareByHalves) {
  const Arrays inputs = {{"x", {{3}, {-1, 0, 1}}}};
  EXPECT_EQ(gradient_of("input x[3]; y[i] = max(x[i], 0); output y", "x", inputs, {3}),
            Values({0, 0.5, 1}));
  EXPECT_EQ(gradient_of("input x[3]; y[i] = min(0, x[i]); output y", "x", inputs, {3}),
            Values({1, 0.5, 0}));
  EXPECT_EQ(gradient_of("input x[3]; y[i] = clamp(x[i], 0 - 1, 1); output y", "x", inputs, {3}),
            Values({0.5, 1, 0.5}));
}

TEST(Rules, KinksOfReluAndAbsAreFlat) {
  const Arrays inputs = {{"x", {{3}, {-1, 0, 1}}}};
  EXPECT_EQ(gradient_of("input x[3]; y[i] = relu(x[i]); output y", "x", inputs, {3}),
            Values({0, 0, 1}));
  EXPECT_EQ(gradient_of("input x[3]; y[i] = abs(x[i]); output y", "x", inputs, {3}),
            Values({-1, 0, 1}));
}

TEST(Rules, LimitsAtZeroAreFinite) {
  const Arrays inputs = {{"x", {{2}, {0, 2}}}, {"e", {{2}, {0, 3}}}};
  const auto text = "input x[2], e[2]; y[i] = x[i] ^ e[i]; output y";
  EXPECT_EQ(gradient_of(text, "x", inputs, {2}), Values({0, 12}));
  const Values de = gradient_of(text, "e", inputs, {2});
  EXPECT_EQ(de[0], 0);
  EXPECT_NEAR(de[1], 8 * std::log(2), 1e-12);
  EXPECT_EQ(gradient_of("input x[2]; y[i] = x[i] ^ 2; output y", "x", {{"x", {{2}, {0, 2}}}}, {2}),
            Values({0, 4}));
}

TEST(Rules, OneKeyAndHiddenRowsHaveNoGradient) {
  const auto text = R"(size N
    input s[N,N]; int len
    l[i] = logsumexp[j where j < len] s[i,j]
    y[i,j] = exp(s[i,j] - l[i]) where j < len
    output y)";
  for (double len : {0., 1.}) {
    const Arrays inputs = {{"s", {{2, 2}, {1, 2, 3, 4}}}, {"len", {{}, {len}}}};
    EXPECT_EQ(gradient_of(text, "s", inputs, {2, 2}), Values(4, 0.0)) << len;
  }
}

TEST(Rules, WhatAConditionHidesStaysHidden) {
  const double nan = std::nan("");
  const auto text = R"(
    input x[3]; param w
    y[i] = if i < 2 then w * log(x[i]) else w
    output y)";
  const Arrays inputs = {{"x", {{3}, {1, 2, nan}}}, {"w", {{}, {3}}}};
  EXPECT_EQ(gradient_of(text, "x", inputs, {3}), Values({3, 1.5, 0}));
  EXPECT_NEAR(gradient_of(text, "w", inputs, {3})[0], std::log(2) + 1, 1e-15);
}

TEST(Rules, AnOutputThatIsReadFurtherGetsBothShares) {
  const auto text = "input x; a = 3 * x; y = a * a; output a, y";
  Arrays inputs = {{"x", {{}, {2}}}, {"da", {{}, {10}}}};
  EXPECT_EQ(gradient_of(text, "x", inputs, {}), Values({3 * (10 + 2 * 6)}));
}

TEST(Rules, WholeNumbersHaveNoCotangents) {
  Diagnostics diagnostics;
  const ir::Graph g = derived(
      "size N; input x[N]; int t[N]; y[i] = x[i] * float(t[i]);"
      "a[i: 1] = argmax[j] x[j]; output y, a",
      diagnostics);
  ASSERT_EQ(g.outputs.size(), 1u);
  EXPECT_EQ(g.outputs[0].name, "dx");
  EXPECT_FALSE(g.find("dt"));
  EXPECT_FALSE(g.find("da"));
  EXPECT_TRUE(diagnostics.all().empty());
}

TEST(Rules, InteriorNamesGiveWayToGradients) {
  Diagnostics diagnostics;
  const ir::Graph g = derived(
      "size N; input x[N]; dx[i] = x[i] ^ 2; dy[i] = dx[i] * x[i]; y[i] = dy[i] + 1; output y",
      diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(g[g.outputs[0].tensor].name, "dx");
  EXPECT_EQ(g[*g.find("dy")].role, ir::Role::cotangent);
}

TEST(Rules, RefusesNamesThatTheCallerCouldNotTellApart) {
  for (const char* text : {"input x; dx = x ^ 2; output dx", "input x, dx; y = x * dx; output y",
                           "input x, dy; y = x * dy; output y"}) {
    Diagnostics diagnostics;
    derived(text, diagnostics);
    ASSERT_TRUE(diagnostics.has_errors()) << text;
    EXPECT_NE(diagnostics.all()[0].message.find("`dx`") != std::string::npos,
              diagnostics.all()[0].message.find("`dy`") != std::string::npos);
  }
}

TEST(Rules, NamesTheOutputAndTheInputThatClash) {
  Diagnostics diagnostics;
  derived("input x; dx = x ^ 2; output dx", diagnostics);
  ASSERT_EQ(diagnostics.error_count(), 1);
  EXPECT_EQ(diagnostics.all()[0].message,
            "the output `dx` has the name that the gradient of the input `x` takes");
}

TEST(Rules, WarnsOfAParameterThatIsReadThroughFlatOperationsOnly) {
  Diagnostics diagnostics;
  const ir::Graph g = derived(
      "size N; input x[N]; param w, u; a[i] = floor(w * x[i]); y[i] = a[i] * x[i] + u; output y",
      diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].severity, Severity::warning);
  EXPECT_EQ(diagnostics.all()[0].message, "the gradient of `w` is zero everywhere");
  EXPECT_EQ(diagnostics.all()[0].others[0].text,
            "here it passes through floor, whose derivative is 0");
}

TEST(Rules, WarnsOfAParameterThatOnlyConditionsRead) {
  Diagnostics diagnostics;
  derived("size N; input x[N]; param w; y[i] = if x[i] < w then x[i] else 2; output y",
          diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].others[0].text,
            "here it passes through a comparison, whose derivative is 0");
}

TEST(Rules, LimitsTheGrowthOfAGradient) {
  std::string text = "input x[200]; y = x[0]";
  for (int k = 1; k < 200; ++k) text += " * (x[" + std::to_string(k) + "] + 2)";
  Diagnostics diagnostics;
  EXPECT_THROW(derived(text + "; output y", diagnostics), LimitError);
}

}  // namespace
}  // namespace attn::testing
