// The order in which operands are written. Factors stand as in a matrix product: the one that
// carries the earlier indices of the left side comes first (`p[i,j] * v[j,e]` for z[i,e]), what
// only carries reduced indices last; among equals cotangents, then the older tensor. In sums,
// indices come before sizes before constants, and a positive addend comes first.
#include <algorithm>

#include "compiler/text/writer.h"

namespace attn::text {

std::vector<Term> terms_of(const ir::Expr& e) {
  std::vector<Term> terms;
  auto take = [&](const ir::Expr& t) {
    if (t.is(ir::Kind::size)) {
      for (const auto& [monomial, c] : t->size.terms()) {
        const ir::Rational absolute{c.num < 0 ? -c.num : c.num, c.den};
        terms.push_back({c.num < 0, ir::size_value(ir::Poly::term(monomial, absolute))});
      }
    } else if (t.is(ir::Kind::literal) || t.is(ir::Kind::multiply)) {
      const bool negative = t.is(ir::Kind::literal) ? t->number.value() < 0
                                                    : t.args()[0].is(ir::Kind::literal) &&
                                                          t.args()[0]->number.value() < 0;
      terms.push_back({negative, negative ? ir::negate(t) : t});
    } else {
      terms.push_back({false, t});
    }
  };
  if (e.is(ir::Kind::add))
    for (const ir::Expr& t : e.args()) take(t);
  else
    take(e);
  return terms;
}

bool Writer::names_an_index(const Term& t) const {
  return !ir::indices(t.value).empty() || !ir::tensors(t.value).empty();
}

Writer::Place Writer::place(const ir::Expr& factor) const {
  Place p;
  const int free = d_ ? static_cast<int>(d_->free.size()) : INT32_MAX;
  const std::set<ir::IndexId> found = ir::indices(factor);
  for (ir::IndexId i : found)
    if (position(i) < free) p.positions.push_back(position(i));
  std::sort(p.positions.begin(), p.positions.end());
  p.rank = found.empty() ? 0 : p.positions.empty() ? 2 : 1;
  switch (factor.kind()) {
    case ir::Kind::size:
    case ir::Kind::literal:
      p.kind = 0;
      break;
    case ir::Kind::index:
    case ir::Kind::read:
      p.kind = 1;
      break;
    case ir::Kind::add:
      p.kind = 3;
      break;
    case ir::Kind::select:
      p.kind = 4;
      break;
    default:
      p.kind = 2;
  }
  for (ir::TensorId t : ir::tensors(factor))
    if (context_.derived[t.value]) p.forward = false;
  return p;
}

void Writer::sort_factors(std::vector<ir::Expr>& factors) const {
  std::vector<std::pair<Place, ir::Expr>> keyed;
  for (const ir::Expr& f : factors) keyed.emplace_back(place(f), f);
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t k = 0; k < factors.size(); ++k) factors[k] = keyed[k].second;
}

void Writer::sort_terms(std::vector<Term>& terms, bool integer) const {
  struct Key {
    int rank = 0;
    bool negative = false;
    std::vector<int> positions;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<std::pair<Key, Term>> keyed;
  for (const Term& t : terms) {
    Key key;
    key.negative = t.negative;
    const std::set<ir::IndexId> found = ir::indices(t.value);
    if (integer) {
      const bool constant = t.value.is(ir::Kind::literal);
      key.rank = constant ? 2 : names_an_index(t) ? 0 : 1;
      for (ir::IndexId i : found) key.positions.push_back(position(i));
      std::sort(key.positions.begin(), key.positions.end());
    } else {
      // Whatever varies over more comes first; `1 + exp(x)`, but `variance + 1e-5`.
      const bool one = t.value.is_one() && !t.negative;
      key.rank = one                             ? -1000
                 : t.value.is(ir::Kind::literal) ? 1000
                                                 : -static_cast<int>(found.size());
    }
    keyed.emplace_back(std::move(key), t);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // `T - 1 - i`, not `-i + T - 1`.
  auto first =
      std::find_if(keyed.begin(), keyed.end(), [](const auto& k) { return !k.second.negative; });
  if (first != keyed.end()) std::rotate(keyed.begin(), first, keyed.end());
  for (size_t k = 0; k < terms.size(); ++k) terms[k] = keyed[k].second;
}

}  // namespace attn::text
