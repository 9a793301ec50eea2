// Whatever the prover says holds is tried at every point of small domains; and it is quick.
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <random>
#include <stdexcept>

#include "compiler/ir/operation.h"
#include "compiler/ops/table.h"
#include "compiler/solve/prove.h"

namespace attn::solve {
namespace {

using ir::Conditions;
using ir::Expr;
using ir::IndexId;
using ir::Kind;
using ir::Poly;

#ifdef __SANITIZE_ADDRESS__
constexpr int kSlowness = 10;
#else
constexpr int kSlowness = 1;
#endif

struct Point {
  const ir::Graph& g;
  std::vector<int64_t> sizes;
  std::map<IndexId, int64_t> indices;

  // Throws where something is divided by 0.
  double value(const Expr& e) const {
    double v = plain_value(e);
    if (!std::isfinite(v)) throw std::domain_error("a quotient by 0");
    return v;
  }

  double plain_value(const Expr& e) const {
    std::vector<double> v;
    for (const Expr& a : e.args()) v.push_back(value(a));
    switch (e.kind()) {
      case Kind::literal:
        return e->number.value();
      case Kind::size:
        return static_cast<double>(g.value(e->size, sizes));
      case Kind::index:
        return static_cast<double>(indices.at(e->index));
      case Kind::add: {
        double r = 0;
        for (double x : v) r += x;
        return r;
      }
      case Kind::multiply: {
        double r = 1;
        for (double x : v) r *= x;
        return r;
      }
      case Kind::power:
        return std::pow(v[0], v[1]);
      case Kind::quotient:
        return std::floor(v[0] / v[1]);
      case Kind::remainder:
        return v[0] - v[1] * std::floor(v[0] / v[1]);
      case Kind::call:
        return e->operation->value(v);
      case Kind::select:
        return v[0] != 0 ? v[1] : v[2];
      case Kind::at_least_zero:
        return v[0] >= 0;
      case Kind::is_zero:
        return v[0] == 0;
      case Kind::not_zero:
        return v[0] != 0;
      case Kind::both:
        return std::all_of(v.begin(), v.end(), [](double x) { return x != 0; });
      case Kind::either:
        return std::any_of(v.begin(), v.end(), [](double x) { return x != 0; });
      default:
        ADD_FAILURE() << "a condition of reals";
        return 0;
    }
  }
};

class Soundness : public ::testing::Test {
 protected:
  Soundness() {
    for (const char* name : {"T", "E", "D", "Q"}) g.sizes.push_back({.name = name});
    g.sizes[2].definition = T * E;
    g.sizes[3].quotient = {T, Poly(2)};
    for (const auto& [name, extent] :
         std::vector<std::pair<std::string, Poly>>{{"i", T},
                                                   {"j", T},
                                                   {"e", E},
                                                   {"d", Poly::size({2})},
                                                   {"k", Poly(3)},
                                                   {"q", Poly::size({3})},
                                                   {"m", T * Poly(2) - Poly(1)}})
      all.push_back(g.new_index(name, extent));
  }

  int below(int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); }

  Expr division(const Expr& a, const Expr& b) {
    return below(2) ? ir::quotient(a, b) : ir::remainder(a, b);
  }

  Expr term(int depth) {
    switch (below(depth > 0 ? 14 : 6)) {
      case 0:
        return below(7) - 3;
      case 1:
        return ir::size_value(below(2) ? T : E);
      case 6:
        return (below(5) - 2) * term(depth - 1);
      case 7:
        return division(term(depth - 1), ir::size_value(E));
      case 8:
        return division(term(depth - 1), 1 + below(3));
      case 9:
        return ops::apply(below(2) ? "min" : "max", {term(depth - 1), term(depth - 1)});
      case 10:
        return ops::apply("abs", {term(depth - 1)});
      case 11:
        return ir::select(condition(depth - 1), term(depth - 1), term(depth - 1));
      case 12:
      case 13:
        return term(depth - 1) - term(depth - 1);
      default:
        return ir::index_value(all[static_cast<size_t>(below(static_cast<int>(all.size())))]) *
               (below(3) ? Expr(1) : ir::size_value(E));
    }
  }

  Expr condition(int depth) {
    Expr e = term(depth) - term(depth) + (below(5) - 1);
    switch (below(depth > 0 ? 7 : 5)) {
      case 0:
        return ir::is_zero(e);
      case 1:
        return ir::not_zero(e);
      case 5:
        return ir::any_of({condition(0), condition(0)});
      case 6:
        return ir::all_of({condition(0), condition(0)});
      default:
        return ir::at_least_zero(e);
    }
  }

