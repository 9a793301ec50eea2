// The normal form of expressions, which everything downstream leans on.
#include "compiler/ir/expr.h"

#include <gtest/gtest.h>

#include "compiler/base/check.h"
#include "compiler/ops/table.h"

namespace attn::ir {
namespace {

const IndexId kI{0}, kJ{1};
Expr i() { return index_value(kI); }
Expr j() { return index_value(kJ); }
Expr x(int tensor = 0) { return read({tensor}, Type::f32, {}); }
Expr size(int id) { return size_value(Poly::size({id})); }

TEST(Sum, CollectsLikeTermsAndConstants) {
  EXPECT_EQ(x() + x(), 2 * x());
  EXPECT_EQ(x(0) + x(1), x(1) + x(0));
  EXPECT_EQ(x() - x(), Expr(0));
  EXPECT_EQ((x() + 1) + (x() + 2.5), 2 * x() + 3.5);
  EXPECT_EQ(x() + 2.0, x() + 2);
  EXPECT_EQ(add({x(0), x(1), x(2)}), x(2) + (x(0) + x(1)));
}

TEST(Sum, KeepsSizesAsOnePolynomial) {
  EXPECT_EQ(size(0) + size(1) - size(0), size(1));
  EXPECT_EQ(i() + size(0) - 1 - size(0) + 1, i());
  EXPECT_EQ(3 * (size(0) + 2), 3 * size(0) + 6);
}

TEST(Product, CollectsPowersAndOneCoefficient) {
  EXPECT_EQ(x() * x(), power(x(), 2));
  EXPECT_EQ(x() / x(), Expr(1));
  EXPECT_EQ(2 * x() * 3, 6 * x());
  EXPECT_EQ((x(0) * x(1)).type(), Type::f32);
  EXPECT_EQ((i() * j()).type(), Type::integer);
  EXPECT_EQ(x(0) / (x(1) * x(0)), 1 / x(1));
  EXPECT_EQ(0 * x(), Expr(0));
  EXPECT_EQ(-(x(0) + x(1)), -x(0) - x(1));
}

TEST(Product, DistributesOverWholeSumsOnly) {
  EXPECT_EQ(2 * (i() + j()), 2 * i() + 2 * j());
  EXPECT_EQ((size(0) * (i() + 1)), size(0) * i() + size(0));
  EXPECT_EQ((2 * (x(0) + x(1))).kind(), Kind::multiply);
}

// A real number among whole terms is what makes their sum real.
TEST(Sum, KeepsTheTypeThatItsRealNumberGives) {
  for (double c : {5.0, 0.5, 0.0}) {
    Expr e = i() + Expr(c);
    EXPECT_EQ(e.type(), Type::f32);
    Type widest = Type::boolean;
    for (const Expr& a : e.args()) widest = std::max(widest, a.type());
    EXPECT_EQ(widest, Type::f32) << c;
    EXPECT_EQ((e + Expr(-c)).type(), Type::f32);
  }
  EXPECT_EQ((size(0) + Expr(1.0)).type(), Type::f32);
  EXPECT_EQ(x() + Expr(5.0), x() + 5);
  EXPECT_EQ((i() + 5).type(), Type::integer);
}

// Reals that cancel leave the type of what is left, which building it again gives.
TEST(Sum, HasTheTypeOfWhatIsLeft) {
  const Expr left = add({Expr(1), i(), x(), -x()});
  EXPECT_EQ(left, i() + 1);
  EXPECT_EQ(left.type(), Type::integer);
  EXPECT_EQ(rebuild(left, left.args()), left);
}

TEST(Power, FoldsNestedExponents) {
  Expr root = ops::apply("sqrt", {x()});
  EXPECT_EQ(root * root, x());
  EXPECT_EQ(power(root, 2), x());
  EXPECT_EQ(x() * ops::apply("rsqrt", {x()}), root);
  EXPECT_NE(ops::apply("sqrt", {power(x(), 2)}), x());
  EXPECT_EQ(ops::apply("sqrt", {Expr(64)}), Expr(8));
  EXPECT_EQ(ops::apply("sqrt", {Expr(3)}).kind(), Kind::power);
  EXPECT_EQ(power(power(x(), 2), 3), power(x(), 6));
}

TEST(Select, IsHoistedOutOfProductsAndJoinedOverSums) {
  Expr c = at_most(j(), i()), d = at_most(0, j());
  EXPECT_EQ(x(0) * select(c, x(1), 0), select(c, x(0) * x(1), 0));
  EXPECT_EQ(select(c, x(0), 0) + select(c, x(1), 0), select(c, x(0) + x(1), 0));
  EXPECT_EQ(select(c, select(d, x(), 0), 0), select(all_of({c, d}), x(), 0));
  EXPECT_EQ(select(c, 0, x()), select(negation(c), x(), 0));
  EXPECT_EQ(select(c, x(), x()), x());
}

TEST(Condition, HasOneForm) {
  EXPECT_EQ(less(j(), i()), at_most(j() + 1, i()));
  EXPECT_EQ(negation(less(j(), i())), at_most(i(), j()));
  EXPECT_EQ(equal(i(), j()), equal(j(), i()));
  EXPECT_EQ(negation(equal(i(), j())), not_zero(j() - i()));
  EXPECT_TRUE(all_of({less(j(), i()), at_most(i(), j())}).is_false());
  EXPECT_TRUE(any_of({less(j(), i()), at_most(i(), j())}).is_true());
  EXPECT_TRUE(less(Expr(1), Expr(2)).is_true());
  EXPECT_EQ(negation(any_of({less(x(0), x(1)), less(i(), j())})),
            all_of({negation(less(x(0), x(1))), at_most(j(), i())}));
}

TEST(Quotient, FoldsLiteralsAndIdentities) {
  for (int a : {-7, -6, -1, 0, 5, 6})
    for (int b : {-3, -1, 1, 2}) {
      EXPECT_EQ(quotient(a, b), Expr(static_cast<int>(std::floor(1. * a / b)))) << a << " " << b;
      EXPECT_EQ(b * quotient(a, b) + remainder(a, b), Expr(a)) << a << " " << b;
    }
  EXPECT_EQ(quotient(i(), 1), i());
  EXPECT_EQ(remainder(i(), 1), Expr(0));
  EXPECT_EQ(quotient(0, i()), Expr(0));
  EXPECT_EQ(remainder(0, i()), Expr(0));
  EXPECT_EQ(quotient(i(), 2).kind(), Kind::quotient);
  EXPECT_EQ(substitute(remainder(i(), j()), {{kJ, Expr(1)}}), Expr(0));
  EXPECT_EQ(substitute(quotient(i(), j()), {{kI, Expr(-7)}, {kJ, Expr(2)}}), Expr(-4));
  EXPECT_EQ(quotient(7, 0).type(), Type::integer);  // neither folded nor refused
  EXPECT_NE(quotient(i(), j()), remainder(i(), j()));
}

TEST(Call, FoldsLiteralsAndIdentities) {
  EXPECT_EQ(ops::apply("log", {ops::apply("exp", {x()})}), x());
  EXPECT_EQ(ops::apply("clamp", {Expr(9), Expr(0), Expr(3)}), Expr(3));
  EXPECT_EQ(ops::apply("exp", {x()}).type(), Type::f32);
  EXPECT_EQ(ops::apply("max", {i(), j()}).type(), Type::integer);
}

TEST(Substitute, RebuildsTheNormalForm) {
  EXPECT_EQ(substitute(i() + j(), {{kJ, -i()}}), Expr(0));
  EXPECT_TRUE(substitute(at_most(j(), i()), {{kJ, i()}}).is_true());
}

// What is put in is not looked at again, also where all that is left is what was put in.
TEST(Substitute, ReplacesEachPlaceOnce) {
  EXPECT_EQ(substitute(i() - 1, {{kI, i() + 1}}), i());
  EXPECT_EQ(substitute(j() * i() + j(), {{kI, j()}, {kJ, i()}}), i() * j() + i());
  const TensorId t = {3};
  const Expr y = read(t, Type::f32, {i()});
  EXPECT_EQ(replace_reads(1.0 - y, t, -y), 1.0 + y);
  EXPECT_EQ(replace_reads(-y, t, -y), y);
}

TEST(Expression, RefusesDoublingWithoutBound) {
  EXPECT_THROW(
      {
        Expr e = x();
        for (int k = 0; k < 64; ++k) e = ops::apply("tanh", {e}) * (e + 1.5);
      },
      LimitError);
}

}  // namespace
}  // namespace attn::ir
