// Simplification under assumptions: what is known decides selects, conditions, min, max and
// quotients. Used wherever a body moves.
#include <algorithm>
#include <unordered_map>

#include "compiler/ir/operation.h"
#include "compiler/solve/inverse.h"
#include "compiler/solve/linear.h"
#include "compiler/solve/prove.h"

namespace attn::solve {

using ir::Conditions;
using ir::Expr;
using ir::Kind;
using ir::Meaning;
using ir::Poly;

namespace {

class Assumption {
 public:
  Assumption(const ir::Graph& g, const Conditions& known) : g_(g), system_(g) {
    for (const Expr& k : known) system_.assume(k);
  }

  Expr simplify(const Expr& e) {
    if (e.args().empty() || !is_open(e)) return e;
    if (auto it = done_.find(&e.node()); it != done_.end()) return it->second.second;
    Expr result = e.is(Kind::select)              ? of_select(e)
                  : e.type() == ir::Type::boolean ? of_condition(e)
                                                  : of_operation(e);
    done_.emplace(&e.node(), std::pair(e, result));
    return result;
  }

 private:
  // Whether anything below could be decided.
  bool is_open(const Expr& e) {
    if (e.args().empty()) return false;
    if (auto it = open_.find(&e.node()); it != open_.end()) return it->second.second;
    bool open = e.is(Kind::select) || (e.type() == ir::Type::boolean && !e.is(Kind::read)) ||
                e.is(Kind::quotient) || e.is(Kind::remainder) ||
                (e.is(Kind::call) && e.type() == ir::Type::integer);
    for (const Expr& a : e.args()) open = open || is_open(a);
    open_.emplace(&e.node(), std::pair(e, open));
    return open;
  }

  Expr of_select(const Expr& e) {
    Expr condition = simplify(e.args()[0]);
    if (condition.is_true()) return simplify(e.args()[1]);
    if (condition.is_false()) return simplify(e.args()[2]);
    Expr then = simplify_where(condition, e.args()[1]);
    Expr otherwise = simplify_where(ir::negation(condition), e.args()[2]);
    return ir::select(condition, then, otherwise);
  }

  Expr simplify_where(const Expr& condition, const Expr& e) {
    if (!is_open(e)) return e;
    System::Mark before = system_.mark();
    system_.assume(condition);
    std::unordered_map<const ir::Node*, std::pair<Expr, Expr>> outer;
    outer.swap(done_);
    Expr result = simplify(e);
    done_.swap(outer);
    system_.release(before);
    return result;
  }

  Expr of_condition(const Expr& e) {
    if (system_.proves(e)) return ir::truth(true);
    if (system_.proves(ir::negation(e))) return ir::truth(false);
    if (e.is(Kind::both)) return of_conjuncts(e.args());
    return with_simple_arguments(e);
  }

  // A conjunct that the others imply is dropped.
  Expr of_conjuncts(std::vector<Expr> parts) {
    for (size_t k = 0; k < parts.size();) {
      System::Mark before = system_.mark();
      for (size_t j = 0; j < parts.size(); ++j)
        if (j != k) system_.assume(parts[j]);
      bool implied = system_.proves(parts[k]);
      system_.release(before);
      if (implied)
        parts.erase(parts.begin() + static_cast<ptrdiff_t>(k));
      else
        ++k;
    }
    for (Expr& part : parts) part = simplify(part);
    return ir::all_of(std::move(parts));
  }

  Expr with_simple_arguments(const Expr& e) {
    std::vector<Expr> args;
    bool changed = false;
    for (const Expr& a : e.args()) {
      args.push_back(simplify(a));
      changed = changed || &args.back().node() != &a.node();
    }
    return changed ? ir::rebuild(e, std::move(args)) : e;
  }

  Expr of_operation(const Expr& old) {
    Expr e = with_simple_arguments(old);
    if (e.is(Kind::add) && e.type() == ir::Type::integer) return joined(e);
    if (e.is(Kind::quotient) || e.is(Kind::remainder)) return of_division(e);
    if (!e.is(Kind::call) || e.type() != ir::Type::integer) return e;
    const auto& x = e.args();
    // What sizes alone say may leave its place, for one that has no point: only what always holds.
    const bool of_sizes = ir::indices(e).empty() && ir::tensors(e).empty();
    auto at_most = [&](const Expr& a, const Expr& b) {
      const Expr condition = ir::at_least_zero(b - a);
      return of_sizes ? proves(g_, {}, condition) : system_.proves(condition);
    };
    switch (ir::meaning(e)) {
      case Meaning::minimum:
        return at_most(x[0], x[1]) ? x[0] : at_most(x[1], x[0]) ? x[1] : e;
      case Meaning::maximum:
        return at_most(x[0], x[1]) ? x[1] : at_most(x[1], x[0]) ? x[0] : e;
      case Meaning::magnitude:
        return at_most(0, x[0]) ? x[0] : at_most(x[0], 0) ? -x[0] : e;
      default:
        return e;
    }
  }

