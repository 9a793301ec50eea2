#include "compiler/solve/inverse.h"

#include <algorithm>
#include <limits>

#include "compiler/solve/linear_form.h"
#include "compiler/solve/prove.h"

namespace attn::solve {

using ir::Expr;
using ir::Graph;
using ir::IndexId;
using ir::Kind;
using ir::Poly;

namespace {

bool uses_any(const Expr& e, const std::vector<IndexId>& indices) {
  return std::ranges::any_of(indices, [&](IndexId i) { return ir::uses(e, i); });
}

// A sum as the terms that contain one of the indices, and the others.
struct Parts {
  std::vector<Expr> with;
  Expr without;
};
Parts part(const Expr& e, const std::vector<IndexId>& indices) {
  Parts parts;
  std::vector<Expr> others;
  for (const Expr& t : ir::addends_of(e)) (uses_any(t, indices) ? parts.with : others).push_back(t);
  parts.without = ir::add(std::move(others));
  return parts;
}

// extent / c rounded up, where that is a polynomial.
std::optional<Poly> ceiling(const Graph& g, const Poly& extent, const Poly& c) {
  auto n = g.known(extent), d = g.known(c);
  if (n && d && *d > 0) return Poly((*n + *d - 1) / *d);
  return exact_quotient(g, extent, c);
}

int sign_of(const Graph& g, const Poly& p) {
  return nonnegative(g, p) ? 1 : nonnegative(g, negative(p)) ? -1 : 0;
}

// One step after the other from the outermost operation of an expression to what is wanted.
class Inverter {
 public:
  Inverter(const Graph& g, Expr e, Expr value, const std::set<IndexId>& nonempty)
      : g_(g), nonempty_(nonempty), e_(std::move(e)) {
    result_.value = std::move(value);
  }

  std::optional<Inverse> to(IndexId r) {
    for (;;) {
      Parts parts = part(e_, {r});
      if (parts.with.size() != 1) return std::nullopt;
      subtract(parts);
      if (e_.is(Kind::index)) return std::move(result_);
      if (!take_coefficient() || !(e_.is(Kind::index) || take_division({r}))) return std::nullopt;
    }
  }

  std::optional<Unwrapped> once(const std::vector<IndexId>& unknowns) {
    Parts parts = part(e_, unknowns);
    if (parts.with.size() != 1) return std::nullopt;
    subtract(parts);
    if (!take_coefficient() || !take_division(unknowns)) return std::nullopt;
    parts = part(e_, unknowns);
    subtract(parts);
    return Unwrapped{e_, std::move(result_)};
  }

 private:
  void subtract(Parts& parts) {
    result_.value = result_.value - parts.without;
    e_ = ir::add(std::move(parts.with));
  }

  bool take_coefficient() {
    const ScaledBySizes s = split_sizes(e_);
    const bool up = nonnegative(g_, s.coefficient - Poly(1), nonempty_);
    if (!up && !nonnegative(g_, negative(s.coefficient) - Poly(1), nonempty_)) return false;
    if (!up) result_.value = -result_.value;
    const Expr c = ir::size_value(up ? s.coefficient : negative(s.coefficient));
    result_.conditions.merge(ir::conjuncts(ir::is_zero(ir::remainder(result_.value, c))));
    result_.value = ir::quotient(result_.value, c);
    e_ = s.rest;
    return true;
  }

  bool take_division(const std::vector<IndexId>& unknowns) {
    if (!e_.is(Kind::quotient) && !e_.is(Kind::remainder)) return false;
    const auto c = ir::as_size(e_.args()[1]);
    // A divisor is not 0 where there is a point: something runs over 0 .. c - 1.
    if (!c || !nonnegative(g_, *c)) return false;
    return e_.is(Kind::quotient) ? take_quotient(*c) : take_remainder(*c, unknowns);
  }

  // All of c * value .. c * value + c - 1 have this quotient.
  bool take_quotient(const Poly& c) {
    result_.value = result_.value * e_.args()[1] + fresh(c);
    e_ = e_.args()[0];
    return true;
  }

