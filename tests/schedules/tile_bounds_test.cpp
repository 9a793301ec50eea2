// Bounds of what a range of rows may see: no more is walked over.
#include "compiler/lower/forms/tile_bounds.h"

#include <Halide.h>
#include <gtest/gtest.h>

#include <utility>

namespace attn::lower {
namespace {

using Range = std::pair<int, int>;

// Rows and columns, 100 of each.
struct Points {
  ir::Graph graph;
  ir::IndexId row = graph.new_index("i", 100), column = graph.new_index("j", 100);
  ir::Expr i = ir::index_value(row), j = ir::index_value(column);
  Arguments arguments;
  std::vector<ir::TensorId> writes;
  Scope scope{graph, arguments, writes, {}};

  // The first and the end of the columns that the rows [from, to] see; -1 where nothing bounds
  // them, -2 where a bound is no number.
  Range columns(const ir::Conditions& visible, int from, int to) const {
    return bounds(edges(scope, visible, row, column), from, to);
  }
  Range rows(const ir::Conditions& visible, int from, int to) const {
    return bounds(edges(scope, visible, column, row), from, to);
  }

 private:
  static Range bounds(const Edges& edges, int from, int to) {
    const auto number = [&](const Edge& edge) {
      if (!edge) return -1;
      const auto value = Halide::Internal::as_const_int(Halide::Internal::simplify(edge(from, to)));
      return value ? static_cast<int>(*value) : -2;
    };
    return {number(edges.first), number(edges.end)};
  }
};

TEST(TileBounds, OfComparisons) {
  const Points p;
  EXPECT_EQ(p.columns({ir::at_least_zero(p.i - p.j)}, 8, 15), Range(-1, 16));
  EXPECT_EQ(p.columns({ir::at_least_zero(p.i - p.j), ir::at_least_zero(p.j - p.i + 3)}, 8, 15),
            Range(5, 16));
  EXPECT_EQ(p.rows({ir::at_least_zero(p.i - p.j)}, 8, 15), Range(8, -1));
  EXPECT_EQ(p.columns({ir::is_zero(p.i - p.j)}, 8, 15), Range(8, 16));
}

TEST(TileBounds, OfBlocks) {
  const Points p;
  const ir::Expr of_row = ir::quotient(p.i, 4), of_column = ir::quotient(p.j, 4);
  const ir::Conditions same = {ir::is_zero(of_row - of_column)};
  EXPECT_EQ(p.columns(same, 8, 15), Range(8, 16));
  EXPECT_EQ(p.columns(same, 9, 9), Range(8, 12));
  EXPECT_EQ(p.rows(same, 9, 13), Range(8, 16));
  // The block before it too, none beyond it.
  EXPECT_EQ(
      p.columns({ir::at_least_zero(of_row - of_column), ir::at_least_zero(of_column - of_row + 1)},
                9, 9),
      Range(4, 12));
  // Both of two conditions hold.
  EXPECT_EQ(p.columns({ir::is_zero(of_row - of_column), ir::at_least_zero(p.i - p.j)}, 9, 9),
            Range(8, 10));
}

TEST(TileBounds, OfBlocksOfAnotherLength) {
  const Points p;
  const ir::Conditions alike = {ir::is_zero(ir::quotient(p.i, 8) - ir::quotient(p.j, 3))};
  EXPECT_EQ(p.columns(alike, 16, 23), Range(6, 9));
  EXPECT_EQ(p.rows(alike, 6, 8), Range(16, 24));
}

TEST(TileBounds, OfOneOfTwoConditions) {
  const Points p;
  const ir::Expr same = ir::is_zero(ir::quotient(p.i, 4) - ir::quotient(p.j, 4));
  EXPECT_EQ(p.columns({ir::any_of({same, ir::is_zero(p.j - p.i)})}, 8, 15), Range(8, 16));
  // Nothing bounds what the other sees.
  EXPECT_EQ(p.columns({ir::any_of({same, ir::is_zero(ir::remainder(p.j, 4))})}, 8, 15),
            Range(-1, -1));
}

TEST(TileBounds, AreNotTakenFromProducts) {
  const Points p;
  EXPECT_EQ(p.columns({ir::at_least_zero(p.i * 2 - p.j)}, 8, 15), Range(-1, -1));
  EXPECT_EQ(p.columns({ir::at_least_zero(p.i * p.j - 3)}, 8, 15), Range(-1, -1));
}

}  // namespace
}  // namespace attn::lower
