// What elaboration keeps beside the graphs: sizes given from outside, roles, documentation, limits,
// warnings.
#include <fmt/format.h>

#include "compiler/base/check.h"
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

const char* const kLinear =
    "size B\n"
    "## The width.\n"
    "size D = 8\n"
    "## y = w x.\n"
    "train model f(x: [B, D]) -> y {\n"
    "  ## The weights.\n"
    "  param w: [D, D] = normal(0, 0.02)\n"
    "  y[b,f] = sum[d] x[b,d] * w[f,d]\n"
    "}\n";

TEST(Elaborate, KeepsRolesDocumentationAndInitialisers) {
  const auto e = elaborate_text(kLinear);
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const elaborate::Model& model = e->program.models[0];
  EXPECT_TRUE(model.train);
  EXPECT_EQ(model.doc, "y = w x.");
  const ir::Graph& g = model.graph;
  EXPECT_EQ(g.name, "f");
  const ir::Tensor& w = g[*g.find("w")];
  EXPECT_EQ(w.role, ir::Role::parameter);
  EXPECT_EQ(w.doc, "The weights.");
  EXPECT_EQ(w.init.kind, ir::Initialiser::Kind::normal);
  EXPECT_EQ(w.init.b, 0.02);
  EXPECT_EQ(g[*g.find("x")].role, ir::Role::input);
  EXPECT_EQ(g[*g.find("y")].role, ir::Role::output);
  EXPECT_EQ(g[*g.find_size("D")].doc, "The width.");
  ASSERT_EQ(g.outputs.size(), 1u);
  EXPECT_EQ(g.outputs[0].tensor, *g.find("y"));
  EXPECT_EQ(e->sources.text(g.definitions[0].where), "y[b,f] = sum[d] x[b,d] * w[f,d]");
}

TEST(Elaborate, TakesSizesFromOutside) {
  const auto e = elaborate_text(kLinear, {{"D", 3}, {"B", 5}});
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph& g = e->graph();
  EXPECT_EQ(g[*g.find_size("D")].value, 3);
  EXPECT_EQ(g[*g.find_size("B")].value, 5);
}

TEST(Elaborate, RefusesASizeFromOutsideThatTheFileLacks) {
  const auto e = elaborate_text(kLinear, {{"DD", 3}});
  EXPECT_NE(e->messages().find("-D DD=3: the file has no size `DD`"), std::string::npos)
      << e->messages();
}

TEST(Elaborate, RefusesASizeFromOutsideThatItsRangeExcludes) {
  const auto e =
      elaborate_text("size T in 1..64\nmodel f(x: [T]) -> y {\n  y[t] = x[t]\n}\n", {{"T", 65}});
  EXPECT_NE(e->messages().find("size `T` is 65, which its range excludes"), std::string::npos)
      << e->messages();
}

TEST(Elaborate, DerivesTheSizesThatDependOnOneFromOutside) {
  const auto e = elaborate_text(
      "size D = 8, E = D / 2\nmodel f(x: [D]) -> y {\n  y[e: E] = x[2*e] * E\n}\n", {{"D", 6}});
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph& g = e->graph();
  EXPECT_EQ(g.known(g[*g.find("y")].extents[0]), 3);
}

TEST(Elaborate, GivesModelsOfAFileTheSameParameterNames) {
  const auto e = elaborate_text(
      "use std.linear\nsize B, D\n"
      "model one(x: [B, D]) -> y {\n  y = linear(x) as fc\n}\n"
      "train model two(x: [B, D]) -> z {\n  h = linear(x) as fc\n  z[b] = sum[d] h[b,d]\n}\n");
  ASSERT_EQ(e->program.models.size(), 2u) << e->messages();
  for (size_t k : {0, 1}) {
    EXPECT_TRUE(e->graph(k).find("fc.w"));
    EXPECT_TRUE(e->graph(k).find("fc.b"));
  }
  EXPECT_FALSE(e->program.models[0].train);
  EXPECT_TRUE(e->program.models[1].train);
}

TEST(Elaborate, NeedsNoHelperForWhatIsOneDefinition) {
  const auto e = elaborate_text(
      "size N\nmodel f(x: [N, N]) -> a, b, c {\n"
      "  a[i] = -2 * (sum[j where j <= i] x[i,j]) / sqrt(N)\n"
      "  b[i] = logsumexp[j] x[i,j]\n"
      "  c[i,j] = exp(x[i,j] - b[i]) where j <= i\n}\n");
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph& g = e->graph();
  ASSERT_EQ(g.definitions.size(), 3u) << e->text();
  EXPECT_EQ(g.definitions[0].combine, ir::Combine::sum);
  EXPECT_EQ(g.definitions[0].guard.size(), 1u);
  EXPECT_EQ(g.definitions[1].combine, ir::Combine::logsumexp);
  EXPECT_EQ(g.definitions[2].guard.size(), 1u);
}