  // Calls f at every point of the indices that occur, for some sizes.
  template <class F>
  void each_point(const std::set<IndexId>& indices, const F& f) {
    for (int64_t t = 0; t <= 3; ++t) {
      for (int64_t e = 0; e <= 3; ++e) {
        Point p{g, {t, e, 0, 0}, {}};
        g.complete(p.sizes);
        std::vector<IndexId> order(indices.begin(), indices.end());
        walk(p, order, 0, f);
      }
    }
  }
  template <class F>
  void walk(Point& p, const std::vector<IndexId>& order, size_t k, const F& f) {
    if (k == order.size()) {
      try {
        f(p);
      } catch (const std::domain_error&) {
      }
      return;
    }
    int64_t extent = g.value(g[order[k]].extent, p.sizes);
    for (int64_t c = 0; c < extent; ++c) {
      p.indices[order[k]] = c;
      walk(p, order, k + 1, f);
    }
  }

  ir::Graph g;
  Poly T = Poly::size({0}), E = Poly::size({1});
  std::vector<IndexId> all;
  std::mt19937_64 random{12345};
};

TEST_F(Soundness, WhatIsProvedHolds) {
  int proved = 0;
  for (int round = 0; round < 1500 / kSlowness; ++round) {
    Conditions known;
    for (int n = below(3); n > 0; --n) {
      Conditions more = ir::conjuncts(condition(1));
      known.insert(more.begin(), more.end());
    }
    Expr goal = condition(2);
    if (goal.is_false() || known.count(ir::truth(false)) || !proves(g, known, goal)) continue;
    ++proved;
    std::set<IndexId> used = ir::indices(goal);
    ir::insert_all(used, ir::indices(known));
    if (used.size() > 3) continue;
    each_point(used, [&](const Point& p) {
      for (const Expr& k : known)
        if (p.value(k) == 0) return;
      ASSERT_NE(p.value(goal), 0) << "round " << round;
    });
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(proved, 60 / kSlowness);
}

TEST_F(Soundness, WhatIsAssumedKeepsItsValue) {
  int changed = 0;
  for (int round = 0; round < 400 / kSlowness; ++round) {
    Conditions known = ir::conjuncts(condition(1));
    if (known.count(ir::truth(false))) continue;
    Expr e = term(3), simple = assume(g, e, known);
    Conditions c = known;
    Conditions more = ir::conjuncts(condition(1));
    c.insert(more.begin(), more.end());
    Conditions tidied = tidy(g, c);
    Range range = range_of(g, e);
    changed += !(e == simple) + (tidied != c);
    std::set<IndexId> used = ir::indices(e);
    ir::insert_all(used, ir::indices(c));
    if (used.size() > 3) continue;
    each_point(used, [&](const Point& p) {
      double v = p.value(e);
      if (range.lowest) {
        ASSERT_LE(static_cast<double>(g.value(*range.lowest, p.sizes)), v) << "round " << round;
      }
      if (range.highest) {
        ASSERT_GE(static_cast<double>(g.value(*range.highest, p.sizes)), v) << "round " << round;
      }
      bool before = true, after = true, given = true;
      for (const Expr& k : c) before = before && p.value(k) != 0;
      for (const Expr& k : tidied) after = after && p.value(k) != 0;
      for (const Expr& k : known) given = given && p.value(k) != 0;
      ASSERT_EQ(before, after) << "round " << round;
      if (given) {
        ASSERT_EQ(v, p.value(simple)) << "round " << round;
      }
    });
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(changed, 80 / kSlowness);
}

TEST_F(Soundness, ThousandsOfQueriesAreQuick) {
  auto index = [&](int k) { return ir::index_value(all[static_cast<size_t>(k)]); };
  Expr i = index(0), j = index(1), e = index(2), d = index(3), k = index(4);
  Expr t = ir::size_value(T), size_e = ir::size_value(E);
  Conditions causal{ir::at_most(j, i)};
  Conditions window{ir::at_least_zero(i - j), ir::less(i - j, 5)};
  std::vector<std::pair<Conditions, Expr>> queries = {
      {{}, ir::less(i * size_e + e, ir::size_value(T * E))},
      {{}, ir::less(ir::quotient(d, size_e), t)},
      {causal, ir::less(j, i)},
      {causal, ir::at_least_zero(i + k - 1)},
      {window, ir::less(j, t)},
      {window, ir::less(i - j, 4)}};
  std::clock_t start = std::clock();
  int proved = 0, count = 0;
  for (int round = 0; round < 500; ++round) {
    for (const auto& [known, goal] : queries) {
      proved += proves(g, known, goal);
      ++count;
    }
  }
  double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(proved, 500 * 3);
  RecordProperty("nanoseconds_per_query", static_cast<int>(seconds * 1e9 / count));
  EXPECT_LT(seconds / count, 1e-4 * kSlowness);  // 10 to 20 us on a quiet machine
}

}  // namespace
}  // namespace attn::solve
