// Jacobian- and Hessian-vector products: of random graphs and of rules that have a form of their
// own.
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
using Values = std::vector<double>;

TEST(Forward, JacobianProductsOfRandomGraphsAreRight) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 150 && wrong < 5; ++seed) {
    const RandomGraph r = random_graph(seed);
    const std::string text = check_jvp(r.graph, r.inputs);
    EXPECT_EQ(text, "") << "seed " << seed;
    wrong += !text.empty();
  }
}

TEST(Forward, HessianProductsOfRandomGraphsAreRight) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 100 && wrong < 5; ++seed) {
    RandomOptions options;
    options.definitions = 4;
    const RandomGraph r = random_graph(seed, options);
    const std::string text = check_hvp(with_loss(r.graph), r.inputs);
    EXPECT_EQ(text, "") << "seed " << seed;
    wrong += !text.empty();
  }
}

TEST(Forward, BothAreRightWhereSizesAreZeroOrOne) {
  RandomOptions options;
  options.empty_sizes = true;
  int wrong = 0;
  for (uint64_t seed = 1000; seed < 1040 && wrong < 5; ++seed) {
    const RandomGraph r = random_graph(seed, options);
    const std::string text = check_jvp(r.graph, r.inputs) + check_hvp(with_loss(r.graph), r.inputs);
    EXPECT_EQ(text, "") << "seed " << seed;
    wrong += !text.empty();
  }
}

// hNAME of the first scalar output, along tangents that are given.
Values product_of(const std::string& text, const std::string& name, const Arrays& given) {
  Diagnostics diagnostics;
  const ir::Graph first = derive::loss_gradient(build_graph(text), diagnostics);
  const ir::Graph second = derive::hessian_product(first, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  return evaluate::evaluate(second, given).at("h" + name).values;
}

// The gradient of a product is read off its other factors, and is 0 where two of them are. Its own
// derivative is not.
TEST(Forward, TheHessianOfAProductIsRightBesideZeros) {
  const auto text = "size N; input x[N]; y = prod[i] x[i]; output y";
  auto at = [&](Values x, Values t) {
    const auto n = static_cast<int64_t>(x.size());
    return product_of(text, "x", {{"x", {{n}, std::move(x)}}, {"tx", {{n}, std::move(t)}}});
  };
  EXPECT_EQ(at({2, 3, 5}, {1, 0, 0}), Values({0, 5, 3}));
  EXPECT_EQ(at({0, 3, 5}, {1, 0, 0}), Values({0, 5, 3}));
  EXPECT_EQ(at({0, 3, 5}, {0, 1, 0}), Values({5, 0, 0}));
  EXPECT_EQ(at({0, 0, 5}, {1, 0, 0}), Values({0, 5, 0}));
  EXPECT_EQ(at({0, 0, 5}, {0, 0, 1}), Values({0, 0, 0}));
  EXPECT_EQ(at({0, 0, 0}, {1, 1, 1}), Values({0, 0, 0}));
}

TEST(Forward, TheHessianOfAPowerIsRightWhereItsExponentIsZero) {
  // d/dn (n b^(n-1)) = b^(n-1) = 1/2 at b = 2, n = 0.
  const auto text = "input b, n; y = b ^ n; output y";
  const Arrays given = {{"b", {{}, {2}}}, {"n", {{}, {0}}}, {"tb", {{}, {0}}}, {"tn", {{}, {1}}}};
  EXPECT_DOUBLE_EQ(product_of(text, "b", given)[0], 0.5);
  EXPECT_DOUBLE_EQ(product_of(text, "n", given)[0], std::log(2) * std::log(2));
}

// Definitions of a derivative by text, without those of the function itself.
std::string tangents_of(const std::string& text, const derive::Names& by = {}) {
  Diagnostics diagnostics;
  const ir::Graph forward = build_graph(text);
  const ir::Graph g = simplify::simplify_gradient(derive::jvp(forward, diagnostics, by), {});
  EXPECT_FALSE(diagnostics.has_errors());
  std::string result;
  for (const ir::Definition& d : g.definitions)
    if (!forward.find(g[d.target].name)) result += text::to_string(g, d) + "\n";
  return result;
}

TEST(Forward, ReadsAsOneWouldWriteIt) {
  EXPECT_EQ(tangents_of("size N; input x[N]; y[i] = tanh(x[i]); output y"),
            "ty[i] = tx[i] * (1 - y[i]^2)\n");
  EXPECT_EQ(tangents_of("size N; input x[N,N]; y[i] = logsumexp[j where j <= i] x[i,j]; output y"),
            "ty[i] = sum[j where j <= i] tx[i,j] * exp(x[i,j] - y[i])\n");
  EXPECT_EQ(tangents_of("size N, D = 4; input a[N,D], b[N,D]; "
                        "y[i,j] = sum[e] a[i,e] * b[j,e]; output y"),
            "ty.1[i,j] = sum[e] a[i,e] * tb[j,e]\n"
            "ty.2[i,j] = sum[e] ta[i,e] * b[j,e]\n"
            "ty[i,j] = ty.1[i,j] + ty.2[i,j]\n");
}

TEST(Forward, WhatHasNoTangentVanishes) {
  const auto text = R"(size N, D = 4; input x[N,D]; param w[D], b[N]; int t[N]
    a[i] = sum[d] x[i,d] * w[d]
    c[i] = floor(b[i]) * float(t[i])
    y[i] = a[i] + b[i] * c[i]
    output y)";
  EXPECT_EQ(tangents_of(text, {"b"}), "ty[i] = tb[i] * c[i]\n");
  EXPECT_EQ(tangents_of(text, {"w"}), "ta[i] = sum[d] x[i,d] * tw[d]\nty[i] = ta[i]\n");
}

TEST(Forward, AnOutputWithoutATangentIsZero) {
  EXPECT_EQ(tangents_of("size N; input x[N]; y[i] = floor(x[i]); output y"), "ty[i: N] = 0\n");
}

TEST(Forward, InteriorNamesGiveWayToTangents) {
  Diagnostics diagnostics;
  const ir::Graph g = derive::jvp(
      build_graph("size N; input x[N]; tx[i] = x[i]^2; ty[i] = tx[i]^2; y[i] = ty[i]; output y"),
      diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(g[*g.find("tx")].role, ir::Role::tangent);
  EXPECT_EQ(g[*g.find("ty")].role, ir::Role::output);
}

std::string first_error(const Diagnostics& diagnostics) {
  return diagnostics.has_errors() ? diagnostics.all()[0].message : "";
}

TEST(Forward, RefusesNamesThatTheCallerCouldNotTellApart) {
  auto of_jvp = [](const char* text) {
    Diagnostics diagnostics;
    derive::jvp(build_graph(text), diagnostics);
    return first_error(diagnostics);
  };
  EXPECT_EQ(of_jvp("input x, tx; y = x * tx; output y"),
            "the input `tx` has the name that the tangent of the input `x` takes");
  EXPECT_EQ(of_jvp("input x; y = x^2; ty = x + y; output y, ty"),
            "the output `ty` has the name that the tangent of the output `y` takes");
  auto of_hvp = [](const char* text) {
    Diagnostics diagnostics;
    derive::loss_gradient(build_graph(text), diagnostics);
    return first_error(diagnostics);
  };
  EXPECT_EQ(of_hvp("input x, hx; y = x * hx; output y"),
            "the input `hx` has the name that the Hessian product of the input `x` takes");
  EXPECT_EQ(of_hvp("size N; input x[N]; y[i] = x[i]^2; output y"),
            "a Hessian product needs a real scalar output, which `` has not");
}

}  // namespace
}  // namespace attn::testing
