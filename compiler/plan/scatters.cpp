#include "compiler/plan/scatters.h"

#include <algorithm>

#include "compiler/plan/sets.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {
namespace {

using namespace ir;

bool is_term(const Expr& e, const Definition& map, TensorId t) {
  return e.is(Kind::read) && e->tensor == t && e.args() == index_values(map.free);
}

// Whether `t` is a scatter that only `map` reads, as a term at its own point.
bool is_own_scatter(const Graph& g, const Open& open, const Definition& map, TensorId t) {
  const auto place = open.uses.definition(t);
  if (!place || g.is_output(t) || open.wanted.count(t) || open.claimed.count(t)) return false;
  const Definition& d = g.definitions[*place];
  const Tensor &of = g[t], &to = g[map.target];
  return d.combine == Combine::sum && d.position.empty() && open.uses.readers(t).size() == 1 &&
         read_sites(map, {t}).size() == 1 && of.storage == to.storage &&
         std::ranges::equal(of.extents, to.extents,
                            [&](const Poly& a, const Poly& b) { return g.same(a, b); }) &&
         std::ranges::any_of(map.body.args(),
                             [&](const Expr& term) { return is_term(term, map, t); }) &&
         !solve::find_scatters(d).empty();
}

// Whether the map finishes a product of matrices.
bool finishes_product(const Graph& g, const Costs& costs, const Open& open, const Definition& map) {
  const auto found = open.epilogues.find(map.target);
  return found != open.epilogues.end() && std::ranges::any_of(found->second, [&](TensorId t) {
           return !open.claimed.count(t) &&
                  contraction_of(g, costs, g.definitions[*open.uses.definition(t)], &map);
         });
}

// `map` as maps that add one of `scatters` each.
std::vector<Definition> divided(Graph& g, const Definition& map,
                                const std::vector<TensorId>& scatters, bool is_parted) {
  std::vector<Definition> result;
  Expr before = map.body;
  for (TensorId t : scatters) before = rest_of({.free = map.free, .body = before}, t);
  const auto part = [&](const Expr& body) {
    Definition d = map;
    d.target = g.new_part(map.target, ".part", g[map.target].storage, g[map.target].extents);
    d.body = body;
    result.push_back(normal_form(with_fresh_indices(g, d).definition));
    return g.read(d.target, index_values(map.free));
  };
  if (is_parted) before = part(before);
  for (size_t k = 0; k + 1 < scatters.size(); ++k) {
    const Expr scatter = g.read(scatters[k], index_values(map.free));
    before = before.is_zero() ? scatter : part(add({before, scatter}));
  }
  Definition last = map;
  last.body = add({before, g.read(scatters.back(), index_values(map.free))});
  result.push_back(normal_form(last));
  return result;
}

}  // namespace

std::vector<TensorId> added_scatters(const Graph& g, const Open& open, const Definition& map) {
  if (map.combine != Combine::set || !map.body.is(Kind::add) || !map.guard.empty() ||
      !map.position.empty() || g.updated_by(map.target).valid() || open.claimed.count(map.target))
    return {};
  std::vector<TensorId> result;
  std::set<TensorId> others, read;
  for (TensorId t : reads(map)) {
    if (!is_own_scatter(g, open, map, t)) {
      others.insert(t);
      continue;
    }
    read.merge(reads(g.definitions[*open.uses.definition(t)]));
    result.push_back(t);
  }
  if (has_any(read, others)) return {};
  std::ranges::sort(result, {}, [&](TensorId t) { return *open.uses.definition(t); });
  return result;
}

Expr rest_of(const Definition& map, TensorId t) {
  if (!map.body.is(Kind::add)) return is_term(map.body, map, t) ? Expr(0) : map.body;
  std::vector<Expr> rest;
  for (const Expr& term : map.body.args())
    if (!is_term(term, map, t)) rest.push_back(term);
  return add(std::move(rest));
}

Graph add_in_turn(Graph g, const Costs& costs, const Open& open) {
  std::vector<Definition> definitions;
  for (const Definition& d : std::vector<Definition>(g.definitions)) {
    std::vector<TensorId> scatters = added_scatters(g, open, d);
    // Products of the terms of each group are no scatters.
    std::erase_if(scatters, [&](TensorId t) {
      return contraction_of(g, costs, g.definitions[*open.uses.definition(t)], nullptr);
    });
    const bool is_parted = !scatters.empty() && finishes_product(g, costs, open, d);
    if (scatters.size() < 2 && !is_parted)
      definitions.push_back(d);
    else
      std::ranges::move(divided(g, d, scatters, is_parted), std::back_inserter(definitions));
  }
  g.definitions = std::move(definitions);
  return g;
}

}  // namespace attn::plan
