#include "compiler/ir/poly.h"

#include <algorithm>
#include <numeric>

#include "compiler/base/check.h"

namespace attn::ir {
namespace {

int64_t checked(__int128 value) {
  if (value > INT64_MAX || value < -INT64_MAX)
    throw LimitError("a size expression exceeds 63 bits");
  return static_cast<int64_t>(value);
}

Rational reduced(__int128 num, __int128 den) {
  ATTN_CHECK(den != 0, "a rational number with denominator 0");
  if (den < 0) num = -num, den = -den;
  __int128 a = num < 0 ? -num : num, b = den;
  while (b != 0) {
    __int128 r = a % b;
    a = b;
    b = r;
  }
  if (a > 1) num /= a, den /= a;
  return {checked(num), checked(den)};
}

Monomial times(const Monomial& a, const Monomial& b) {
  std::map<SizeId, int> powers;
  for (auto [size, power] : a) powers[size] += power;
  for (auto [size, power] : b) powers[size] += power;
  return {powers.begin(), powers.end()};
}

using ByMonomial = std::map<Monomial, Rational>;

Poly::Terms nonzero(const ByMonomial& all) {
  Poly::Terms terms;
  for (const auto& [monomial, coefficient] : all)
    if (coefficient.num != 0) terms.emplace_back(monomial, coefficient);
  return terms;
}

// a / b, where every power of b is in a.
std::optional<Monomial> quotient(const Monomial& a, const Monomial& b) {
  std::map<SizeId, int> powers(a.begin(), a.end());
  for (auto [size, power] : b) powers[size] -= power;
  Monomial result;
  for (auto [size, power] : powers) {
    if (power < 0) return std::nullopt;
    if (power > 0) result.emplace_back(size, power);
  }
  return result;
}

}  // namespace

Rational Rational::of(int64_t num, int64_t den) { return reduced(num, den); }
Rational operator+(Rational a, Rational b) {
  return reduced(static_cast<__int128>(a.num) * b.den + static_cast<__int128>(b.num) * a.den,
                 static_cast<__int128>(a.den) * b.den);
}
Rational operator*(Rational a, Rational b) {
  return reduced(static_cast<__int128>(a.num) * b.num, static_cast<__int128>(a.den) * b.den);
}
int sign(Rational a) { return a.num > 0 ? 1 : a.num < 0 ? -1 : 0; }

Poly::Poly(Terms terms) {
  if (!terms.empty()) terms_ = std::make_shared<const Terms>(std::move(terms));
}

Poly::Poly(int64_t constant) {
  if (constant != 0) terms_ = std::make_shared<const Terms>(Terms{{{}, {constant, 1}}});
}

const Poly::Terms& Poly::terms() const {
  static const Terms none;
  return terms_ ? *terms_ : none;
}

Poly Poly::size(SizeId id) { return term({{id, 1}}, {1, 1}); }

Poly Poly::term(Monomial monomial, Rational coefficient) {
  return coefficient.num != 0 ? Poly(Terms{{std::move(monomial), coefficient}}) : Poly();
}

std::optional<Rational> Poly::constant() const {
  if (terms().empty()) return Rational{0, 1};
  if (terms().size() == 1 && terms()[0].first.empty()) return terms()[0].second;
  return std::nullopt;
}

std::optional<int64_t> Poly::integer() const {
  auto c = constant();
  if (c && c->is_integer()) return c->num;
  return std::nullopt;
}

std::optional<SizeId> Poly::single() const {
  if (terms().size() != 1 || terms()[0].second != Rational{1, 1}) return std::nullopt;
  const Monomial& m = terms()[0].first;
  if (m.size() != 1 || m[0].second != 1) return std::nullopt;
  return m[0].first;
}

uint64_t Poly::hash() const {
  uint64_t h = 1469598103934665603u;
  auto mix = [&](uint64_t v) { h = (h ^ v) * 1099511628211u; };
  for (const auto& [monomial, c] : terms()) {
    for (auto [size, power] : monomial) mix(size.value), mix(power);
    mix(c.num), mix(c.den);
  }
  return h;
}

Poly operator+(const Poly& a, const Poly& b) {
  Poly::Terms out;
  auto i = a.terms().begin(), j = b.terms().begin();
  while (i != a.terms().end() || j != b.terms().end()) {
    if (j == b.terms().end() || (i != a.terms().end() && i->first < j->first)) {
      out.push_back(*i++);
    } else if (i == a.terms().end() || j->first < i->first) {
      out.push_back(*j++);
    } else {
      Rational c = i->second + j->second;
      if (c.num != 0) out.push_back({i->first, c});
      ++i, ++j;
    }
  }
  return Poly(std::move(out));
}

Poly operator-(const Poly& a, const Poly& b) { return a + scale(b, {-1, 1}); }

Poly operator*(const Poly& a, const Poly& b) {
  ByMonomial terms;
  for (const auto& [m, c] : a.terms()) {
    for (const auto& [n, d] : b.terms()) {
      Rational& sum = terms[times(m, n)];
      sum = sum + c * d;
    }
  }
  return Poly(nonzero(terms));
}

Poly scale(const Poly& a, Rational factor) { return a * Poly::term({}, factor); }

std::optional<Poly> divide(const Poly& a, const Poly& b) {
  if (b.terms().size() != 1) return std::nullopt;
  const auto& [monomial, c] = b.terms()[0];
  ByMonomial terms;
  for (const auto& [m, d] : a.terms()) {
    auto q = quotient(m, monomial);
    if (!q) return std::nullopt;
    terms[*q] = d * Rational::of(c.den, c.num);
  }
  return Poly(nonzero(terms));
}

Poly substitute(const Poly& a, const std::map<SizeId, Poly>& values) {
  Poly sum;
  for (const auto& [monomial, c] : a.terms()) {
    Poly product = Poly::term({}, c);
    for (auto [size, power] : monomial) {
      auto it = values.find(size);
      Poly base = it == values.end() ? Poly::size(size) : it->second;
      for (int k = 0; k < power; ++k) product = product * base;
    }
    sum = sum + product;
  }
  return sum;
}

}  // namespace attn::ir
