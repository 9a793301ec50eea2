#include "compiler/simplify/products.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/operation.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

namespace {

// Higher powers stay one factor.
constexpr int kMostRepeats = 3;

// How often a whole power stands as a factor; 0 for everything else.
int repeats(const Expr& f) {
  if (!f.is(Kind::power) || !f.args()[1].is(Kind::literal)) return 0;
  const Number& n = f.args()[1]->number;
  return n.is_integer && n.integer > 1 && n.integer <= kMostRepeats ? static_cast<int>(n.integer)
                                                                    : 0;
}

bool divides(const Expr& f) {
  return f.is(Kind::power) && f.args()[1].is(Kind::literal) && f.args()[1]->number.value() < 0;
}

// What was divided by a size that may be 0 is lost.
bool may_undo(const Graph& g, const Expr& division) {
  const Expr& base = division.args()[0];
  if (meaning(base) == Meaning::to_real)
    return solve::proves(g, {}, at_least_zero(base.args()[0] - 1));
  return base.is(Kind::literal) ||
         (!is_real(base.type()) && solve::proves(g, {}, at_least_zero(base - 1)));
}

void append(std::vector<Product>& to, const std::vector<Product>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

Product multiplied(const Product& a, const Product& b) {
  Product p = a;
  p.coefficient = a.coefficient * b.coefficient;
  p.factors.insert(p.factors.end(), b.factors.begin(), b.factors.end());
  p.conditions.insert(b.conditions.begin(), b.conditions.end());
  return p;
}

bool expand_into(const Expr& e, size_t limit, std::vector<Product>& out) {
  out.clear();
  std::vector<Product> part;
  if (e.is(Kind::add) && is_real(e.type()) && !is_constant(e)) {
    for (const Expr& t : e.args()) {
      if (!expand_into(t, limit, part)) return false;
      append(out, part);
      if (out.size() > limit) return false;
    }
    return true;
  }
  if (e.is(Kind::select) && e.args()[2].is_zero()) {
    if (!expand_into(e.args()[1], limit, out)) return false;
    for (Product& p : out) {
      Conditions more = conjuncts(e.args()[0]);
      p.conditions.merge(more);
    }
    return true;
  }
  out.push_back({});
  Product whole = as_product(e);
  out[0].coefficient = whole.coefficient;
  for (const Expr& f : whole.factors) {
    if (!f.is(Kind::add) || !is_real(f.type())) {
      for (Product& p : out) p.factors.push_back(f);
      continue;
    }
    if (!expand_into(f, limit, part)) return false;
    if (out.size() * part.size() > limit) return false;
    std::vector<Product> products;
    for (const Product& a : out)
      for (const Product& b : part) products.push_back(multiplied(a, b));
    out = std::move(products);
  }
  return true;
}

}  // namespace

bool is_constant(const Expr& e) {
  bool constant = true;
  visit(e, [&](const Expr& x) {
    constant = constant && !x.is(Kind::read) && !x.is(Kind::index);
    return constant;
  });
  return constant;
}

Product as_product(const Expr& e) {
  Product p;
  std::vector<Expr> constants;
  for (const Expr& f : factors_of(e)) {
    if (is_constant(f)) {
      constants.push_back(f);
    } else if (int n = repeats(f)) {
      p.factors.insert(p.factors.end(), n, f.args()[0]);
    } else {
      p.factors.push_back(f);
    }
  }
  p.coefficient = multiply(std::move(constants));
  return p;
}

Expr times(const Expr& coefficient, const std::vector<Expr>& factors) {
  std::vector<Expr> all = factors;
  all.push_back(coefficient);
  return multiply(std::move(all));
}

Expr value_of(const Product& p) { return where(p.conditions, times(p.coefficient, p.factors)); }

std::optional<std::vector<Product>> expand(const Expr& e, size_t limit) {
  std::vector<Product> result;
  if (!expand_into(e, limit, result)) return std::nullopt;
  return result;
}

std::optional<Expr> ratio(const Graph& g, const Expr& mine, const Expr& theirs) {
  if (theirs.is_one()) return mine;
  if (theirs.is_zero()) return std::nullopt;
  const std::vector<Expr> before = factors_of(mine);
  for (const Expr& f : factors_of(theirs))
    if (divides(f) && !may_undo(g, f) && std::ranges::find(before, f) == before.end())
      return std::nullopt;
  Expr result = mine / theirs;
  // Ratios are compared: 1.0 and 1 are one.
  if (result.is(Kind::literal) && result->number.value() == std::floor(result->number.value()) &&
      std::abs(result->number.value()) < 1e9)
    return Expr(static_cast<int64_t>(result->number.value()));
  // Dividing by 1/sqrt(E) multiplies; dividing by a size T must cancel against mine.
  for (const Expr& f : factors_of(result))
    if (divides(f) && std::ranges::find(before, f) == before.end()) return std::nullopt;
  return result;
}

}  // namespace attn::simplify
