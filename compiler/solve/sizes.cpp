#include "compiler/solve/sizes.h"

#include <algorithm>

namespace attn::solve {

using ir::Monomial;
using ir::Poly;
using ir::Rational;
using ir::SizeId;

namespace {

// m / n where n divides m.
std::optional<Monomial> quotient(const Monomial& m, const Monomial& n) {
  Monomial result;
  auto it = n.begin();
  for (auto [id, power] : m) {
    if (it != n.end() && it->first == id) {
      if (it->second > power) return std::nullopt;
      power -= (it++)->second;
    }
    if (power > 0) result.push_back({id, power});
  }
  if (it != n.end()) return std::nullopt;
  return result;
}

Rational inverse(Rational a) { return Rational::of(a.den, a.num); }

int64_t ceiling(Rational a) {
  return a.num >= 0 ? (a.num + a.den - 1) / a.den : -((-a.num) / a.den);
}

}  // namespace

SizeFacts::SizeFacts(const ir::Graph& g) {
  lower_.resize(g.sizes.size());
  for (size_t k = 0; k < g.sizes.size(); ++k) {
    const ir::Size& s = g.sizes[k];
    SizeId id{static_cast<int32_t>(k)};
    if (s.quotient) {
      bound_quotient(id, g.expand(s.quotient->first), g.expand(s.quotient->second));
    } else if (!s.value && !s.definition) {
      lower_[k] = std::max<int64_t>(s.lower, 0);
      if (s.upper) facts_.push_back({Poly(*s.upper) - Poly::size(id), {}});
    }
  }
}

// Q = a // b means b*Q <= a <= b*Q + b - 1, for b >= 1.
void SizeFacts::bound_quotient(SizeId id, const Poly& a, const Poly& b) {
  if (!nonnegative(b - Poly(1))) return;
  Poly q = Poly::size(id);
  facts_.push_back({a - b * q, id});
  facts_.push_back({b * q + b - Poly(1) - a, id});
  if (nonnegative(a)) lower_[id.value] = 0;
}

void SizeFacts::nonempty(const Poly& extent) {
  const auto& terms = extent.terms();
  if (extent.constant()) return;
  if (terms.size() == 1 && terms[0].second.num > 0) {
    // A product of integers that is positive: none of them is 0.
    for (auto [id, power] : terms[0].first) {
      auto& lower = lower_[id.value];
      if (lower) lower = std::max<int64_t>(*lower, 1);
    }
    return;
  }
  if (terms.size() == 2) {
    // c*S + k >= 1.
    bool first = terms[0].first.empty();
    const auto& [constant, linear] =
        first ? std::pair(terms[0], terms[1]) : std::pair(terms[1], terms[0]);
    const Monomial& m = linear.first;
    if (constant.first.empty() && m.size() == 1 && m[0].second == 1 && linear.second.num > 0) {
      auto& lower = lower_[m[0].first.value];
      Rational least =
          (Rational{1, 1} + constant.second * Rational{-1, 1}) * inverse(linear.second);
      if (lower) lower = std::max(*lower, ceiling(least));
      return;
    }
  }
  facts_.push_back({extent - Poly(1), {}});
}

// Every size written as its lower bound plus something that is at least 0: no coefficient may be
// negative then.
bool SizeFacts::at_least_zero_when_shifted(const Poly& p) const {
  bool good = true, shift = false;
  for (const auto& [m, c] : p.terms()) {
    if (c.num < 0) good = false;
    for (auto [id, power] : m) {
      if (!lower_[id.value]) return false;
      shift = shift || *lower_[id.value] > 0;
    }
  }
  if (good || !shift) return good;
  std::map<SizeId, Poly> values;
  for (const auto& [m, c] : p.terms())
    for (auto [id, power] : m)
      if (*lower_[id.value] > 0) values[id] = Poly::size(id) + Poly(*lower_[id.value]);
  Poly shifted = ir::substitute(p, values);
  return std::ranges::all_of(shifted.terms(), [](const auto& t) { return t.second.num >= 0; });
}

bool SizeFacts::multiplier(const Monomial& m) const {
  return std::ranges::all_of(m, [&](const auto& power) {
    return power.second % 2 == 0 || lower_[power.first.value].has_value();
  });
}

bool SizeFacts::is_positive_quotient(const Fact& f) const {
  return f.about.valid() && lower_[f.about.value].value_or(0) > 0;
}

// Whether it leads from one size to another.
bool SizeFacts::is_of_several(const Fact& f) const {
  const auto sizes =
      std::ranges::count_if(f.poly.terms(), [](const auto& t) { return !t.first.empty(); });
  return f.about.valid() ? is_positive_quotient(f) : sizes > 1;
}

bool SizeFacts::is_relevant(const Fact& f, const Poly& p) const {
  if (!f.about.valid() || is_positive_quotient(f)) return true;
  for (const auto& [m, c] : p.terms())
    for (auto [id, power] : m)
      if (id == f.about) return true;
  return false;
}

bool SizeFacts::nonnegative(const Poly& p, int depth) const {
  if (auto c = p.constant()) return c->num >= 0;
  if (at_least_zero_when_shifted(p)) return true;
  if (depth == 0) return false;
  // p - f * (a term that is >= 0), chosen so that a troublesome term of p disappears; or any term,
  // where f is of several sizes: T - 1 is T - S and S - 1.
  for (const auto& [m, c] : p.terms()) {
    const bool fine = c.num >= 0 && multiplier(m);
    for (const Fact& f : facts_) {
      if (fine && !is_of_several(f)) continue;
      if (!is_relevant(f, p)) continue;
      for (const auto& [n, fc] : f.poly.terms()) {
        if ((fc.num < 0) != (c.num < 0)) continue;
        auto rest = quotient(m, n);
        if (!rest || !multiplier(*rest)) continue;
        if (nonnegative(p - f.poly * Poly::term(*rest, c * inverse(fc)), depth - 1)) return true;
      }
    }
  }
  return false;
}

}  // namespace attn::solve
