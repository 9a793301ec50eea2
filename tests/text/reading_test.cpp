// The text of a graph reads as one would write it.
#include <gtest/gtest.h>

#include <regex>

#include "compiler/derive/derive.h"
#include "compiler/text/text.h"
#include "tests/support/build_graph.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

// The last definition before the output, without the spaces that align it.
std::string printed(const std::string& lines, const std::string& definition) {
  const ir::Graph g = build_graph(lines + ";" + definition);
  return std::regex_replace(text::to_string(g, g.definitions.back()), std::regex("  +"), " ");
}

TEST(Reading, ProductsStandLikeMatrixProducts) {
  const std::string in = "size T, E; input q[T,E], k[T,E], p[T,T], v[T,E], b[E], a";
  EXPECT_EQ(printed(in, "s[i,j] = sum[e] k[j,e] * q[i,e]"), "s[i,j] = sum[e] q[i,e] * k[j,e]");
  EXPECT_EQ(printed(in, "z[i,e] = sum[j] v[j,e] * p[i,j]"), "z[i,e] = sum[j] p[i,j] * v[j,e]");
  EXPECT_EQ(printed(in, "z[i,e] = (q[i,e] + b[e]) * k[i,e] * a * 2"),
            "z[i,e] = 2 * a * k[i,e] * (q[i,e] + b[e])");
}

TEST(Reading, ScalesOfASumStandAroundIt) {
  const std::string in = "size T, E; input q[T,E]";
  EXPECT_EQ(printed(in, "z[i] = sum[e] q[i,e] ^ 2 / sqrt(E)"),
            "z[i] = (sum[e] q[i,e]^2) / sqrt(E)");
  EXPECT_EQ(printed(in, "z[i] = sum[e] 0 - q[i,e]"), "z[i] = -(sum[e] q[i,e])");
}

TEST(Reading, NegativePowersAreDivisions) {
  const std::string in = "input x, y, z";
  EXPECT_EQ(printed(in, "r = x / y / z"), "r = x / (y * z)");
  EXPECT_EQ(printed(in, "r = x * (y + 1) ^ -0.5"), "r = x / sqrt(1 + y)");
  EXPECT_EQ(printed(in, "r = 1 - x ^ 2"), "r = 1 - x^2");
  EXPECT_EQ(printed(in, "r = 0 - x ^ -2"), "r = -1 / x^2");
}

TEST(Reading, ConditionsHaveTwoSides) {
  const std::string in = "size T, B, W = 3; int len[B], token[B,T]; input x[B,T]";
  EXPECT_EQ(printed(in, "y[b,i: T] = sum[j where j <= i] x[b,j]"),
            "y[b, i: T] = sum[j where j <= i] x[b,j]");
  EXPECT_EQ(printed(in, "y[b] = sum[j where j < len[b]] x[b,j]"),
            "y[b] = sum[j where j < len[b]] x[b,j]");
  EXPECT_EQ(printed(in, "y[b,i: T] = sum[j where i - j < W and j <= i] x[b,j]"),
            "y[b, i: T] = sum[j where 0 <= i - j < W] x[b,j]");
  EXPECT_EQ(printed(in, "y[b,i: T] = sum[k: 3 where i + k - 1 >= 0 and i + k - 1 < T] x[b,i+k-1]"),
            "y[b, i: T] = sum[k: 3 where 0 <= i + k - 1 < T] x[b, i + k - 1]");
  EXPECT_EQ(printed(in, "y[v: 9] = sum[b,i where v == token[b,i]] x[b,i]"),
            "y[v: 9] = sum[b,i where v == token[b,i]] x[b,i]");
  EXPECT_EQ(printed(in, "y[n: 2*T-1] = sum[b,i,j: T where n == i - j + T - 1] x[b,i]"),
            "y[n: 2*T - 1] = sum[b, i, j: T where n == i - j + T - 1] x[b,i]");
  EXPECT_EQ(printed(in, "y[b,i] = x[b,i] where i >= 1"), "y[b,i] = x[b,i] where i >= 1");
}

TEST(Reading, IndicesOfOneNameAreToldApart) {
  ir::Graph g = build_graph("size T; input x[T,T]; y[i] = sum[j] x[i,j]; output y");
  g.indices.back().name = "i";
  EXPECT_EQ(text::to_string(g, g.definitions[0]), "y[i] = sum[i2] x[i,i2]");
}

TEST(Reading, TheGradientOfMaskedAttention) {
  ir::Graph g = build_graph(read_text(ATTN_SOURCE_DIR "/tests/text/attention.txt"));
  g.name = "attention";
  Diagnostics diagnostics;
  expect_golden(ATTN_SOURCE_DIR "/tests/text/attention.gradient",
                text::to_string(derive::gradient(g, diagnostics)));
}

}  // namespace
}  // namespace attn::testing
