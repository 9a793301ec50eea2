// What is taken out of the terms of a sum: a sum of no terms stays 0 beside it.
#include "compiler/solve/out_of_sum.h"

#include <gtest/gtest.h>

#include <optional>

#include "compiler/ops/table.h"

namespace attn::solve {
namespace {

using ir::Conditions;
using ir::Expr;
using ir::IndexId;
using ir::Kind;
using ir::Poly;

class TimesSum : public ::testing::Test {
 protected:
  ir::TensorId tensor(ir::Role role) {
    return g.new_tensor({.name = "t",
                         .storage = ir::Storage::f32,
                         .extents = {Poly::size(T)},
                         .role = role,
                         .init = {},
                         .doc = {},
                         .where = {}});
  }
  ir::SizeId size(int64_t least) {
    g.sizes.push_back({.name = "T", .lower = least});
    return {static_cast<int32_t>(g.sizes.size()) - 1};
  }
  Expr read(ir::TensorId t, IndexId index) {
    return ir::read(t, ir::Type::f32, {ir::index_value(index)});
  }
  // Whether what `factor` is where the sum has no terms may be seen, and so is left out there.
  bool is_left_out(const Expr& factor, const std::set<IndexId>& reduced, const Conditions& guard) {
    const Expr product = times_sum(g, factor, read(sum, i), {i}, reduced, guard);
    if (product == factor * read(sum, i)) return false;
    EXPECT_TRUE(product.is(Kind::select) && product.args()[2].is_zero());
    EXPECT_EQ(product.args()[1], factor * read(sum, i));
    return true;
  }

  ir::Graph g;
  ir::SizeId T = size(0), U = size(1);
  IndexId i = g.new_index("i", Poly::size(T)), j = g.new_index("j", Poly::size(T)),
          k = g.new_index("k", Poly::size(U)), n = g.new_index("n", Poly(4));
  ir::TensorId sum = tensor(ir::Role::interior), input = tensor(ir::Role::input),
               parameter = tensor(ir::Role::parameter);
};

TEST_F(TimesSum, LeavesOutWhatNeedNotBeFinite) {
  const Conditions before = {ir::less(ir::index_value(j), ir::index_value(i))};
  EXPECT_TRUE(is_left_out(read(input, i), {j}, before));
  EXPECT_TRUE(is_left_out(ir::power(read(parameter, i), Expr(-1)), {j}, before));
  EXPECT_FALSE(is_left_out(read(parameter, i), {j}, before));
  EXPECT_FALSE(is_left_out(2 * read(parameter, i), {j}, before));
  EXPECT_FALSE(is_left_out(Expr(0.5), {j}, before));
}

TEST_F(TimesSum, AsksWhetherThereIsATerm) {
  // i is there, so T is at least 1; T is not known to be where nothing has i.
  EXPECT_FALSE(is_left_out(read(input, i), {j}, {}));
  EXPECT_FALSE(
      is_left_out(read(input, i), {j, n}, {ir::at_most(ir::index_value(j), ir::index_value(i))}));
  EXPECT_FALSE(is_left_out(read(input, i), {k}, {}));
  EXPECT_TRUE(is_left_out(read(input, i), {k}, {ir::at_most(1, ir::index_value(k))}));
  const Expr alone = times_sum(g, read(input, i), read(sum, i), {}, {j}, {});
  EXPECT_TRUE(alone.is(Kind::select));
}

TEST_F(TimesSum, FindsPoles) {
  const Expr x = read(input, i);
  const Expr inverse = ir::power(x, Expr(-1));
  std::optional<ir::Definition> map;
  const auto has = [&](const Expr& e) {
    return has_pole([&](ir::TensorId t) { return map && map->target == t ? &*map : nullptr; }, e);
  };
  EXPECT_TRUE(has(2 * inverse));
  EXPECT_TRUE(has(ops::apply("log", {x})));
  EXPECT_FALSE(has(x * x));
  EXPECT_FALSE(has(ir::power(x * x + Expr(1e-5), Expr(-0.5))));
  EXPECT_FALSE(has(ir::power(ops::apply("max", {x, Expr(1e-5)}), Expr(-1))));
  map = ir::Definition{.target = sum, .free = {i}, .body = inverse};
  EXPECT_TRUE(has(x * read(sum, i)));
  map->body = x;
  EXPECT_FALSE(has(x * read(sum, i)));
  map->combine = ir::Combine::logsumexp;
  EXPECT_TRUE(has(ops::apply("exp", {x - read(sum, i)})));
}

}  // namespace
}  // namespace attn::solve
