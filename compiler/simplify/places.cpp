#include "compiler/simplify/places.h"

#include <algorithm>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/under.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

std::optional<std::vector<IndexId>> plain_subscripts(const Expr& read) {
  std::vector<IndexId> result;
  for (const Expr& s : read.args()) {
    if (!s.is(Kind::index)) return std::nullopt;
    for (IndexId i : result)
      if (i == s->index) return std::nullopt;
    result.push_back(s->index);
  }
  return result;
}

std::map<IndexId, Expr> subscript_map(const Definition& d, const Expr& read) {
  std::map<IndexId, Expr> result;
  for (size_t k = 0; k < d.free.size(); ++k) result.emplace(d.free[k], read.args()[k]);
  return result;
}

bool scatters(const Definition& d) {
  for (const Expr& c : d.guard)
    if (c.is(Kind::is_zero))
      for (IndexId r : d.reduced)
        if (uses(c, r)) return true;
  return false;
}

std::set<IndexId> domain(const Definition& d) {
  std::set<IndexId> result(d.free.begin(), d.free.end());
  result.insert(d.reduced.begin(), d.reduced.end());
  return result;
}

std::optional<Conditions> conditions_alone(const Graph& g, const Expr& e, const Conditions& known) {
  bool in_range_anywhere = true;
  visit(e, [&](const Expr& x) {
    if (!x.is(Kind::read)) return true;
    for (size_t k = 0; k < x.args().size(); ++k) {
      const Expr& s = x.args()[k];
      in_range_anywhere = in_range_anywhere && s.is(Kind::index) &&
                          g.same(g[s->index].extent, g[x->tensor].extents[k]);
    }
    return true;
  });
  std::set<IndexId> mine = indices(e);
  Conditions alone;
  for (const Expr& c : known) {
    std::set<IndexId> used = indices(c);
    bool expressible = std::includes(mine.begin(), mine.end(), used.begin(), used.end());
    bool touches = std::ranges::any_of(used, [&](IndexId i) { return mine.count(i); });
    if (expressible)
      alone.insert(c);
    else if (touches && !in_range_anywhere)
      return std::nullopt;
  }
  return alone;
}

ByTarget::ByTarget(const Graph& g) : by_target_(g.tensors.size(), nullptr) {
  for (const Definition& d : g.definitions) add(&d);
}

void ByTarget::add(const Definition* d) {
  if (static_cast<size_t>(d->target.value) >= by_target_.size())
    by_target_.resize(d->target.value + 1, nullptr);
  by_target_[d->target.value] = d;
}

std::vector<bool> fixed_tensors(const Graph& g) {
  std::vector<bool> result(g.tensors.size(), false);
  for (const Output& o : g.outputs) result[o.tensor.value] = true;
  for (TensorId t : carried(g)) result[t.value] = true;
  return result;
}

bool stores_exactly(const Graph& g, TensorId t) {
  Storage s = g[t].storage;
  return s != Storage::f16 && s != Storage::bf16;
}

bool holds(const Graph& g, const Conditions& known, const Conditions& a) {
  for (const Expr& c : a)
    if (!known.count(c) && !solve::proves(g, known, c)) return false;
  return true;
}

bool in_range(const Graph& g, const Conditions& known, const Expr& value, const Poly& extent) {
  if (value.is(Kind::index) && g.same(g[value->index].extent, extent)) return true;
  return holds(g, known, conjuncts(at_least_zero(value))) &&
         holds(g, known, conjuncts(less(value, size_value(extent))));
}

Expr in_range_under(const Graph& g, Conditions& guard, const Expr& body) {
  Conditions everywhere;
  const auto kept = [&](const Expr& part, const Conditions& around) {
    return rewrite_under(part, around, [&](const Expr& e, const Conditions& known) {
      if (!e.is(Kind::read)) return e;
      Conditions missing;
      for (size_t k = 0; k < e.args().size(); ++k) {
        const Expr& at = e.args()[k];
        const Poly& extent = g[e->tensor].extents[k];
        if (!tensors(at).empty() || in_range(g, known, at, extent)) continue;
        missing.merge(conjuncts(at_least_zero(at)));
        missing.merge(conjuncts(less(at, size_value(extent))));
      }
      missing = solve::tidy(g, missing, known);
      if (missing.empty()) return e;
      if (known != around) return select(all_of(missing), e, Expr(0));
      everywhere.merge(missing);
      return e;
    });
  };
  Expr result = kept(body, guard);
  // Conditions that read nothing are tried before those that do.
  Conditions first, all;
  for (const Expr& c : guard)
    if (tensors(c).empty()) first.insert(c);
  for (const Expr& c : guard) all.merge(conjuncts(tensors(c).empty() ? c : kept(c, first)));
  all.merge(everywhere);
  guard = std::move(all);
  return result;
}

}  // namespace attn::simplify
