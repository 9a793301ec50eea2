// Claims what no other kind takes: a definition as it is written, and a scatter with the map that
// adds it to others.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/scatters.h"
#include "compiler/solve/equalities.h"
#include "compiler/solve/running.h"

namespace attn::plan {
namespace {

using namespace ir;

// A product of which no factor alone has all points: no memory decides its time.
bool multiplies(const Definition& d, const std::set<IndexId>& points) {
  return d.body.is(Kind::multiply) &&
         std::ranges::none_of(read_sites(d.body), [&](const Expr& read) {
           return std::ranges::includes(indices(read), points);
         });
}

// Whether few points that each read an element of their own of one tensor give a result, and memory
// runs along the results in both: loops are as fast as memory.
bool pools_along_memory(const Graph& g, const Costs& costs, const Definition& d,
                        const std::set<IndexId>& all) {
  const std::vector<Expr> sites = read_sites(d);
  return points(g, {d.reduced.begin(), d.reduced.end()}) <= costs.most_pooled &&
         sites.size() == 1 && !d.free.empty() && std::ranges::includes(indices(sites[0]), all) &&
         tensors(sites[0]).size() == 1 && sites[0].args().back() == index_value(d.free.back());
}

// Why `d` lowers slowly as plain loops, or empty where loops are the right form (maps, small sums).
std::string why_slow(const Graph& g, const Costs& costs, const Definition& d) {
  if (d.reduced.empty()) return {};
  std::set<IndexId> all(d.free.begin(), d.free.end());
  all.insert(d.reduced.begin(), d.reduced.end());
  const auto scatters = solve::find_scatters(d);
  for (const solve::Scatter& s : scatters) all.erase(d.free[s.dimension]);  // each point once
  const bool scatter = !scatters.empty();
  if (points(g, all) < costs.slow_points || (scatter && !multiplies(d, all))) return {};
  if (sums_in_registers(g, costs, d) || runs_along(g, costs, d).valid()) return {};
  if (!scatter && pools_along_memory(g, costs, d, all)) return {};
  if (scatter) return "its products are added one by one where data says";
  return fmt::format("its {} is a plain loop{}", name_of(d.combine),
                     d.combine == Combine::sum ? ": no two factors of it can be packed apart"
                                               : " over all its points");
}

Claimed alone(const Graph& g, const Costs& costs, const Definition& d) {
  return {d.target,
          {.form = LoopsForm{.definition = d,
                             .together = mixed_in_place(g, costs, d),
                             .along = runs_along(g, costs, d)},
           .definitions = {d},
           .why = why_slow(g, costs, d)}};
}

// The scatter `sum` with the map that adds it to others.
Claimed added(const Graph& g, const Costs& costs, const Definition& sum, const Definition& map) {
  std::map<IndexId, Expr> names;
  for (size_t k = 0; k < map.free.size(); ++k) names.emplace(sum.free[k], index_value(map.free[k]));
  LoopsForm form{.definition = sum, .start = rest_of(map, sum.target)};
  substitute(form.definition, names);
  form.definition.free = map.free;
  form.definition.target = map.target;
  return {map.target,
          {.form = std::move(form), .definitions = {sum, map}, .why = why_slow(g, costs, sum)}};
}

// The free index in whose place `read` has the reduced one, if it reads a tensor like the target.
// Not the last: a plane runs along that.
IndexId index_of_planes(const Graph& g, const Definition& d, const Expr& read) {
  const Tensor &from = g[read->tensor], &to = g[d.target];
  if (from.storage != to.storage || !std::ranges::equal(from.extents, to.extents)) return {};
  for (IndexId i : d.free)
    if (i != d.free.back() && read.args() == index_values(mixed_point(d, i)) &&
        g.known(g[i].extent))
      return i;
  return {};
}

}  // namespace

IndexId mixed_in_place(const Graph& g, const Costs& costs, const Definition& d) {
  if (!d.guard.empty() || !d.position.empty() || !mixes_planes(g, costs, d)) return {};
  for (const Expr& f : factors_of(d.body))
    if (!f.is(Kind::read) && !tensors(f).empty()) return {};
  for (const Expr& read : read_sites(d.body))
    if (const IndexId i = index_of_planes(g, d, read); i.valid()) return i;
  return {};
}

IndexId runs_along(const Graph& g, const Costs& costs, const Definition& d) {
  const auto running = solve::find_running(g, d);
  return running && points(g, {running->term}) >= costs.least_running ? running->along : IndexId{};
}

bool sums_in_registers(const Graph& g, const Costs& costs, const Definition& d) {
  const bool is_short =
      std::ranges::all_of(d.reduced, [&](IndexId i) { return points(g, {i}) <= costs.most_mixed; });
  if (!is_short) return false;
  const IndexId along = read_along(g, costs, d);
  return (along.valid() && std::ranges::count(d.free, along) > 0) || mixes_planes(g, costs, d);
}

std::optional<Proposal> claim_loops(const Graph& g, const Costs& costs, const Open& open) {
  const Definition& d = g.definitions[open.at];
  const auto last_added = [&](const Definition& map) {
    const std::vector<TensorId> scatters = added_scatters(g, open, map);
    return scatters.empty() ? TensorId{} : scatters.back();
  };
  // Left to the map that adds it to others.
  for (size_t reader : open.uses.readers(d.target))
    if (last_added(g.definitions[reader]) == d.target) return std::nullopt;
  const TensorId sum = last_added(d);
  if (!sum.valid()) return Proposal{{alone(g, costs, d)}, {}};
  return Proposal{{added(g, costs, g.definitions[*open.uses.definition(sum)], d)}, {}};
}

}  // namespace attn::plan
