// Claims unmaterialised tensors with the definitions that read them, group by group.
#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/tiles/tiles.h"

namespace attn::plan {
namespace {

using namespace ir;

// The definitions in an order in which each kernel's stand together, after all that they read.
// `first` gets the target of each kernel's first.
std::vector<Definition> in_order(std::vector<Definition> definitions,
                                 const std::vector<Kernel>& kernels, std::vector<TensorId>& first) {
  struct Unit {
    std::vector<Definition> definitions;
    size_t kernel = SIZE_MAX;
  };
  std::map<TensorId, size_t> kernel_of;
  for (size_t k = 0; k < kernels.size(); ++k)
    for (const Definition& d : kernels[k].definitions) kernel_of.emplace(d.target, k);
  std::vector<Definition> result;
  first.assign(kernels.size(), {});
  std::set<TensorId> awaited;
  for (const Definition& d : definitions) awaited.insert(d.target);
  const auto must_wait = [&](const Unit& unit) {
    return has_any(awaited, unit.kernel == SIZE_MAX ? reads(unit.definitions)
                                                    : reads(kernels[unit.kernel].definitions));
  };
  const auto emit = [&](Unit& unit) {
    if (must_wait(unit)) return false;
    if (unit.kernel != SIZE_MAX) first[unit.kernel] = unit.definitions[0].target;
    for (Definition& d : unit.definitions) {
      awaited.erase(d.target);
      result.push_back(std::move(d));
    }
    return true;
  };
  std::vector<Unit> waiting;
  std::set<size_t> placed;
  for (Definition& d : definitions) {
    Unit unit;
    if (const auto found = kernel_of.find(d.target); found == kernel_of.end()) {
      unit.definitions.push_back(std::move(d));
    } else {
      unit.kernel = found->second;
      if (!placed.insert(unit.kernel).second) continue;
      // A tile of several kernels stands with the first.
      for (const Definition& member : kernels[unit.kernel].definitions)
        if (kernel_of.at(member.target) == unit.kernel) unit.definitions.push_back(member);
    }
    if (!emit(unit)) {
      waiting.push_back(std::move(unit));
      continue;
    }
    while (std::erase_if(waiting, emit) > 0) {
    }
  }
  ATTN_CHECK(waiting.empty(), "kernels of a group wait for one another");
  return result;
}

// Puts the definitions that the kernels compute in place of the group's; tiles that no kernel needs
// are gone.
void replace(Graph& g, const Group& group, const GroupKernels& by) {
  std::set<TensorId> needed;
  for (const Kernel& k : by.kernels)
    for (const Definition& d : k.definitions) needed.insert(d.target);
  std::vector<Definition> definitions;
  for (const Definition& d : g.definitions) {
    if (auto found = by.replaced.find(d.target); found != by.replaced.end())
      definitions.insert(definitions.end(), found->second.begin(), found->second.end());
    else if (!group.tiles.count(d.target) || needed.count(d.target))
      definitions.push_back(d);
  }
  g.definitions = std::move(definitions);
}

// Whether it defines an unmaterialised tensor that tiles can hold.
bool is_candidate(const Graph& g, const solve::Unmaterialised& unmaterialised,
                  const Definition& d) {
  const bool combines = d.combine == Combine::set || d.combine == Combine::sum;
  return unmaterialised(d.target) && combines && g[d.target].storage == Storage::f32 &&
         d.free.size() > 1;
}

std::set<TensorId> candidates_of(const Graph& g, const solve::Unmaterialised& unmaterialised) {
  std::set<TensorId> candidates;
  for (const Definition& d : g.definitions)
    if (is_candidate(g, unmaterialised, d)) candidates.insert(d.target);
  return candidates;
}

// A tile that is better stored: a sum that a kernel would compute at each point on its own, with
// enough terms to pay for writing the tile and reading it again. One of its factors is stored and
// has as many elements as the tile, each of which several points read: a kernel that stores the sum
// reads them once.
std::optional<TensorId> better_stored(const Graph& g, const Costs& costs,
                                      const std::set<TensorId>& candidates, const Group& group) {
  for (TensorId t : group.tiles) {
    const Definition& d = *g.definition_of(t);
    const std::set<IndexId> free(d.free.begin(), d.free.end());
    if (points(g, {d.reduced.begin(), d.reduced.end()}) < costs.least_point_terms) continue;
    std::set<IndexId> axes;
    for (auto [own, of_group] : group.names.at(t))
      if (of_group == group.axes.row || of_group == group.axes.column) axes.insert(own);
    for (const Expr& site : read_sites(d.body)) {
      const std::set<IndexId> used = indices(site);
      const bool is_apart = !has_all(used, axes) || has_none(used, d.reduced);
      if (!candidates.count(site->tensor) && !is_apart && !has_all(used, free) &&
          points(g, used) >= points(g, free))
        return t;
    }
  }
  return std::nullopt;
}

// One group made kernels of, and the graph with what they compute.
struct Attempt {
  Graph graph;
  Group group;
  GroupKernels found;
};

// The group of a tensor; `misfit` is what does not fit, or is better stored, where there is none.
std::optional<Attempt> attempt(const Graph& g, const Costs& costs,
                               const solve::Unmaterialised& unmaterialised,
                               const std::set<TensorId>& candidates, TensorId seed,
                               const std::vector<Kernel>& others, TensorId& misfit) {
  Attempt a{.graph = g, .group = {}, .found = {}};
  std::optional<Group> group = grow_group(a.graph, costs, candidates, seed, misfit);
  if (!group) return std::nullopt;
  std::optional<GroupKernels> found = kernels_of(a.graph, unmaterialised, *group, others, misfit);
  if (!found) return std::nullopt;
  if (const auto tile = better_stored(a.graph, costs, candidates, *group)) {
    misfit = *tile;
    return std::nullopt;
  }
  a.group = std::move(*group);
  a.found = std::move(*found);
  replace(a.graph, a.group, a.found);
  return a;
}

}  // namespace

// All groups at once, asked for at the first tensor of any: what does not fit one is stored for it.
std::optional<Proposal> claim_tiles(const Graph& given, const Costs& costs, const Open& open) {
  if (!is_candidate(given, open.unmaterialised, given.definitions[open.at])) return std::nullopt;
  std::set<TensorId> candidates = candidates_of(given, open.unmaterialised);
  // Groups may store a candidate after the definition at which they were asked for.
  if (has_any(open.claimed, candidates)) return std::nullopt;
  for (size_t n = 0; n < open.at; ++n)
    if (candidates.count(given.definitions[n].target)) return std::nullopt;
  Graph g = given;
  split_inner_sums(g, candidates);
  std::vector<Kernel> kernels;
  std::vector<TensorId> first;  // that each computes
  for (std::set<TensorId> left = candidates; !left.empty();) {
    TensorId misfit;
    if (auto made =
            attempt(g, costs, open.unmaterialised, candidates, *left.begin(), kernels, misfit)) {
      const std::vector<Kernel>& own = made->found.kernels;
      kernels.insert(kernels.end(), own.begin(), own.end());
      g = std::move(made->graph);
      g.definitions = in_order(std::move(g.definitions), kernels, first);
      for (TensorId t : made->group.tiles) left.erase(t);
      continue;
    }
    // What the misfit reads is stored for it, and the rest tried again.
    std::set<TensorId> stored = {misfit};
    if (!candidates.count(misfit)) stored = reads(*g.definition_of(misfit));
    for (TensorId t : stored) {
      candidates.erase(t);
      left.erase(t);
    }
  }
  Proposal proposal;
  for (size_t k = 0; k < kernels.size(); ++k)
    proposal.kernels.push_back({first[k], std::move(kernels[k])});
  proposal.graph = std::move(g);
  return proposal;
}

}  // namespace attn::plan
