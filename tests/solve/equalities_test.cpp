// Each form of an equality, and what solving it gives. Values are compared in tests/evaluate.
#include "compiler/solve/equalities.h"

#include <gtest/gtest.h>

#include "compiler/ops/table.h"

namespace attn::solve {
namespace {

using ir::Combine;
using ir::Conditions;
using ir::Definition;
using ir::Expr;
using ir::Poly;

class SolveEqualities : public ::testing::Test {
 protected:
  Poly size(std::string name) {
    g.sizes.push_back({.name = std::move(name)});
    return Poly::size({static_cast<int32_t>(g.sizes.size()) - 1});
  }
  Expr index(std::string name, Poly extent) {
    return ir::index_value(g.new_index(std::move(name), std::move(extent)));
  }
  ir::TensorId tensor(std::string name, std::vector<Poly> extents,
                      ir::Storage storage = ir::Storage::f32) {
    ir::Tensor t;
    t.name = std::move(name);
    t.extents = std::move(extents);
    t.storage = storage;
    t.role = ir::Role::input;
    return g.new_tensor(t);
  }
  Definition define(std::vector<Expr> free, Combine combine, std::vector<Expr> reduced,
                    const Expr& guard, const Expr& body) {
    ir::Tensor t;
    t.name = "r";
    t.role = ir::Role::interior;
    Definition d;
    for (const Expr& i : free) {
      d.free.push_back(i->index);
      t.extents.push_back(g[i->index].extent);
    }
    d.target = g.new_tensor(t);
    d.combine = combine;
    for (const Expr& i : reduced) d.reduced.push_back(i->index);
    d.guard = ir::conjuncts(guard);
    d.body = body;
    return d;
  }
  Expr at(ir::TensorId t, std::vector<Expr> subscripts) { return g.read(t, std::move(subscripts)); }

  ir::Graph g;
};

TEST_F(SolveEqualities, RenamesPlainIndices) {
  Poly T = size("T");
  ir::TensorId x = tensor("x", {T});
  Expr n = index("n", T), i = index("i", T), j = index("j", T);
  Definition d = define({n}, Combine::sum, {i, j}, ir::all_of({ir::equal(n, i), ir::less(j, i)}),
                        at(x, {i}) * at(x, {j}));
  Definition solved = solve_equalities(g, d);
  EXPECT_EQ(solved.reduced, std::vector{j->index});
  EXPECT_EQ(solved.guard, Conditions{ir::less(j, n)});
  EXPECT_EQ(solved.body, at(x, {n}) * at(x, {j}));
  // The last reduced index goes: a sum over nothing is a map.
  Definition last = define({n}, Combine::sum, {i}, ir::equal(n, i), at(x, {i}));
  EXPECT_EQ(solve_equalities(g, last).combine, Combine::set);
}

TEST_F(SolveEqualities, KeepsTheRangeWhereExtentsDiffer) {
  Poly T = size("T"), U = size("U");
  ir::TensorId x = tensor("x", {T});
  Expr n = index("n", U), i = index("i", T);
  Definition solved =
      solve_equalities(g, define({n}, Combine::sum, {i}, ir::equal(n, i), at(x, {i})));
  EXPECT_EQ(solved.guard, Conditions{ir::less(n, ir::size_value(T))});
}

TEST_F(SolveEqualities, SolvesSumsOfAnIndexAndANumber) {
  Poly T = size("T");
  ir::TensorId x = tensor("x", {T});
  Expr n = index("n", T), i = index("i", T);
  Definition d = define({n}, Combine::sum, {i}, ir::equal(n, i + 1), at(x, {i}));
  Definition solved = solve_equalities(g, d);
  EXPECT_EQ(solved.body, at(x, {n - 1}));
  EXPECT_EQ(solved.guard, Conditions{ir::at_least_zero(n - 1)});
}

TEST_F(SolveEqualities, TakesTheGreatestExtent) {
  Poly T = size("T");
  ir::TensorId x = tensor("x", {T}), w = tensor("w", {Poly(3)});
  Expr n = index("n", T), i = index("i", T), k = index("k", Poly(3));
  Definition d =
      define({n}, Combine::sum, {k, i}, ir::equal(n, i + k - 1), at(x, {i}) * at(w, {k}));
  Definition solved = solve_equalities(g, d);
  EXPECT_EQ(solved.reduced, std::vector{k->index});
  EXPECT_EQ(solved.body, at(x, {n - k + 1}) * at(w, {k}));
}

TEST_F(SolveEqualities, TakesQuotientsApart) {
  Poly H = size("H"), E = size("E");
  ir::TensorId z = tensor("z", {H * E}), y = tensor("y", {E});
  Expr h = index("h", H), d = index("d", H * E), e = ir::size_value(E);
  Expr quotient = ir::quotient(d, e), rest = ir::remainder(d, e);
  Definition solved = solve_equalities(
      g, define({h}, Combine::sum, {d}, ir::equal(h, quotient), at(z, {d}) * at(y, {rest})));
  ASSERT_EQ(solved.reduced.size(), 1u);
  Expr t = ir::index_value(solved.reduced[0]);
  EXPECT_EQ(g[solved.reduced[0]].extent, E);
  EXPECT_EQ(solved.body, at(z, {h * e + t}) * at(y, {t}));
  EXPECT_EQ(solved.guard, Conditions{});
}

TEST_F(SolveEqualities, LeavesDataAlone) {
  Poly B = size("B"), V = size("V");
  ir::TensorId token = tensor("token", {B}, ir::Storage::i32), x = tensor("x", {B});
  Expr v = index("v", V), b = index("b", B);
  Definition d = define({v}, Combine::sum, {b}, ir::equal(v, at(token, {b})), at(x, {b}));
  Definition solved = solve_equalities(g, d);
  EXPECT_EQ(solved.guard, d.guard);
  EXPECT_EQ(solved.reduced, d.reduced);
}

TEST_F(SolveEqualities, ArgmaxKeepsItsIndex) {
  Poly T = size("T");
  ir::TensorId x = tensor("x", {T});
  Expr n = index("n", T), i = index("i", T);
  Definition d = define({n}, Combine::argmax, {i}, ir::equal(n, i), at(x, {i}));
  EXPECT_EQ(solve_equalities(g, d).reduced, d.reduced);
}

}  // namespace
}  // namespace attn::solve
