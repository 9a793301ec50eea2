// The evaluator hoists, skips, and solves equalities. Here the same graphs are evaluated by walking
// the trees, point by point, without any of that; both must agree.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "compiler/evaluate/evaluate.h"
#include "compiler/ir/operation.h"
#include "compiler/ops/table.h"
#include "compiler/solve/equalities.h"
#include "tests/support/random_graph.h"

namespace attn::evaluate {
namespace {

using ir::Combine;
using ir::Expr;
using ir::Kind;

constexpr double kLowest = -static_cast<double>(std::numeric_limits<float>::max());

// A value, or nothing where a subscript is out of range; whether that matters is up to the reader.
using Maybe = std::optional<double>;

class Walker {
 public:
  Walker(const ir::Graph& g, const Arrays& given, std::vector<int64_t> sizes)
      : g_(g), values_(given), sizes_(std::move(sizes)) {}

  Arrays run() {
    for (const ir::Definition& d : g_.definitions) define(d);
    return values_;
  }

 private:
  int64_t extent(ir::IndexId i) const {
    return std::max<int64_t>(0, g_.value(g_[i].extent, sizes_));
  }

  void define(const ir::Definition& d) {
    Array a;
    for (ir::IndexId i : d.free) a.extents.push_back(extent(i));
    each(d.free, 0, [&] { a.values.push_back(element(d)); });
    values_[g_[d.target].name] = a;
  }

  template <class F>
  void each(const std::vector<ir::IndexId>& indices, size_t k, const F& f) {
    if (k == indices.size()) return f();
    for (int64_t c = 0; c < extent(indices[k]); ++c) {
      point_[indices[k]] = static_cast<double>(c);
      each(indices, k + 1, f);
    }
  }

  double element(const ir::Definition& d) {
    std::vector<std::pair<double, double>> found;  // value, place in the last index
    each(d.reduced, 0, [&] {
      for (const Expr& c : d.guard)
        if (value(c).value_or(0) == 0) return;
      double place = d.reduced.empty() ? 0 : point_[d.reduced.back()];
      found.push_back({value(d.body).value(), place});
    });
    double sum = 0, product = 1, high = kLowest, low = -kLowest, place = 0;
    for (size_t k = 0; k < found.size(); ++k) {
      auto [v, at] = found[k];
      sum += v;
      product *= v;
      if (k == 0 || v > high) high = v, place = at;
      if (k == 0 || v < low) low = v;
    }
    switch (d.combine) {
      case Combine::prod:
        return product;
      case Combine::max:
        return high;
      case Combine::min:
        return low;
      case Combine::argmax:
        return place;
      case Combine::logsumexp: {
        double total = 0;
        for (auto [v, at] : found) total += std::exp(v - high);
        return found.empty() ? kLowest : high + std::log(total);
      }
      default:
        return sum;
    }
  }

  Maybe value(const Expr& e) {
    const auto& x = e.args();
    switch (e.kind()) {
      case Kind::literal:
        return e->number.value();
      case Kind::size:
        return static_cast<double>(g_.value(e->size, sizes_));
      case Kind::index:
        return point_.at(e->index);
      case Kind::read: {
        const Array& a = values_.at(g_[e->tensor].name);
        int64_t at = 0;
        for (size_t k = 0; k < x.size(); ++k) {
          Maybe s = value(x[k]);
          if (!s || *s < 0 || *s >= static_cast<double>(a.extents[k])) return std::nullopt;
          at = at * a.extents[k] + static_cast<int64_t>(*s);
        }
        return a.values[static_cast<size_t>(at)];
      }
      case Kind::select: {
        Maybe c = value(x[0]);
        return c ? value(x[*c != 0 ? 1 : 2]) : std::nullopt;
      }
      case Kind::both:
      case Kind::either: {
        bool either = e.is(Kind::either), unknown = false;
        for (const Expr& part : x) {
          Maybe v = value(part);
          unknown = unknown || !v;
          if (v && (*v != 0) == either) return either;
        }
        return unknown ? Maybe() : Maybe(!either);
      }
      default:
        break;
    }
    std::vector<double> v;
    for (const Expr& a : x) {
      Maybe part = value(a);
      if (!part) return std::nullopt;
      v.push_back(*part);
    }
    switch (e.kind()) {
      case Kind::power:
        return std::pow(v[0], v[1]);
      case Kind::quotient:
        return v[1] == 0 ? 0 : std::floor(v[0] / v[1]);
      case Kind::remainder:
        return v[1] == 0 ? v[0] : v[0] - v[1] * std::floor(v[0] / v[1]);
      case Kind::call:
        return e->operation->value(v);
      case Kind::multiply: {
        double r = 1;
        for (double f : v) r *= f;
        return r;
      }
      case Kind::add: {
        double r = 0;
        for (double t : v) r += t;
        return r;
      }
      case Kind::at_least_zero:
        return v[0] >= 0;
      case Kind::is_zero:
      case Kind::negation:
        return v[0] == 0;
      case Kind::not_zero:
        return v[0] != 0;
      case Kind::less:
        return v[0] < v[1];
      case Kind::at_most:
        return v[0] <= v[1];
      default:
        return v[0] == v[1];
    }
  }

