// Subscripts that are made of digits of the column.
#include "compiler/plan/digits.h"

#include <gtest/gtest.h>

namespace attn::plan {
namespace {

using namespace ir;
using Low = Digits::Low;

struct DigitsOf : ::testing::Test {
  DigitsOf() {
    for (const char* name : {"R", "C"}) g.sizes.push_back({.name = name});
    lines = Poly::size({0}), length = Poly::size({1});
    column = g.new_index("j", lines * length);
    row = index_value(g.new_index("i", lines));
    const Expr j = index_value(column), c = size_value(length);
    line = quotient(j, c), in_line = remainder(j, c);
  }
  std::optional<Digits> of(const std::vector<Expr>& position) const {
    return digits_of(g, position, column);
  }

  Graph g;
  Poly lines, length;
  IndexId column;
  Expr row, line, in_line;
};

TEST_F(DigitsOf, AllOfALineGoToOnePlace) {
  for (const Expr& e : {line, line - row, quotient(line, Expr(3))}) {
    const auto digits = of({row, e});
    ASSERT_TRUE(digits);
    EXPECT_EQ(digits->divisor, size_value(length));
    EXPECT_EQ(digits->low, Low::one_place);
  }
}

TEST_F(DigitsOf, NeighboursGoToNeighbours) {
  for (const Expr& e : {in_line, in_line - row + Expr(4), in_line + line})
    EXPECT_EQ(of({line, row, e})->low, Low::neighbours);
}

TEST_F(DigitsOf, OthersGoAnywhere) {
  const std::vector<std::vector<Expr>> all = {{row - in_line},
                                              {in_line, row},
                                              {in_line, in_line},
                                              {Expr(2) * in_line},
                                              {remainder(in_line, Expr(3))}};
  for (const auto& position : all) EXPECT_EQ(of(position)->low, Low::anywhere);
}

TEST_F(DigitsOf, AreNotFoundBesideOtherUsesOfTheColumn) {
  const Expr j = index_value(column);
  EXPECT_FALSE(of({row, j}));
  EXPECT_FALSE(of({line, j}));
  EXPECT_FALSE(of({line, remainder(j, Expr(3))}));
  EXPECT_FALSE(of({row, quotient(row, Expr(3))}));
}

// With a divisor that may be 0 where there are columns, the digits would be others.
TEST_F(DigitsOf, AreOfADivisorOfTheExtent) {
  const Expr j = index_value(column);
  g.sizes.push_back({.name = "K"});
  EXPECT_FALSE(of({quotient(j, size_value(Poly::size({2})))}));
  EXPECT_FALSE(of({quotient(j, row + Expr(1))}));
  EXPECT_FALSE(of({quotient(j, Expr(-2))}));
  EXPECT_EQ(of({quotient(j, Expr(5))})->low, Low::one_place);
}

}  // namespace
}  // namespace attn::plan
