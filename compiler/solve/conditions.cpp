// Conditions in a System: what each adds to what is known, and the search for a proof of one.
#include <algorithm>

#include "compiler/solve/linear.h"
#include "compiler/solve/prove.h"

namespace attn::solve {

using ir::Expr;
using ir::Kind;
using ir::Poly;

namespace {

constexpr size_t kMostChoices = 3;  // disjunctions of which each side is looked at

}  // namespace

void System::assume_of_sizes(const Expr& c) {
  if (c.is(Kind::both)) {
    for (const Expr& part : c.args()) assume_of_sizes(part);
    return;
  }
  const bool not_zero = c.is(Kind::not_zero);
  if (!not_zero && !c.is(Kind::at_least_zero) && !c.is(Kind::is_zero)) return;
  const auto size = ir::as_size(c.args()[0]);
  if (!size) return;
  const Poly p = g_.expand(*size), minus_p = negative(p), one(1);
  if (!not_zero) sizes_.nonempty(p + one);
  if (c.is(Kind::is_zero)) sizes_.nonempty(minus_p + one);
  for (const Poly& q : {p, minus_p})
    if (not_zero && sizes_.nonnegative(q)) sizes_.nonempty(q);
}

void System::assume(const Expr& c) {
  known_.push_back(c);
  auto fact = [&](Linear l) {
    tighten(l);
    facts_.push_back(std::move(l));
  };
  if (c.is(Kind::at_least_zero)) {
    fact(linear(c.args()[0]));
  } else if (c.is(Kind::is_zero)) {
    Linear l = linear(c.args()[0]);
    fact(l);
    fact(minus(l));
  } else if (c.is(Kind::not_zero)) {
    if (choices_.size() < kMostChoices)
      choices_.push_back({ir::at_least_zero(c.args()[0] - 1), ir::at_least_zero(-c.args()[0] - 1)});
  } else if (c.is(Kind::either)) {
    if (choices_.size() < kMostChoices) choices_.push_back(c.args());
  } else if (c.is(Kind::both)) {
    for (const Expr& part : c.args()) assume(part);
  }
}

void System::release(Mark m) {
  facts_.resize(m.facts);
  known_.resize(m.known);
  choices_.resize(m.choices);
}

bool System::proves(const Expr& condition) {
  return proves_directly(condition) || proves_by_choice(condition, 0);
}

bool System::proves_directly(const Expr& c) {
  if (c.is_true()) return true;
  for (const Expr& k : known_)
    if (k->hash == c->hash && k == c) return true;
  switch (c.kind()) {
    case Kind::at_least_zero: {
      const Linear goal = linear(c.args()[0]);
      const auto lowest =
          ir::has_division(c) ? range_of(g_, c.args()[0], sizes_).lowest : std::nullopt;
      return (lowest && sizes_.nonnegative(g_.expand(*lowest))) || nonnegative(goal);
    }
    case Kind::is_zero: {
      Linear l = linear(c.args()[0]);
      return nonnegative(l) && nonnegative(minus(l));
    }
    case Kind::not_zero: {
      Linear l = linear(c.args()[0]), one{{}, Poly(1)};
      return nonnegative(l - one) || nonnegative(minus(l) - one);
    }
    case Kind::both:
      return std::ranges::all_of(c.args(), [&](const Expr& part) { return proves_directly(part); });
    case Kind::either: {
      for (const Expr& part : c.args()) {
        Mark before = mark();
        for (const Expr& other : c.args())
          if (!(other == part)) assume(ir::negation(other));
        bool good = proves_directly(part);
        release(before);
        if (good) return true;
      }
      return false;
    }
    case Kind::at_most:
      return std::ranges::any_of(
          known_, [&](const Expr& k) { return k.is(Kind::less) && k.args() == c.args(); });
    case Kind::negation: {  // of a comparison of reals: a < b excludes b < a, b <= a and a == b
      const Expr& n = c.args()[0];
      if (!n.is(Kind::less) && !n.is(Kind::at_most) && !n.is(Kind::equal)) return false;
      return std::ranges::any_of(known_, [&](const Expr& k) {
        if (!k.is(Kind::less) && !k.is(Kind::at_most)) return false;
        bool turned = n.args()[0] == k.args()[1] && n.args()[1] == k.args()[0];
        if (k.is(Kind::less)) return turned || (n.is(Kind::equal) && n.args() == k.args());
        return n.is(Kind::less) && turned;
      });
    }
    default:
      return false;
  }
}

// Where one of several conditions is known to hold, the goal must follow from each of them.
bool System::proves_by_choice(const Expr& condition, size_t first) {
  for (size_t k = first; k < choices_.size(); ++k) {
    std::vector<Expr> alternatives = choices_[k];
    bool good = true;
    for (const Expr& a : alternatives) {
      if (proves_directly(ir::negation(a))) continue;
      Mark before = mark();
      assume(a);
      good = proves_directly(condition) || proves_by_choice(condition, k + 1);
      release(before);
      if (!good) break;
    }
    if (good) return true;
  }
  return false;
}

}  // namespace attn::solve
