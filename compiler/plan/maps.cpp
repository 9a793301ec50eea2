#include "compiler/plan/maps.h"

#include <algorithm>
#include <map>

#include "compiler/ir/under.h"
#include "compiler/ir/uses.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/sets.h"
#include "compiler/solve/compared.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

bool is_read_in_condition(const Definition& d, TensorId t) {
  const auto reads_it = [&](const Expr& e) { return tensors(e).count(t) > 0; };
  return tensors(d.guard).count(t) || any_part(d.body, [&](const Expr& x) {
           return (x.is(Kind::select) && reads_it(x.args()[0])) ||
                  (x.is(Kind::read) && std::ranges::any_of(x.args(), reads_it));
         });
}

// The work of a reader does not grow: each of its points reads another element, up to indices
// of known small extent.
bool same_work(const Definition& reader, const std::vector<Expr>& sites) {
  if (sites.size() != 1) return false;
  const std::set<IndexId> used = indices(sites[0]);
  return has_all(used, reader.free) && has_all(used, reader.reduced);
}

bool is_sum_of_products(const Definition& reader) {
  return reader.combine == Combine::sum && reader.body.is(Kind::multiply);
}

// A contraction packs each factor on its own, so a factor may be computed anew: the other indices
// of the reader do not multiply its work much. Of another sum of products they do.
bool is_packed(const Graph& g, const Costs& costs, const Definition& reader) {
  if (!is_sum_of_products(reader)) return false;
  const std::optional<ContractionForm> c = contraction_of(g, costs, reader, nullptr);
  return c && packs(g, costs, *c);
}

// Whether an epilogue is expensive and reads other tensors at every point: a register tile would
// load them a few at a time, each load after the one before.
bool is_expensive_elsewhere(const Costs& costs, const Definition& map, TensorId sum) {
  if (cost(map.body) < costs.expensive_epilogue) return false;
  return std::ranges::any_of(read_sites(map.body), [&](const Expr& x) {
    return x->tensor != sum && indices(x).size() == map.free.size();
  });
}

// The sums that `map` can finish, as the header says.
std::vector<TensorId> operands_of(const Graph& g, const Costs& costs, const Uses& uses,
                                  const Definition& map) {
  if (map.combine != Combine::set) return {};
  std::vector<TensorId> result;
  for (TensorId t : reads(map)) {
    const auto place = uses.definition(t);
    if (!place || g.is_output(t)) continue;
    const Definition& sum = g.definitions[*place];
    if (!is_sum_of_products(sum) || uses.readers(t).size() != 1 || is_read_in_condition(map, t))
      continue;
    std::vector<Expr> here = read_sites(map, {t});
    bool own = !here.empty() && here[0].args().size() == map.free.size();
    for (const Expr& site : here)
      for (size_t k = 0; own && k < map.free.size(); ++k)
        own = site.args()[k] == index_value(map.free[k]) &&
              g.same(g[t].extents[k], g[map.target].extents[k]);
    if (own && !is_expensive_elsewhere(costs, map, t)) result.push_back(t);
  }
  return result;
}

// Whether readers are faster with a map in memory than without: several read it, one of them at the
// speed of memory, and it reads several tensors at all its points.
bool is_read_faster(const Graph& g, const Costs& costs, const Uses& uses, const Definition& d) {
  const std::vector<size_t>& own = uses.readers(d.target);
  std::set<TensorId> whole;
  for (const Expr& site : read_sites(d.body))
    if (has_all(indices(site), d.free)) whole.insert(site->tensor);
  return own.size() > 1 && whole.size() > 1 && std::ranges::any_of(own, [&](size_t n) {
           return sums_in_registers(g, costs, g.definitions[n]);
         });
}

bool is_inlined(const Graph& g, const Costs& costs, const Uses& uses, const Definition& d) {
  if (d.body->weight > kMostInlined || is_read_faster(g, costs, uses, d)) return false;
  const std::vector<size_t>& own = uses.readers(d.target);
  const Definition& first = g.definitions[own[0]];
  const bool one_reader = own.size() == 1;
  const bool in_map = one_reader && first.combine == Combine::set &&
                      same_work(first, read_sites(first, {d.target}));
  if (!operands_of(g, costs, uses, d).empty() && !in_map) return false;
  const int64_t total = cost(d.body) + static_cast<int64_t>(d.guard.size());
  const bool whole = !is_real(arithmetic_type(g[d.target].storage));
  const bool cheap = total <= costs.cheap_map || (whole && total <= 4 * costs.cheap_map);
  return cheap || in_map ||
         (one_reader && read_sites(first, {d.target}).size() == 1 &&
          (is_packed(g, costs, first) || same_work(first, read_sites(first, {d.target}))));
}

