// Polynomials over sizes with rational coefficients: extents, bounds, and sizes used as numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/id.h"

namespace attn::ir {

// num / den in lowest terms, den > 0. Overflow of 64 bits is a LimitError.
struct Rational {
  int64_t num = 0;
  int64_t den = 1;
  static Rational of(int64_t num, int64_t den);
  auto operator<=>(const Rational&) const = default;  // representation order, not numeric order
  bool is_integer() const { return den == 1; }
  double value() const { return static_cast<double>(num) / static_cast<double>(den); }
};
Rational operator+(Rational a, Rational b);
Rational operator*(Rational a, Rational b);
int sign(Rational a);

// The powers of a product of sizes, sorted by size; no power is 0. Powers are positive.
using Monomial = std::vector<std::pair<SizeId, int>>;

// A value: copies share their terms.
class Poly {
 public:
  // Sorted by monomial; no coefficient is 0.
  using Terms = std::vector<std::pair<Monomial, Rational>>;

  Poly() = default;  // 0
  Poly(int64_t constant);
  static Poly size(SizeId id);
  static Poly term(Monomial monomial, Rational coefficient);

  const Terms& terms() const;
  // The value when no size occurs in it.
  std::optional<Rational> constant() const;
  // The value when it is a constant integer.
  std::optional<int64_t> integer() const;
  // The size when it is exactly one size with coefficient 1.
  std::optional<SizeId> single() const;
  bool operator==(const Poly& p) const { return terms_ == p.terms_ || terms() == p.terms(); }
  auto operator<=>(const Poly& p) const { return terms() <=> p.terms(); }  // a total order
  uint64_t hash() const;

 private:
  friend Poly operator+(const Poly& a, const Poly& b);
  friend Poly operator*(const Poly& a, const Poly& b);
  friend std::optional<Poly> divide(const Poly& a, const Poly& b);
  explicit Poly(Terms terms);
  std::shared_ptr<const Terms> terms_;  // null: 0
};

Poly operator+(const Poly& a, const Poly& b);
Poly operator-(const Poly& a, const Poly& b);
Poly operator*(const Poly& a, const Poly& b);
Poly scale(const Poly& a, Rational factor);
// a / b where b is a constant or divides every term of a as a monomial; else nothing.
std::optional<Poly> divide(const Poly& a, const Poly& b);
// Replaces sizes by polynomials.
Poly substitute(const Poly& a, const std::map<SizeId, Poly>& values);

}  // namespace attn::ir