  // c*(x // c) + x % c is x.
  Expr joined(const Expr& sum) const {
    for (const Expr& low : sum.args()) {
      const ScaledBySizes s = split_sizes(low);
      if (!s.rest.is(Kind::remainder)) continue;
      const Expr &x = s.rest.args()[0], &c = s.rest.args()[1], a = ir::size_value(s.coefficient);
      const Expr high = a * c * ir::quotient(x, c);
      if (std::ranges::find(sum.args(), high) != sum.args().end()) return sum - high - low + a * x;
    }
    return sum;
  }

  // (c*q + r) // c is q + r // c, and q where 0 <= r < c is known; likewise for %.
  Expr of_division(const Expr& e) {
    const Expr &value = e.args()[0], &divisor = e.args()[1];
    auto c = ir::as_size(divisor);
    system_.linear(value);  // its indices tell that their extents are not 0
    if (!c || !system_.sizes().nonnegative(g_.expand(*c) - Poly(1))) return e;
    if (e.is(Kind::remainder)) {
      const Division d = divide(without_remainders(value, *c), *c);
      if (is_remainder(d.rest, divisor)) return d.rest;
      if (const auto by = factor_of(d.rest, *c))
        return ir::size_value(by->factor) *
                   of_operation(ir::remainder(by->of.quotient, by->other)) +
               by->of.rest;
      return ir::rebuild(e, {d.rest, divisor});
    }
    Division d = divide(value, *c);
    if (is_remainder(d.rest, divisor)) return d.quotient;
    // (x - x % c) // c
    if (const Division other = divide(with_quotients(value), *c); is_remainder(other.rest, divisor))
      return other.quotient;
    if (const auto by = factor_of(d.rest, *c))
      return d.quotient + of_operation(ir::quotient(by->of.quotient, by->other));
    return d.quotient.is_zero() ? e : d.quotient + ir::rebuild(e, {d.rest, divisor});
  }

  bool is_remainder(const Expr& rest, const Expr& divisor) {
    return system_.proves(ir::at_least_zero(rest)) &&
           system_.proves(ir::at_least_zero(divisor - 1 - rest));
  }

  // c * quotient + rest.
  struct Division {
    Expr quotient, rest;
  };
  Division divide(const Expr& x, const Poly& c) const {
    Division d;
    for (const Expr& t : ir::addends_of(x)) {
      const ScaledBySizes s = split_sizes(t);
      for (const auto& [monomial, factor] : s.coefficient.terms()) {
        const Poly p = Poly::term(monomial, factor);
        const auto q = exact_quotient(g_, p, c);
        (q ? d.quotient : d.rest) =
            q ? d.quotient + ir::size_value(*q) * s.rest : d.rest + ir::size_value(p) * s.rest;
      }
    }
    return d;
  }

  // A factor f of c = f * other by which x = f * quotient + rest with 0 <= rest < f: x // c is
  // quotient // other, and x % c is f * (quotient % other) + rest.
  struct Factor {
    Poly factor;
    Expr other;
    Division of;
  };
  std::optional<Factor> factor_of(const Expr& x, const Poly& c) {
    for (const Expr& t : ir::addends_of(x)) {
      const Poly f = split_sizes(t).coefficient;
      if (f == Poly(1) || !system_.sizes().nonnegative(g_.expand(f) - Poly(1))) continue;
      const auto other = exact_quotient(g_, c, f);
      if (!other) continue;
      Division d = divide(x, f);
      if (is_remainder(d.rest, ir::size_value(f)))
        return Factor{f, ir::size_value(*other), std::move(d)};
    }
    return {};
  }

  // x with the same remainder by c: a*(z % k) is a*z there where c divides a*k.
  Expr without_remainders(const Expr& x, const Poly& c) const {
    return with_terms(x, [&](const Poly& a, const Expr& z, const Poly& k) {
      return exact_quotient(g_, a * k, c) ? std::optional(without_remainders(z, c)) : std::nullopt;
    });
  }

  // Every z % k as z - k*(z // k).
  Expr with_quotients(const Expr& x) const {
    return with_terms(x, [&](const Poly&, const Expr& z, const Poly& k) {
      const Expr divisor = ir::size_value(k);
      return std::optional(z - divisor * ir::quotient(z, divisor));
    });
  }

  // What is made of the sum x where `f` gives something for the (z % k) of a term a * (z % k).
  template <typename F>
  static Expr with_terms(const Expr& x, const F& f) {
    Expr result = 0;
    for (const Expr& t : ir::addends_of(x)) {
      const ScaledBySizes s = split_sizes(t);
      const auto k = s.rest.is(Kind::remainder) ? ir::as_size(s.rest.args()[1]) : std::nullopt;
      const auto other = k ? f(s.coefficient, s.rest.args()[0], *k) : std::nullopt;
      result = result + (other ? ir::size_value(s.coefficient) * *other : t);
    }
    return result;
  }

  const ir::Graph& g_;
  System system_;
  // By node; the expression is held so that no address is used twice.
  std::unordered_map<const ir::Node*, std::pair<Expr, Expr>> done_;
  std::unordered_map<const ir::Node*, std::pair<Expr, bool>> open_;
};

}  // namespace

Expr assume(const ir::Graph& g, const Expr& e, const Conditions& known) {
  try {
    return Assumption(g, known).simplify(e);
  } catch (const LimitError&) {
    return e;
  }
}

}  // namespace attn::solve
