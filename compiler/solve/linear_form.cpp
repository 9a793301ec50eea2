#include "compiler/solve/linear_form.h"

#include <algorithm>
#include <numeric>

namespace attn::solve {

using ir::Poly;
using ir::Rational;

namespace {

bool is_zero(const Poly& p) { return p.terms().empty(); }

void insert(Linear& l, int unknown, const Poly& coefficient) {
  auto it = std::lower_bound(l.terms.begin(), l.terms.end(), unknown,
                             [](const auto& t, int u) { return t.first < u; });
  if (it == l.terms.end() || it->first != unknown) {
    if (!is_zero(coefficient)) l.terms.insert(it, {unknown, coefficient});
    return;
  }
  it->second = it->second + coefficient;
  if (is_zero(it->second)) l.terms.erase(it);
}

}  // namespace

bool whole(const Poly& p) {
  return std::ranges::all_of(p.terms(), [](const auto& t) { return t.second.is_integer(); });
}

void tighten(Linear& l) {
  int64_t divisor = 0, constant = 0;
  auto take = [&](const Poly& p, bool is_constant) {
    for (const auto& [m, c] : p.terms()) {
      if (is_constant && m.empty())
        constant = c.num;
      else
        divisor = std::gcd(divisor, c.num);
    }
    return whole(p);
  };
  if (!take(l.constant, true)) return;
  for (const auto& t : l.terms)
    if (!take(t.second, false)) return;
  if (divisor <= 1) return;
  int64_t over = ((constant % divisor) + divisor) % divisor;
  if (over) l.constant = l.constant - Poly(over);
  for (auto& t : l.terms) t.second = ir::scale(t.second, {1, divisor});
  l.constant = ir::scale(l.constant, {1, divisor});
}

Poly negative(const Poly& p) { return ir::scale(p, {-1, 1}); }

Linear minus(const Linear& a) {
  Linear r = a;
  for (auto& t : r.terms) t.second = negative(t.second);
  r.constant = negative(a.constant);
  return r;
}

Linear operator+(const Linear& a, const Linear& b) {
  Linear r = a;
  for (const auto& [u, c] : b.terms) insert(r, u, c);
  r.constant = r.constant + b.constant;
  return r;
}

Linear operator-(const Linear& a, const Linear& b) {
  Linear r;
  r.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->first < y->first)) {
      r.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->first < x->first) {
      r.terms.push_back({y->first, negative(y->second)});
      ++y;
    } else {
      if (!(x->second == y->second)) r.terms.push_back({x->first, x->second - y->second});
      ++x, ++y;
    }
  }
  r.constant = a.constant - b.constant;
  return r;
}

Linear scale(const Linear& a, const Poly& factor) {
  Linear r;
  if (is_zero(factor)) return r;
  if (auto n = factor.constant()) {
    if (*n == Rational{1, 1}) return a;
    for (const auto& [u, c] : a.terms) r.terms.push_back({u, ir::scale(c, *n)});
    r.constant = ir::scale(a.constant, *n);
    return r;
  }
  for (const auto& [u, c] : a.terms) r.terms.push_back({u, c * factor});
  r.constant = a.constant * factor;
  return r;
}

}  // namespace attn::solve
