#include "compiler/plan/maps.h"

namespace attn::plan {

using namespace ir;

namespace {

// The read of `site` as a tensor over the indices that it uses; its definition goes to `result`.
Expr gathered(Graph& g, const Expr& site, std::vector<Definition>& result) {
  const std::set<IndexId> used = indices(site);
  const Definition whole = with_fresh_indices(g, *g.definition_of(site->tensor)).definition;
  std::map<IndexId, Expr> at;
  for (size_t k = 0; k < whole.free.size(); ++k) at.emplace(whole.free[k], site.args()[k]);
  Definition d{.target = {},
               .free = {used.begin(), used.end()},
               .combine = whole.combine,
               .reduced = whole.reduced,
               .where = whole.where};
  d.guard = substitute(whole.guard, at);
  d.body = substitute(whole.body, at);
  Tensor t = g[site->tensor];
  t.name += ".at";
  t.role = Role::interior;
  t.extents = g.extents(d.free);
  d.target = g.new_tensor(t);
  const Expr value = g.target(d);
  result.push_back(with_fresh_indices(g, d).definition);
  return value;
}

}  // namespace

std::vector<Definition> compute_gathered(Graph& g, const solve::Unmaterialised& unmaterialised) {
  std::vector<Definition> result;
  std::set<TensorId> wholes;
  for (Definition d : std::vector<Definition>(g.definitions)) {
    std::map<Expr, Expr> again;
    for (const Expr& read : read_sites(d)) {
      if (!unmaterialised(read->tensor) || !g.definition_of(read->tensor) ||
          indices(read).size() == read.args().size())
        continue;
      wholes.insert(read->tensor);
      if (!again.count(read)) again.emplace(read, gathered(g, read, result));
    }
    const auto replaced = [&](const Expr& x) { return again.count(x) ? again.at(x) : x; };
    if (!again.empty()) map_exprs(d, [&](const Expr& e) { return rewrite(e, replaced); });
    result.push_back(std::move(d));
  }
  // What was read at these places only is not computed as a whole.
  for (const Output& o : g.outputs) wholes.erase(o.tensor);
  for (const Definition& d : result)
    for (TensorId t : reads(d)) wholes.erase(t);
  std::erase_if(result, [&](const Definition& d) { return wholes.count(d.target) > 0; });
  return result;
}

}  // namespace attn::plan
