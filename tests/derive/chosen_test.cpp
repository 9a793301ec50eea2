// Derivatives with respect to chosen names, and what `stop` holds back.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/derive/derive.h"
#include "compiler/simplify/pass.h"
#include "compiler/text/text.h"
#include "forward_check.h"
#include "tests/support/build_graph.h"
#include "tests/support/random_graph.h"
#include "tests/support/with_loss.h"

namespace attn::testing {
namespace {

using evaluate::Arrays;

constexpr const char* kModel = R"(size N, D = 3
  input x[N,D]
  param a.w[D], a.b, b[N]
  u[i] = sum[d] x[i,d] * a.w[d]
  y[i] = tanh(u[i])
  z[i] = y[i] * b[i] + a.b
  output z)";

std::vector<std::string> outputs_of(const ir::Graph& g) {
  std::vector<std::string> names;
  for (const ir::Output& o : g.outputs) names.push_back(o.name);
  return names;
}

TEST(Chosen, OnlyTheseGradientsAreDerivedAndTheyAreTheSame) {
  const ir::Graph g = build_graph(kModel);
  std::vector<int64_t> sizes{4, 3};
  Arrays given = random_inputs(g, sizes, 5);
  given["dz"] = {{4}, {1, -2, 3, 0.5}};
  Diagnostics diagnostics;
  const Arrays all = evaluate::evaluate(derive::gradient(g, diagnostics), given);
  using Strings = std::vector<std::string>;
  const std::pair<derive::Names, Strings> cases[] = {
      {{"b"}, {"db"}},
      {{"a"}, {"da.w", "da.b"}},
      {{"x", "a.w"}, {"dx", "da.w"}},
      {{"a.w", "b", "x", "a.b"}, {"dx", "da.w", "da.b", "db"}}};
  for (const auto& [by, names] : cases) {
    const ir::Graph gradient = derive::gradient(g, diagnostics, by);
    EXPECT_EQ(outputs_of(gradient), names);
    const Arrays some = evaluate::evaluate(gradient, given);
    for (const std::string& name : names)
      EXPECT_EQ(some.at(name).values, all.at(name).values) << name;
  }
  EXPECT_FALSE(diagnostics.has_errors());
}

TEST(Chosen, WhatOnlyOthersNeedIsNotDerived) {
  Diagnostics diagnostics;
  const ir::Graph g =
      simplify::simplify_gradient(derive::gradient(build_graph(kModel), diagnostics, {"b"}), {});
  for (const ir::Definition& d : g.definitions)
    EXPECT_NE(g[d.target].name[0] == 'd', g[d.target].name != "db") << g[d.target].name;
}

TEST(Chosen, TangentsAndProductsAreOfTheseOnly) {
  Diagnostics diagnostics;
  const ir::Graph forward = with_loss(build_graph(kModel));
  const ir::Graph jvp = derive::jvp(forward, diagnostics, {"a"});
  EXPECT_FALSE(jvp.find("tx"));
  EXPECT_TRUE(jvp.find("ta.w"));
  const ir::Graph hvp = derive::hessian_product(derive::loss_gradient(forward, diagnostics, {"a"}),
                                                diagnostics, {"a"});
  EXPECT_EQ(outputs_of(hvp), (std::vector<std::string>{"ha.w", "ha.b"}));
  EXPECT_FALSE(hvp.find("tb"));
}

// y = stop(u) v: the derivative sees a constant where the value sees u.
TEST(Stop, PassesTheValueAndNoDerivative) {
  const auto text = R"(size N; input x[N]; param w
    u[i] = w * x[i]
    s[i] = stop(u[i]) * u[i] + stop(2 * w)
    loss = sum[i] s[i]
    output loss)";
  const ir::Graph g = build_graph(text);
  Diagnostics diagnostics;
  Arrays given = {{"x", {{2}, {1, 3}}},
                  {"w", {{}, {5}}},
                  {"dloss", {{}, {1}}},
                  {"tx", {{2}, {0, 0}}},
                  {"tw", {{}, {1}}}};
  EXPECT_EQ(evaluate::evaluate(g, given).at("loss").values[0], 25 + 10 + 225 + 10);
  // d/dw sum stop(w x) w x = sum w x^2; without the stop it would be twice as much.
  const ir::Graph gradient = derive::gradient(g, diagnostics);
  EXPECT_EQ(evaluate::evaluate(gradient, given).at("dw").values[0], 5 + 45);
  const ir::Graph jvp = derive::jvp(g, diagnostics);
  EXPECT_EQ(evaluate::evaluate(jvp, given).at("tloss").values[0], 5 + 45);
  // The gradient of that again: stop(w x) stays a constant.
  ir::Graph first = derive::loss_gradient(g, diagnostics);
  first = simplify::simplify_gradient(simplify::spread_guards(first), {});
  const ir::Graph hvp = derive::hessian_product(first, diagnostics);
  EXPECT_EQ(evaluate::evaluate(hvp, given).at("hw").values[0], 0);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_TRUE(diagnostics.all().empty());
}

TEST(Stop, IsGoneWhenAllIsDerivedAndChangesNoValue) {
  const auto text = R"(size N, D = 4; input x[N,D]; param w[N,D]
    s[i,j] = sum[d] stop(x[i,d]) * w[j,d]
    y[i] = sum[j where j <= i] stop(s[i,j])^2 * stop(x[i,0])
    output y)";
  const ir::Graph with = build_graph(text);
  const ir::Graph without = simplify::drop_stops(with);
  EXPECT_NE(text::to_string(with).find("stop"), std::string::npos);
  EXPECT_EQ(text::to_string(without).find("stop"), std::string::npos);
  const Arrays given = random_inputs(with, {5, 4}, 2);
  EXPECT_EQ(evaluate::evaluate(with, given).at("y").values,
            evaluate::evaluate(without, given).at("y").values);
}

// A product with what a condition hides is absent, with or without a stop.
TEST(Stop, LetsConditionsThrough) {
  const ir::Graph g = simplify::spread_guards(build_graph(R"(size N; input x[N], v[N]
    p[i,j] = x[i] * x[j] where j <= i
    y[i] = sum[j] stop(p[i,j]) * v[j]
    output y)"));
  Arrays given = {{"x", {{2}, {1, 2}}}, {"v", {{2}, {3, std::nan("")}}}};
  EXPECT_EQ(evaluate::evaluate(g, given).at("y").values[0], 3);
}

TEST(Stop, WarnsOfNothing) {
  Diagnostics diagnostics;
  derive::gradient(build_graph("input x; param w; y = stop(w) * x; output y"), diagnostics);
  EXPECT_TRUE(diagnostics.all().empty());
}

}  // namespace
}  // namespace attn::testing
