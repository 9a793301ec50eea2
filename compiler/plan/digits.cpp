#include "compiler/plan/digits.h"

#include <algorithm>

#include "compiler/solve/prove.h"

namespace attn::plan {

using namespace ir;

Expr Digits::high_of(IndexId column) const { return quotient(index_value(column), divisor); }
Expr Digits::low_of(IndexId column) const { return remainder(index_value(column), divisor); }

namespace {

// The first divisor of the column.
std::optional<Expr> divisor_in(const Expr& e, IndexId column) {
  std::optional<Expr> found;
  any_part(e, [&](const Expr& x) {
    const bool divides = x.is(Kind::quotient) || x.is(Kind::remainder);
    if (divides && x.args()[0] == index_value(column)) found = x.args()[1];
    return found.has_value();
  });
  return found;
}

bool divides_columns(const Graph& g, const Expr& divisor, IndexId column) {
  if (divisor.is(Kind::literal)) return divisor->number.value() > 0;
  const std::optional<Poly> size = as_size(divisor);
  return size && solve::nonnegative(g, *size) && solve::exact_quotient(g, g[column].extent, *size);
}

// How a subscript moves with the low digit, where it is linear in it and has no other column.
std::optional<double> slope(const Expr& e, const Digits& digits, IndexId column) {
  const Expr high = digits.high_of(column), low = digits.low_of(column);
  const auto with = [&](int value) {
    return rewrite(e, [&](const Expr& x) { return x == low ? Expr(value) : x; });
  };
  const Expr difference = with(1) - with(0);
  if (!difference.is(Kind::literal) || !(difference * low + with(0) == e)) return {};
  return difference->number.value();
}

}  // namespace

std::optional<Digits> digits_of(const Graph& g, const std::vector<Expr>& position, IndexId column) {
  std::optional<Expr> divisor;
  for (const Expr& e : position)
    if (!divisor) divisor = divisor_in(e, column);
  if (!divisor || !divides_columns(g, *divisor, column)) return {};
  Digits digits{*divisor};
  const Expr high = digits.high_of(column), low = digits.low_of(column);
  const auto uses_otherwise = [&](const Expr& e) {
    return uses(rewrite(e, [&](const Expr& x) { return x == high || x == low ? Expr(0) : x; }),
                column);
  };
  if (std::ranges::any_of(position, uses_otherwise)) return {};
  std::vector<double> slopes;
  for (const Expr& e : position) {
    const std::optional<double> s = slope(e, digits, column);
    if (!s) return digits;
    slopes.push_back(*s);
  }
  const bool before =
      std::any_of(slopes.begin(), slopes.end() - 1, [](double s) { return s != 0; });
  if (!before && slopes.back() == 1) digits.low = Digits::Low::neighbours;
  if (!before && slopes.back() == 0) digits.low = Digits::Low::one_place;
  return digits;
}

}  // namespace attn::plan
