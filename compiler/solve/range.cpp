// Intervals of integer expressions, as polynomials of sizes; for messages.
#include <algorithm>

#include "compiler/ir/operation.h"
#include "compiler/solve/prove.h"
#include "compiler/solve/sizes.h"

namespace attn::solve {

using ir::Expr;
using ir::Kind;
using ir::Meaning;
using ir::Poly;
using Bound = std::optional<Poly>;

namespace {

class Ranges {
 public:
  Ranges(const ir::Graph& g, const Expr& e, const SizeFacts& known) : g_(g), sizes_(known) {
    for (ir::IndexId i : ir::indices(e)) sizes_.nonempty(g.expand(g[i].extent));
  }

  Range of(const Expr& e) {
    switch (e.kind()) {
      case Kind::literal:
        return {Poly(e->number.integer), Poly(e->number.integer)};
      case Kind::size:
        return {e->size, e->size};
      case Kind::index:
        return {Poly(0), g_[e->index].extent - Poly(1)};
      case Kind::add: {
        Range sum{Poly(0), Poly(0)};
        for (const Expr& t : e.args()) {
          Range r = of(t);
          sum = {plus(sum.lowest, r.lowest), plus(sum.highest, r.highest)};
        }
        return sum;
      }
      case Kind::multiply: {
        Range product{Poly(1), Poly(1)};
        for (const Expr& f : e.args()) product = times(product, of(f));
        return product;
      }
      case Kind::select: {
        Range a = of(e.args()[1]), b = of(e.args()[2]);
        return {lesser(a.lowest, b.lowest), greater(a.highest, b.highest)};
      }
      case Kind::quotient:
      case Kind::remainder:
        return of_division(e);
      case Kind::call:
        return of_call(e);
      case Kind::read:
        return of_read(e);
      default:
        return {};
    }
  }

 private:
  bool at_most(const Poly& a, const Poly& b) const { return sizes_.nonnegative(g_.expand(b - a)); }
  static Bound plus(const Bound& a, const Bound& b) {
    return a && b ? Bound(*a + *b) : std::nullopt;
  }
  static Bound minus(const Bound& a) { return a ? Bound(*a * Poly(-1)) : std::nullopt; }
  // The lesser or greater of two, where that is decided for all sizes.
  Bound lesser(const Bound& a, const Bound& b) const {
    if (!a || !b) return std::nullopt;
    return at_most(*a, *b) ? a : at_most(*b, *a) ? b : std::nullopt;
  }
  Bound greater(const Bound& a, const Bound& b) const { return minus(lesser(minus(a), minus(b))); }

  Range times(const Range& a, const Range& b) const {
    bool constant_a = a.lowest && a.lowest == a.highest;
    if (!constant_a && b.lowest && b.lowest == b.highest) return times(b, a);
    if (constant_a && at_most(Poly(0), *a.lowest))
      return {of_product(a, b.lowest), of_product(a, b.highest)};
    if (constant_a && at_most(*a.lowest, Poly(0)))
      return {of_product(a, b.highest), of_product(a, b.lowest)};
    bool positive =
        a.lowest && b.lowest && at_most(Poly(0), *a.lowest) && at_most(Poly(0), *b.lowest);
    if (!positive) return {};
    return {*a.lowest * *b.lowest,
            a.highest && b.highest ? Bound(*a.highest * *b.highest) : std::nullopt};
  }
  static Bound of_product(const Range& constant, const Bound& b) {
    return b ? Bound(*constant.lowest * *b) : std::nullopt;
  }

  // floor(a / c) where the quotient is a polynomial, if only of what is known of the sizes.
  Bound floored(const Poly& a, const Poly& c) const {
    const Bound q = floored_as_written(a, c);
    return q ? q : floored_as_written(g_.expand(a), g_.expand(c));
  }
  static Bound floored_as_written(const Poly& a, const Poly& c) {
    auto whole = [](const Bound& p) {
      return p &&
             std::ranges::all_of(p->terms(), [](const auto& t) { return t.second.is_integer(); });
    };
    auto n = a.integer(), d = c.integer();
    if (n && d) return Poly(*n / *d - (*n % *d < 0));
    if (Bound q = ir::divide(a, c); whole(q)) return q;
    if (Bound q = ir::divide(a + Poly(1), c); whole(q)) return *q - Poly(1);
    return std::nullopt;
  }

  Range of_call(const Expr& e) {
    const Meaning meaning = ir::meaning(e);
    const bool is_abs = meaning == Meaning::magnitude;
    if (meaning == Meaning::sign) return {Poly(-1), Poly(1)};
    if (meaning != Meaning::minimum && meaning != Meaning::maximum && !is_abs) return {};
    Range a = of(e.args()[0]);
    Range b = is_abs ? Range{minus(a.highest), minus(a.lowest)} : of(e.args()[1]);
    if (meaning == Meaning::minimum) {
      Bound high = lesser(a.highest, b.highest);
      if (!high) high = a.highest ? a.highest : b.highest;  // min is at most each of the two
      return {lesser(a.lowest, b.lowest), high};
    }
    Bound low = greater(a.lowest, b.lowest);
    if (!low) low = a.lowest ? a.lowest : b.lowest;
    if (is_abs && (!low || at_most(*low, Poly(0)))) low = Poly(0);
    return {low, greater(a.highest, b.highest)};
  }

  // What an argmax found is one of the places it looked at, or 0.
  Range of_read(const Expr& e) {
    const ir::Definition* d = g_.definition_of(e->tensor);
    if (!d || d->combine != ir::Combine::argmax || !d->position.empty()) return {};
    const Poly last = g_[d->reduced[0]].extent - Poly(1);
    return {Poly(0), at_most(Poly(0), last) ? Bound(last) : std::nullopt};
  }

  Range of_division(const Expr& e) {
    const Range a = of(e.args()[0]), b = of(e.args()[1]);
    if (!b.lowest || b.lowest != b.highest || !at_most(Poly(1), *b.lowest)) return {};
    const Poly& c = *b.lowest;
    if (e.is(Kind::remainder)) return {Poly(0), c - Poly(1)};
    Range q{a.lowest ? floored(*a.lowest, c) : std::nullopt,
            a.highest ? floored(*a.highest, c) : std::nullopt};
    if (!q.lowest && a.lowest && at_most(Poly(0), *a.lowest)) q.lowest = Poly(0);
    return q;
  }

  const ir::Graph& g_;
  SizeFacts sizes_;
};

}  // namespace

Range range_of(const ir::Graph& g, const Expr& e) { return range_of(g, e, SizeFacts(g)); }

Range range_of(const ir::Graph& g, const Expr& e, const SizeFacts& known) {
  try {
    return Ranges(g, e, known).of(e);
  } catch (const LimitError&) {
    return {};
  }
}

}  // namespace attn::solve