  // The terms with unknowns lie in a range, in which each remainder occurs once, or some times.
  bool take_remainder(const Poly& c, const std::vector<IndexId>& unknowns) {
    const Expr divisor = e_.args()[1];
    Parts parts = part(e_.args()[0], unknowns);
    result_.conditions.merge(ir::conjuncts(ir::at_least_zero(result_.value)));
    result_.conditions.merge(ir::conjuncts(ir::at_least_zero(divisor - 1 - result_.value)));
    subtract(parts = {{ir::add(parts.with)}, parts.without});
    const bool turned = sign_of(g_, split_sizes(e_).coefficient) < 0;
    const Expr upward = turned ? -e_ : e_, value = turned ? -result_.value : result_.value;
    const Range range = range_of(g_, upward);
    if (!range.lowest || !range.highest) return false;
    const Expr lowest = ir::size_value(*range.lowest);
    Expr found = lowest + ir::remainder(value - lowest, divisor);
    const Poly count = *range.highest - *range.lowest + Poly(1);
    if (!nonnegative(g_, c - count, nonempty_)) {
      const auto times = ceiling(g_, count, c);
      if (!times) return false;
      found = found + divisor * fresh(*times);
    }
    result_.value = found;
    e_ = upward;
    return true;
  }

  Expr fresh(const Poly& extent) {
    const auto taken = static_cast<int32_t>(result_.fresh.size());
    result_.fresh.push_back({{std::numeric_limits<int32_t>::max() - taken}, extent});
    return ir::index_value(result_.fresh.back().id);
  }

  const Graph& g_;
  const std::set<IndexId>& nonempty_;
  Expr e_;          // equals result_.value
  Inverse result_;  // as far as it is known
};

// A term of a number in a mixed radix.
struct Digit {
  Poly weight;
  Expr term;
  Range range;
};

// Splits the terms at the weight of one of them: which are multiples of it, and what the others are
// at least.
ir::Conditions split_at(const Graph& g, const std::vector<Digit>& digits, const Poly& weight,
                        const Expr& value, const std::set<IndexId>& nonempty) {
  Expr upper, lower;
  Poly lowest, highest;
  bool any = false;
  for (const Digit& d : digits) {
    if (const auto multiple = exact_quotient(g, d.weight, weight)) {
      upper = upper + ir::size_value(*multiple) * split_sizes(d.term).rest;
    } else {
      if (!d.range.lowest || !d.range.highest) return {};
      lower = lower + d.term;
      lowest = lowest + *d.range.lowest;
      highest = highest + *d.range.highest;
      any = true;
    }
  }
  if (!any || !nonnegative(g, weight - Poly(1) - (highest - lowest), nonempty)) return {};
  const Expr c = ir::size_value(weight), rest = value - ir::size_value(lowest);
  return {ir::equal(upper, ir::quotient(rest, c)),
          ir::equal(lower, ir::size_value(lowest) + ir::remainder(rest, c))};
}

}  // namespace

ScaledBySizes split_sizes(const Expr& e) {
  ScaledBySizes s{Poly(1), Expr(1)};
  std::vector<Expr> rest;
  for (const Expr& f : ir::factors_of(e)) {
    if (auto p = ir::as_size(f))
      s.coefficient = s.coefficient * *p;
    else
      rest.push_back(f);
  }
  if (!rest.empty()) s.rest = ir::multiply(std::move(rest));
  return s;
}

std::optional<Inverse> invert(const Graph& g, const Expr& e, const Expr& value, IndexId r,
                              const std::set<IndexId>& nonempty) {
  return Inverter(g, e, value, nonempty).to(r);
}

std::optional<Unwrapped> unwrap(const Graph& g, const Expr& e, const Expr& value,
                                const std::vector<IndexId>& unknowns,
                                const std::set<IndexId>& nonempty) {
  return Inverter(g, e, value, nonempty).once(unknowns);
}

ir::Conditions split_radix(const Graph& g, const Expr& e, const Expr& value,
                           const std::set<IndexId>& nonempty) {
  std::vector<Digit> digits;
  for (const Expr& t : ir::addends_of(e))
    digits.push_back({split_sizes(t).coefficient, t, range_of(g, t)});
  if (digits.size() < 2) return {};
  for (const Digit& d : digits) {
    const Poly weight = sign_of(g, d.weight) < 0 ? negative(d.weight) : d.weight;
    if (weight == Poly(1) || !nonnegative(g, weight - Poly(1), nonempty)) continue;
    ir::Conditions parts = split_at(g, digits, weight, value, nonempty);
    if (!parts.empty()) return parts;
  }
  return {};
}

}  // namespace attn::solve
