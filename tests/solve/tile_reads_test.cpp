// Which products are kept in tiles for how they are read, where all sizes are known.
#include "compiler/solve/tile_reads.h"

#include <gtest/gtest.h>

#include "tests/support/build_graph.h"

namespace attn::testing {
namespace {

// Of scores s[h,i,j] of 600 rows and columns, 20 to a line, what `maps` make of them included.
std::string in_tiles(const char* maps, const char* readers) {
  std::string text = R"(
    size T = 600, R = 30, C = 20, H = 2, E = 8
    input q[H,T,E], k[H,T,E], v[H,T,E]
    s[h,i,j] = sum[e] q[h,i,e] * k[h,j,e]
  )";
  text += maps;
  text += "\n";
  text += readers;
  const ir::Graph g = build_graph(text);
  const std::vector<bool> found = solve::read_in_tiles(g);
  std::string names;
  for (const ir::Definition& d : g.definitions)
    if (found[d.target.value]) names += g[d.target].name + " ";
  return names;
}

constexpr const char* kExponentials = "p[h,i,j] = exp(s[h,i,j])";
constexpr const char* kSums = "z[h,i,e] = sum[j] p[h,i,j] * v[h,j,e]; output z";

TEST(TileReads, AreSumsOverRowsOrColumns) {
  EXPECT_EQ(in_tiles(kExponentials, kSums), "s p ");
  EXPECT_EQ(in_tiles(kExponentials, "z[h,i] = max[j] p[h,i,j]; output z"), "");
  EXPECT_EQ(in_tiles(kExponentials, "output p"), "");
}

// A sum over heads adds each point at a place of its own.
TEST(TileReads, AreSumsOverTheBatch) {
  EXPECT_EQ(in_tiles(kExponentials, R"(
    b[i,j] = sum[h] p[h,i,j]
    z[h,i,e] = sum[j] p[h,i,j] * v[h,j,e]
    output b, z)"),
            "s p ");
  // Not a product that mixes the heads: it has as many points again.
  EXPECT_EQ(in_tiles(kExponentials, R"(
    param w[H,H]
    b[g: H,i,j] = sum[h] w[g,h] * p[h,i,j]
    z[g,i,e] = sum[j] b[g,i,j] * v[g,j,e]
    output z)"),
            "");
}

TEST(TileReads, MayBeAtDigits) {
  EXPECT_EQ(in_tiles("p[h,r: R,c: C,j] = exp(s[h, C*r + c, j])", R"(
    z[h,r,c,e] = sum[j] p[h,r,c,j] * v[h,j,e]
    output z)"),
            "s p ");
  EXPECT_EQ(in_tiles(kExponentials, R"(
    z[h,i,e] = sum[y: R, x: C] p[h, i, C*y + x] * v[h, C*y + x, e]
    lines[h,r: R] = sum[x: C, j] p[h, C*r + x, j]
    output z, lines)"),
            "s p ");
}

// Points that are read twice, or not at all, are no digits.
TEST(TileReads, AreOfEachPoint) {
  for (const char* map : {"p[h,i: 2*T,j] = exp(s[h, i // 2, j])", "p[h,i: R,j] = exp(s[h, C*i, j])",
                          "p[h,i,j: T] = exp(s[h, i, T - 1])"})
    EXPECT_EQ(in_tiles(map, "z[h,i] = sum[j] p[h,i,j]; output z"), "") << map;
  EXPECT_EQ(in_tiles("", "z[h,i] = sum[j: T where j <= i] exp(s[h, i, i - j]); output z"), "");
}

// What nothing reads is dropped later, and keeps nothing in memory.
TEST(TileReads, MayNotBeUsed) {
  EXPECT_EQ(in_tiles("unused[h,i,j] = 2 * s[h,i,j]; p[h,i,j] = exp(s[h,i,j])", kSums),
            "s unused p ");
}

}  // namespace
}  // namespace attn::testing