TEST(Elaborate, WarnsOfWhatIsNeverReadAndOfNamesThatMislead) {
  const auto e = elaborate_text(
      "size B, n\nmodel f(x: [B, n], W: [n], z: [n]) -> y {\n"
      "  param v: [n]\n  h[b] = x[b,0] where 0 < n\n"
      "  y[b] = sum[d] x[b,d] * W[d]\n}\n");
  EXPECT_FALSE(e->diagnostics.has_errors()) << e->messages();
  std::set<std::string> said;
  for (const Diagnostic& d : e->diagnostics.all()) said.insert(d.category + ": " + d.message);
  EXPECT_EQ(said,
            (std::set<std::string>{"unused: `h` is never read", "unused: input `z` is never read",
                                   "unused: parameter `v` is never read",
                                   "names: size `n` reads like a tensor or an index",
                                   "names: `W` reads like a size"}));
}

// An order of subscripts that was not meant; where the shape is declared, it was.
TEST(Elaborate, WarnsOfAnOutputThatHasTheShapeOfAnInputInAnotherOrder) {
  const auto warned = [](const std::string& output, const std::string& more = "",
                         const elaborate::Overrides& overrides = {}) {
    return elaborate_text("size B, T, D = 8\nmodel m(x: [B, T, D]" + more + ") -> " + output +
                              " {\n  y[b,d,t] = 2 * x[b,t,d]\n}\n",
                          overrides)
        ->messages();
  };
  const std::string text = warned("y");
  EXPECT_NE(text.find("warning[shapes]: `y` is [B, D, T], in another order than `x`"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("if that is meant, declare it: `-> y: [B, D, T]`"), std::string::npos)
      << text;
  EXPECT_EQ(warned("y", "", {{"T", 8}}), text);
  EXPECT_EQ(warned("y: [B, D, T]"), "");
  EXPECT_EQ(warned("y: [B, D, T]", "", {{"T", 8}}), "");
  EXPECT_EQ(warned("y", ", z: [B, D, T]").find("[shapes]"), std::string::npos);
}

TEST(Elaborate, LimitsBlocksThatDouble) {
  std::string source = "size N\nblock b0(x: [...]) -> y {\n  y[...] = 2 * x[...]\n}\n";
  for (int k = 1; k <= 20; ++k) {
    const std::string inner = "b" + std::to_string(k - 1);
    source += "block b" + std::to_string(k) + "(x: [...]) -> y {\n  u = " + inner +
              "(x)\n  y = " + inner + "(u)\n}\n";
  }
  source += "model f(x: [N]) -> y {\n  y = b20(x)\n}\n";
  EXPECT_THROW(elaborate_text(source), LimitError);
}

TEST(Elaborate, LimitsFunctionsThatDouble) {
  std::string source = "size N\nfn f0(x) = exp(x)\n";
  for (int k = 1; k <= 40; ++k) {
    const std::string inner = "f" + std::to_string(k - 1);
    source += "fn f" + std::to_string(k) + "(x) = " + inner + "(x) + " + inner + "(x + 1)\n";
  }
  source += "model m(x: [N]) -> y {\n  y[i] = f40(x[i])\n}\n";
  EXPECT_THROW(elaborate_text(source), LimitError);
}

TEST(Elaborate, ReportsOneMistakeInABlockOnceHoweverOftenItIsCalled) {
  const auto e = elaborate_text(
      "size N\nblock b(x: [...]) -> y {\n  y[...] = x[...] + q\n}\n"
      "model f(x: [N]) -> y {\n  a = b(x)\n  c = b(a)\n  repeat l: 3 as layers { c = b(c) }\n"
      "  y = b(c)\n}\n");
  EXPECT_EQ(e->diagnostics.error_count(), 1) << e->messages();
}

// Every error is counted; the cause is looked for where it may be shown.
TEST(Elaborate, ExplainsTheErrorsThatAreShown) {
  std::string text = "size T\nmodel m(x: [T], value: [T]) -> y {\n";
  for (int k = 0; k < 400; ++k) text += fmt::format("  a{0}[i] = valu{1}[i]\n", k, k);
  const auto e = elaborate_text(text + "  y[i] = x[i]\n}\n");
  int explained = 0;
  for (const Diagnostic& d : e->diagnostics.all()) explained += d.help.empty() ? 0 : 1;
  EXPECT_EQ(e->diagnostics.error_count(), 400);
  EXPECT_GE(explained, 20);
  EXPECT_LE(explained, 200);
}

}  // namespace
}  // namespace attn::testing