// The read of `site` as a tensor over the indices that it uses; its definition goes to `result`.
Expr gathered(Graph& g, const Expr& site, std::vector<Definition>& result) {
  const std::set<IndexId> used = indices(site);
  const Definition whole = with_fresh_indices(g, *g.definition_of(site->tensor)).definition;
  std::map<IndexId, Expr> at;
  for (size_t k = 0; k < whole.free.size(); ++k) at.emplace(whole.free[k], site.args()[k]);
  Definition d = whole;
  d.free.assign(used.begin(), used.end());
  substitute(d, at);
  d.target = g.new_part(site->tensor, ".at", g[site->tensor].storage, g.extents(d.free));
  const Expr value = g.target(d);
  result.push_back(with_fresh_indices(g, d).definition);
  return value;
}

}  // namespace

std::vector<Definition> compute_gathered(Graph& g, const solve::Unmaterialised& unmaterialised) {
  std::vector<Definition> result;
  std::set<TensorId> perhaps_unread;
  for (Definition d : std::vector<Definition>(g.definitions)) {
    std::map<Expr, Expr> again;
    for (const Expr& read : read_sites(d)) {
      if (!unmaterialised(read->tensor) || !g.definition_of(read->tensor) ||
          indices(read).size() == read.args().size())
        continue;
      perhaps_unread.insert(read->tensor);
      if (again.count(read)) continue;
      again.emplace(read, gathered(g, read, result));
      perhaps_unread.insert(result.back().target);
    }
    const auto replaced = [&](const Expr& x) { return again.count(x) ? again.at(x) : x; };
    if (!again.empty()) map_exprs(d, [&](const Expr& e) { return rewrite(e, replaced); });
    result.push_back(std::move(d));
  }
  // What was read at these places only is not computed as a whole, nor what only that has read.
  for (const Output& o : g.outputs) perhaps_unread.erase(o.tensor);
  for (size_t n = result.size(); n-- > 0;)
    if (!perhaps_unread.count(result[n].target))
      for (TensorId t : reads(result[n])) perhaps_unread.erase(t);
  std::erase_if(result, [&](const Definition& d) { return perhaps_unread.count(d.target) > 0; });
  return result;
}

Definition substitute_maps(const Graph& g, Definition d,
                           const std::map<TensorId, Definition>& maps) {
  const auto body_of = [&](const Expr& e, const Conditions& known) {
    if (!e.is(Kind::read) || !maps.count(e->tensor)) return e;
    const Definition& map = maps.at(e->tensor);
    std::map<IndexId, Expr> values;
    for (size_t k = 0; k < map.free.size(); ++k) values.emplace(map.free[k], e.args()[k]);
    Conditions guard;
    for (const Expr& c : substitute(map.guard, values))
      if (!known.count(c)) guard.insert(c);
    return where(guard, solve::assume(g, substitute(map.body, values), known));
  };
  Conditions guard;
  for (const Expr& c : d.guard) guard.merge(conjuncts(rewrite_under(c, {}, body_of)));
  d.guard = guard;
  d.body = solve::assume(g, rewrite_under(d.body, d.guard, body_of), d.guard);
  return normal_form(d);
}

std::vector<Definition> substitute_maps(const Graph& g, const std::set<TensorId>& gone) {
  std::map<TensorId, Definition> bodies;
  std::vector<Definition> result;
  for (const Definition& d : g.definitions) {
    const Definition done = substitute_maps(g, d, bodies);
    if (gone.count(d.target))
      bodies.emplace(d.target, done);
    else
      result.push_back(done);
  }
  return result;
}

std::map<TensorId, std::vector<TensorId>> epilogue_operands(const Graph& g, const Costs& costs) {
  const Uses uses(g);
  std::map<TensorId, std::vector<TensorId>> result;
  for (const Definition& d : g.definitions)
    if (auto operands = operands_of(g, costs, uses, d); !operands.empty())
      result.emplace(d.target, std::move(operands));
  return result;
}

std::set<TensorId> choose_inlined(const Graph& given, const Costs& costs) {
  // Its definitions take in what is chosen: a map that reads a sum through others may finish it.
  Graph g = given;
  Uses uses(g);
  const std::vector<bool> compared = solve::compared_tensors(g);
  std::set<TensorId> gone;
  std::map<TensorId, Definition> bodies;
  for (size_t k = 0; k < g.definitions.size(); ++k) {
    const Definition d = g.definitions[k];
    if (d.combine != Combine::set || g.is_output(d.target)) continue;
    if (g[d.target].role != Role::interior || uses.readers(d.target).empty()) continue;
    if (compared[d.target.value] && !solve::is_exact(d.body)) continue;
    if (!is_inlined(g, costs, uses, d)) continue;
    gone.insert(d.target);
    bodies = {{d.target, d}};
    uses.remove_reads(k, d);
    for (size_t n : std::vector<size_t>(uses.readers(d.target))) {
      Definition& reader = g.definitions[n];
      uses.remove_reads(n, reader);
      reader = substitute_maps(g, reader, bodies);
      uses.add_reads(n, reader);
    }
  }
  return gone;
}

}  // namespace attn::plan
