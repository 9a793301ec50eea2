// What is known at the parts of an expression.
#include "compiler/ir/under.h"

#include <gtest/gtest.h>

namespace attn::ir {
namespace {

const Expr kX = read({0}, Type::f32, {});
const Expr kFirst = less(Expr(1), size_value(Poly::size({0})));  // reads nothing
const Expr kOfData = less(Expr(0), kX);

// What is known where `e` reads x.
std::set<Conditions> known_at_reads(const Expr& e) {
  std::set<Conditions> result;
  visit_under(e, {}, [&](const Expr& part, const Conditions& known) {
    if (part == kX) result.insert(known);
    return true;
  });
  return result;
}

// The same, by the walk that rebuilds.
std::set<Conditions> known_where_rewritten(const Expr& e) {
  std::set<Conditions> result;
  rewrite_under(e, {}, [&](const Expr& part, const Conditions& known) {
    if (part == kX) result.insert(known);
    return part;
  });
  return result;
}

void expect_known(const Expr& e, const std::set<Conditions>& want) {
  EXPECT_EQ(known_at_reads(e), want);
  EXPECT_EQ(known_where_rewritten(e), want);
}

TEST(Under, BranchesKnowTheirCondition) {
  expect_known(select(kFirst, kX, Expr(0.5)), {{kFirst}});
  expect_known(select(kFirst, Expr(0.5), kX), {{negation(kFirst)}});
}

// What reads nothing is tried first: it may be what keeps the rest in range.
TEST(Under, PartsThatReadDataKnowThoseThatReadNone) {
  expect_known(select(all_of({kFirst, kOfData}), Expr(1.5), Expr(0.5)), {{kFirst}});
  expect_known(
      select(negation(all_of({negation(kFirst), negation(kOfData)})), Expr(1.5), Expr(0.5)),
      {{negation(kFirst)}});
}

}  // namespace
}  // namespace attn::ir
