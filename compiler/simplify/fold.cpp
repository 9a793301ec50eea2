// Folds what is known inside one definition:
//   sum[j: S + 1 where j < S] e        ->  sum[j: S] e
//   sum[v where v == t[n]] e[n]        ->  e[n] where 0 <= t[n] < V
//   sum[t, k: 3 where n == 2*t + k] e[t] stays: t, the longer, is better solved than k
//   f[i,j] = if j <= i then a else b  where j <= i   ->   a  where j <= i
//   sum[j: 0] e, sum[j where N < 3] e  ->  0                       where N is 4
//   sum[j: 1, k] e[j,k]                ->  sum[k] e[0,k]
//   sum[j where j >= N - 1] e[j]       ->  e[N - 1]                where N is known
//   conditions that ranges or other conditions imply are dropped; a sum over nothing is a map.
#include <algorithm>

#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

namespace {

// A condition `j <= P` with a size P is the range 0 .. P of the reduced index j.
bool shrink_range(Graph& g, Definition& d) {
  for (IndexId& r : d.reduced) {
    for (const Expr& c : d.guard) {
      if (!c.is(Kind::at_least_zero)) continue;
      std::optional<Poly> last = as_size(c.args()[0] + index_value(r));
      if (!last) continue;
      Poly extent = *last + Poly(1);
      if (g.same(extent, g[r].extent) || !solve::nonnegative(g, g[r].extent - extent)) continue;
      IndexId shorter = g.new_index(g[r].name, extent);
      std::map<IndexId, Expr> renamed{{r, index_value(shorter)}};
      Conditions guard = d.guard;
      guard.erase(c);
      d.guard = substitute(guard, renamed);
      d.body = substitute(d.body, renamed);
      r = shorter;
      return true;
    }
  }
  return false;
}

// The value that `condition`, an equality, gives to the index r: r occurs in it once, as +r or -r.
std::optional<Expr> solved_for(const Expr& condition, IndexId r) {
  if (!condition.is(Kind::is_zero)) return std::nullopt;
  const Expr& e = condition.args()[0];
  Expr i = index_value(r);
  for (const Expr& value : {i - e, e + i})
    if (!uses(value, r)) return value;
  return std::nullopt;
}

// The equality can be solved for another reduced index, which may be longer than r.
bool determines_longer(const Graph& g, const Definition& d, const Expr& equality, IndexId r) {
  const Expr& e = equality.args()[0];
  return std::ranges::any_of(d.reduced, [&](IndexId other) {
    if (other == r || !uses(e, other)) return false;
    const Expr step = substitute(e, {{other, index_value(other) + Expr(int64_t{1})}}) - e;
    return step.is(Kind::literal) && !solve::nonnegative(g, g[r].extent - g[other].extent);
  });
}

// A sum over an index that an equality determines and that nothing else mentions.
bool drop_determined(Graph& g, Definition& d) {
  if (d.combine != Combine::sum) return false;
  for (size_t k = 0; k < d.reduced.size(); ++k) {
    IndexId r = d.reduced[k];
    if (uses(d.body, r)) continue;
    const Expr* equality = nullptr;
    int mentions = 0;
    for (const Expr& c : d.guard) {
      if (!uses(c, r)) continue;
      ++mentions;
      equality = &c;
    }
    if (mentions != 1) continue;
    std::optional<Expr> value = solved_for(*equality, r);
    if (!value || determines_longer(g, d, *equality, r)) continue;
    Conditions guard = d.guard;
    guard.erase(*equality);
    guard.merge(conjuncts(at_least_zero(*value)));
    guard.merge(conjuncts(less(*value, size_value(g[r].extent))));
    d.guard = guard;
    d.reduced.erase(d.reduced.begin() + k);
    return true;
  }
  return false;
}

// The one value of a reduced index that its range and a condition `r >= P` leave.
std::optional<Expr> single_value(const Graph& g, const Definition& d, IndexId r) {
  const auto extent = g.known(g[r].extent);
  if (extent == 1) return Expr(int64_t{0});
  for (const Expr& c : d.guard) {
    if (!extent || !c.is(Kind::at_least_zero)) continue;
    const std::optional<Poly> least = as_size(index_value(r) - c.args()[0]);
    if (least && *extent > 0 && g.known(g[r].extent - *least) == 1) return size_value(*least);
  }
  return std::nullopt;
}

void drop_single(const Graph& g, Definition& d) {
  if (d.combine != Combine::sum) return;
  std::map<IndexId, Expr> values;
  for (IndexId r : d.reduced)
    if (const auto value = single_value(g, d, r)) values.emplace(r, *value);
  if (values.empty()) return;
  substitute(d, values);
  std::erase_if(d.reduced, [&](IndexId r) { return values.count(r) > 0; });
}

// Sizes and ranges exclude the condition.
bool never_holds(const Graph& g, const Expr& condition) {
  return tensors(condition).empty() && solve::proves(g, {}, negation(condition));
}

// Compiled for a size of 0, or under a condition that no call fulfils: nothing is computed, and
// what is summed is 0. The others keep what they give for nothing.
bool is_of_nothing(const Graph& g, const Definition& d) {
  const auto is_empty = [&](IndexId i) { return g.known(g[i].extent) == 0; };
  if (std::ranges::any_of(d.free, is_empty)) return true;
  if (d.combine != Combine::sum && d.combine != Combine::set) return false;
  return std::ranges::any_of(d.reduced, is_empty) ||
         std::ranges::any_of(d.guard, [&](const Expr& c) { return never_holds(g, c); });
}

}  // namespace

Graph fold(const Graph& g) {
  Graph result = g;
  for (Definition& d : result.definitions) {
    if (d.position.empty() && is_of_nothing(result, d)) {
      d.combine = Combine::set;
      d.body = d.body.type() == Type::boolean ? truth(false) : Expr(0);
      d.reduced.clear();
      d.guard.clear();
    }
    while (drop_determined(result, d)) {
    }
    while (shrink_range(result, d)) {
    }
    drop_single(result, d);
    if (!d.guard.empty()) d.guard = solve::tidy(result, d.guard);
    bool selects = false;
    visit(d.body, [&](const Expr& x) {
      selects = selects || x.is(Kind::select);
      return !selects;
    });
    if (selects) d.body = solve::assume(result, d.body, d.guard);
    if (d.combine == Combine::sum && d.body.is_zero()) {
      d.reduced.clear();
      d.guard.clear();
    }
    if (d.combine == Combine::sum && d.reduced.empty()) d.combine = Combine::set;
    d = normal_form(std::move(d));
  }
  return result;
}

}  // namespace attn::simplify
