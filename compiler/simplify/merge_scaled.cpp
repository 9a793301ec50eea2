// Sums that are equal after striking the factors without a reduced index become one sum; each is a
// map of it:   a[i] = sum[j] 2*u[i]*x[i,j],  b[i] = sum[j] x[i,j]   ->   a[i] = 2*u[i]*b[i]
// So do conditions without one, where one of the sums has none of them.
#include <algorithm>

#include "compiler/ir/key.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/simplify/products.h"
#include "compiler/solve/out_of_sum.h"

namespace attn::simplify {

using namespace ir;

namespace {

// `coefficient * outer * core where guard` for one sum; the core is a sum over the same indices.
struct Scaling {
  const Definition* whole;
  Expr coefficient;
  std::vector<Expr> outer;
  Conditions guard;  // on no reduced index
  Definition core;
  bool bare() const {
    return coefficient.is_one() && outer.empty() && guard.empty() &&
           core.free.size() == whole->free.size();
  }
};

bool uses_any(const Expr& e, const std::vector<IndexId>& indices_of) {
  std::set<IndexId> used = indices(e);
  return std::ranges::any_of(indices_of, [&](IndexId i) { return used.count(i) > 0; });
}

void drop_unused_indices(Definition& core) {
  std::set<IndexId> used = indices(core.body);
  insert_all(used, indices(core.guard));
  std::erase_if(core.free, [&](IndexId i) { return !used.count(i); });
}

std::optional<Scaling> split(const Graph& g, const Definition& d) {
  if (d.combine != Combine::sum || !is_real(d.body.type()) || !stores_exactly(g, d.target))
    return std::nullopt;
  Product p = as_product(d.body);
  Scaling s{&d, p.coefficient, {}, {}, d};
  std::vector<Expr> inner;
  for (const Expr& f : p.factors) (uses_any(f, d.reduced) ? inner : s.outer).push_back(f);
  if (inner.empty()) return std::nullopt;
  s.core.body = times(1, inner);
  for (const Expr& c : d.guard)
    if (!uses_any(c, d.reduced)) s.guard.insert(c);
  for (const Expr& c : s.guard) s.core.guard.erase(c);
  drop_unused_indices(s.core);
  return s;
}

// With its conditions, in the place of sums that all have some.
void put_guard_into_core(Scaling& s) {
  s.core.guard.merge(s.guard);
  s.guard.clear();
  s.core.free = s.whole->free;
  drop_unused_indices(s.core);
}

// The sums whose cores are equal, if there are several.
std::vector<std::vector<Scaling>> equal_cores(const Graph& g, std::vector<Scaling> sums) {
  std::map<Key, std::vector<Scaling>> equal;
  for (Scaling& s : sums) {
    Key k = key(g, s.core);
    equal[std::move(k)].push_back(std::move(s));
  }
  std::vector<std::vector<Scaling>> result;
  for (auto& [core, members] : equal) {
    if (members.size() < 2) continue;
    const bool some_everywhere =
        std::ranges::any_of(members, [](const Scaling& s) { return s.guard.empty(); });
    if (some_everywhere) {
      result.push_back(std::move(members));
      continue;
    }
    for (Scaling& s : members) put_guard_into_core(s);
    for (auto& group : equal_cores(g, std::move(members))) result.push_back(std::move(group));
  }
  return result;
}

}  // namespace

Graph merge_scaled(const Graph& g) {
  std::map<QuickKey, std::vector<Scaling>> by_quick_key;
  for (const Definition& d : g.definitions)
    if (auto s = split(g, d)) by_quick_key[quick_key(g, s->core)].push_back(std::move(*s));

  // Groups of equal cores; the sums of one quick key are seldom more than a few.
  std::vector<std::vector<Scaling>> groups;
  std::map<TensorId, std::pair<size_t, size_t>> place;  // of a sum in `groups`
  for (auto& [quick, sums] : by_quick_key) {
    if (sums.size() < 2) continue;
    for (std::vector<Scaling>& members : equal_cores(g, std::move(sums))) {
      for (size_t k = 0; k < members.size(); ++k)
        place[members[k].whole->target] = {groups.size(), k};
      groups.push_back(std::move(members));
    }
  }
  if (groups.empty()) return g;

  Graph result = g;
  result.definitions.clear();
  std::vector<TensorId> base(groups.size());
  for (const Definition& d : g.definitions) {
    auto at = place.find(d.target);
    if (at == place.end()) {
      result.definitions.push_back(d);
      continue;
    }
    TensorId& of_group = base[at->second.first];
    const Scaling& s = groups[at->second.first][at->second.second];
    if (!of_group.valid() && s.bare()) {
      of_group = d.target;
      result.definitions.push_back(d);
      continue;
    }
    if (!of_group.valid()) {
      Definition core = with_fresh_indices(result, s.core).definition;
      Tensor t;
      t.name = g[d.target].name + ".core";
      t.storage = g[d.target].storage;
      for (IndexId i : core.free) t.extents.push_back(result[i].extent);
      of_group = core.target = result.new_tensor(std::move(t));
      result.definitions.push_back(normal_form(std::move(core)));
    }
    std::vector<Expr> factors = s.outer;
    const Expr sum = result.read(of_group, index_values(s.core.free));
    Definition map = d;
    map.combine = Combine::set;
    map.reduced.clear();
    map.guard = s.guard;
    const std::set<IndexId> reduced(d.reduced.begin(), d.reduced.end());
    for (Expr& f : factors) f = solve::out_of_sum(g, f, reduced, d.guard);
    const Expr outer =
        in_range_under(g, map.guard, times(solve::out_of_sum(g, s.coefficient, reduced), factors));
    map.body =
        solve::times_sum(result, outer, sum, {d.free.begin(), d.free.end()}, reduced, d.guard);
    result.definitions.push_back(normal_form(std::move(map)));
  }
  return result;
}

}  // namespace attn::simplify