  const ir::Graph& g_;
  Arrays values_;
  std::vector<int64_t> sizes_;
  std::map<ir::IndexId, double> point_;
};

void compare(const attn::testing::RandomGraph& r) {
  Arrays fast = evaluate(r.graph, r.inputs);
  std::vector<int64_t> sizes = read_sizes(r.graph, r.inputs);
  EXPECT_EQ(sizes, r.sizes) << "at seed " << r.seed;
  Arrays plain = Walker(r.graph, r.inputs, sizes).run();
  for (const auto& [name, a] : fast) {
    const Array& b = plain.at(name);
    ASSERT_EQ(a.extents, b.extents) << name << " at seed " << r.seed;
    for (size_t k = 0; k < a.values.size(); ++k)
      ASSERT_NEAR(a.values[k], b.values[k], 1e-12 * (1 + std::abs(b.values[k])))
          << name << " at seed " << r.seed;
  }
}

TEST(Plainly, RandomGraphsAgree) {
  for (uint64_t seed = 1; seed <= 200; ++seed) compare(attn::testing::random_graph(seed));
}

TEST(Plainly, RandomGraphsOfEmptySizesAgree) {
  attn::testing::RandomOptions options;
  options.empty_sizes = true;
  options.known_sizes = false;
  for (uint64_t seed = 1001; seed <= 1200; ++seed)
    compare(attn::testing::random_graph(seed, options));
}

// Sums over places of every solvable form, at sizes that do and do not divide.
class Equalities : public ::testing::TestWithParam<int> {};

TEST_P(Equalities, SolvedSumsAgree) {
  for (Combine combine : {Combine::sum, Combine::max, Combine::prod, Combine::logsumexp}) {
    for (int64_t n = 0; n <= 7; ++n) {
      attn::testing::RandomGraph r;
      ir::Graph& g = r.graph;
      auto size = [&](std::string name, std::optional<int64_t> known) {
        ir::Size s;
        s.name = std::move(name);
        s.value = known;
        g.sizes.push_back(s);
        return ir::Poly::size({static_cast<int32_t>(g.sizes.size()) - 1});
      };
      ir::Poly T = size("T", std::nullopt), E = size("E", std::nullopt), three = size("C", 3);
      auto input = [&](std::string name, std::vector<ir::Poly> extents) {
        ir::Tensor t;
        t.name = std::move(name);
        t.extents = std::move(extents);
        t.role = ir::Role::input;
        return g.new_tensor(t);
      };
      ir::TensorId x = input("x", {T}), y = input("y", {E}), z = input("z", {T, E});
      auto index = [&](std::string name, ir::Poly extent) {
        return ir::index_value(g.new_index(std::move(name), std::move(extent)));
      };
      auto S = [](const ir::Poly& p) { return ir::size_value(p); };
      Expr m = index("m", T * E), m2 = index("n", T), i = index("i", T), j = index("j", T),
           e = index("e", E), k = index("k", three), d = index("d", T * E),
           eight = index("u", ir::Poly(8));
      Expr target = m;
      std::vector<Expr> reduced;
      Expr guard, body = g.read(x, {i});
      switch (GetParam()) {
        case 0:  // an index, with extents that differ
          reduced = {i, k};
          guard = ir::equal(m, i);
          break;
        case 1:  // a sum of indices
          reduced = {i, j};
          guard = ir::equal(m, i - j + S(T) - 1);
          body = g.read(x, {i}) * g.read(x, {j});
          break;
        case 2:  // a multiple, by a number and by a size
          reduced = {i, e};
          guard = ir::equal(m, 2 * i);
          body = g.read(z, {i, e});
          break;
        case 3:
          reduced = {i, k};
          guard = ir::equal(m, i * S(E) + 1);
          break;
        case 4:  // both digits at once
          reduced = {i, e};
          guard = ir::equal(m, i * S(E) + e);
          body = g.read(z, {i, e});
          break;
        case 5:  // a quotient and a remainder
          target = m2;
          reduced = {d};
          guard = ir::equal(m2, ir::quotient(d, S(E)));
          body = g.read(y, {ir::remainder(d, S(E))});
          break;
        case 6:
          target = e;
          reduced = {d};
          guard = ir::equal(e, ir::remainder(d, S(E)));
          body = g.read(x, {ir::quotient(d, S(E))});
          break;
        case 7:
          target = m2;
          reduced = {i};
          guard = ir::equal(m2, ir::quotient(i + 1, 3));
          break;
        case 8:
          target = m2;
          reduced = {i, k};
          guard = ir::equal(m2 + k, ir::remainder(i, 3));
          break;
        case 9:  // a strided convolution, turned round
          target = m2;
          reduced = {i, k};
          guard = ir::equal(m2, 2 * i + k - 1);
          break;
        case 10:  // a number of two digits that is rolled, and turned round
          target = m2;
          reduced = {i, k};
          guard = ir::equal(m2, S(T) - 1 - ir::remainder(3 * i + k + 2, S(T)));
          break;
        case 11:  // a quotient and a remainder of one number, which is rolled
          target = m2;
          reduced = {d, k};
          guard = ir::all_of({ir::equal(m2, ir::quotient(ir::remainder(d + 2, S(T * E)), 3)),
                              ir::equal(k, ir::remainder(ir::remainder(d + 2, S(T * E)), 3))});
          body = g.read(x, {ir::remainder(d, S(T))});
          break;
        case 12:  // the digits of a number in the other order
          reduced = {d};
          guard = ir::equal(m, ir::remainder(d, S(E)) * S(T) + ir::quotient(d, S(E)));
          body = g.read(x, {ir::quotient(d, S(E))});
          break;
        case 13:  // several solutions of what is nested
          target = m2;
          reduced = {k, eight};
          guard = ir::equal(
              m2, ir::quotient(ir::remainder(4 * k + ir::remainder(eight, 4) + 2, 12), 4));
          body = g.read(x, {ir::remainder(eight, S(T))});
          break;
        case 14:  // two numbers that share an index
          reduced = {d, j};
          guard = ir::all_of({ir::equal(m, ir::quotient(d, S(E)) + S(T) * ir::remainder(j, S(E))),
                              ir::equal(ir::quotient(j, S(E)), ir::remainder(d, S(E)))});
          body = g.read(x, {j});
          break;
        default:
          target = m2;
          reduced = {i, j, e};
          guard = ir::all_of({ir::equal(m2, i), ir::equal(j, i), ir::at_most(e, j)});
          body = g.read(z, {j, e});
          break;
      }
      ir::Tensor t;
      t.name = "r";
      t.extents = {g[target->index].extent};
      ir::Definition def;
      def.target = g.new_tensor(t);
      def.free = {target->index};
      def.combine = combine;
      for (const Expr& v : reduced) def.reduced.push_back(v->index);
      def.guard = ir::conjuncts(guard);
      def.body = body;
      g.definitions = {def};
      g.outputs = {{"r", def.target}};
      ir::verify(g, "the test");
      r.sizes = {n, (n * 5) % 4, 3};
      r.inputs = attn::testing::random_inputs(g, r.sizes, 1);
      compare(r);
      // The solved form is a legal graph with fewer points.
      ir::Graph solved = g;
      solved.definitions = {solve::solve_equalities(solved, def)};
      if (combine == Combine::sum) {
        ir::verify(solved, "solve");
        EXPECT_FALSE(solved.definitions[0].reduced == def.reduced) << GetParam();
        for (const Expr& c : solved.definitions[0].guard) EXPECT_FALSE(c == guard) << GetParam();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryForm, Equalities, ::testing::Range(0, 15));

}  // namespace
}  // namespace attn::evaluate
