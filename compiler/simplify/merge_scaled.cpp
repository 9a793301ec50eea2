// Sums that are equal after striking the factors without a reduced index become one sum; each is a
// map of it:   a[i] = sum[j] 2*u[i]*x[i,j],  b[i] = sum[j] x[i,j]   ->   a[i] = 2*u[i]*b[i]
#include <algorithm>

#include "compiler/simplify/canonical.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/simplify/products.h"

namespace attn::simplify {

using namespace ir;

namespace {

// `coefficient * outer * core` for one sum; the core is a sum over the same indices.
struct Scaling {
  const Definition* whole;
  Expr coefficient;
  std::vector<Expr> outer;
  Definition core;
  bool bare() const {
    return coefficient.is_one() && outer.empty() && core.free.size() == whole->free.size();
  }
};

bool uses_any(const Expr& e, const std::vector<IndexId>& indices_of) {
  std::set<IndexId> used = indices(e);
  return std::any_of(indices_of.begin(), indices_of.end(),
                     [&](IndexId i) { return used.count(i) > 0; });
}

std::optional<Scaling> split(const Graph& g, const Definition& d) {
  if (d.combine != Combine::sum || !is_real(d.body.type()) || !stores_exactly(g, d.target))
    return std::nullopt;
  Product p = as_product(d.body);
  Scaling s{&d, p.coefficient, {}, d};
  std::vector<Expr> inner;
  for (const Expr& f : p.factors) (uses_any(f, d.reduced) ? inner : s.outer).push_back(f);
  if (inner.empty()) return std::nullopt;
  s.core.body = times(1, inner);
  std::set<IndexId> used = indices(s.core.body);
  used.merge(indices(s.core.guard));
  std::erase_if(s.core.free, [&](IndexId i) { return !used.count(i); });
  return s;
}

}  // namespace

Graph merge_scaled(const Graph& g) {
  std::map<Signature, std::vector<Scaling>> by_signature;
  for (const Definition& d : g.definitions)
    if (auto s = split(g, d)) by_signature[signature(g, s->core)].push_back(std::move(*s));

  // Groups of equal cores; the sums of one signature are seldom more than a few.
  std::vector<std::vector<Scaling>> groups;
  std::map<TensorId, std::pair<size_t, size_t>> place;  // of a sum in `groups`
  for (auto& [key, sums] : by_signature) {
    if (sums.size() < 2) continue;
    std::map<Canonical, std::vector<Scaling>> equal;
    for (Scaling& s : sums) {
      Canonical c = canonical(g, s.core);
      equal[std::move(c)].push_back(std::move(s));
    }
    for (auto& [core, members] : equal) {
      if (members.size() < 2) continue;
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
    std::vector<Expr> subscripts;
    for (IndexId i : s.core.free) subscripts.push_back(index_value(i));
    factors.push_back(result.read(of_group, std::move(subscripts)));
    Definition map = d;
    map.combine = Combine::set;
    map.reduced.clear();
    map.guard.clear();
    map.body = times(s.coefficient, factors);
    result.definitions.push_back(normal_form(std::move(map)));
  }
  return result;
}

}  // namespace attn::simplify
