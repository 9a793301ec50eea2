#include "compiler/plan/kept.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/uses.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/segments.h"
#include "compiler/solve/compared.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {
namespace {

using namespace ir;

// An extreme is compared with what it was taken of, to find which elements it was. Where those are
// computed again it is, too: their last bits may be others than in forward. Drops such extremes
// from `kept`.
void drop_extremes(const Graph& later, std::map<TensorId, TensorId>& kept) {
  const auto is_given = [&](TensorId t) { return is_argument(later[t].role) || kept.count(t) > 0; };
  std::vector<std::pair<TensorId, Expr>> pairs;  // an extreme, and what it is compared with
  for (const Expr& comparison : solve::comparisons(later))
    for (const size_t side : {0, 1}) {
      const Expr& y = comparison.args()[side];
      const Definition* d = y.is(Kind::read) ? later.definition_of(y->tensor) : nullptr;
      if (d && (d->combine == Combine::max || d->combine == Combine::min))
        pairs.emplace_back(y->tensor, comparison.args()[1 - side]);
    }
  // One that is dropped may be an element of another.
  const auto is_stale = [&](const auto& pair) {
    return kept.count(pair.first) && !std::ranges::all_of(tensors(pair.second), is_given);
  };
  for (auto stale = pairs.end(); (stale = std::ranges::find_if(pairs, is_stale)) != pairs.end();)
    kept.erase(stale->first);
}

// What of the gradient forward has in memory. What is unmaterialised for forward would be too large
// to keep, if backward did not store it.
std::map<TensorId, TensorId> storable(const Function& forward, const Shared& shared,
                                      const std::set<TensorId>& stored) {
  const solve::Unmaterialised unmaterialised(forward.graph);
  std::set<TensorId> rolled;
  for (const Slice& s : forward.slices)
    if (is_rolled(forward, s)) rolled.insert(s.whole);
  std::map<TensorId, TensorId> kept;
  for (const Definition& d : shared.later.graph.definitions) {
    const auto same = shared.find(d.target);
    if (!same || !shared.forward.graph.definition_of(*same)) continue;
    const TensorId t = planned(shared.forward.graph, forward, *same);
    const Place place = forward.places[t.value];
    const bool is_small = !unmaterialised(t) || stored.count(d.target);
    const bool is_kept =
        place == Place::result || (place == Place::workspace && is_small && !rolled.count(t));
    if (is_kept && !shared.later.graph.is_output(d.target)) kept.emplace(d.target, t);
  }
  return kept;
}

// The maps of `backward` that are computed where they are read.
std::set<TensorId> inlined_maps(Graph backward, const Costs& costs) {
  std::set<TensorId> result;
  for (const Segment& s : segments_of(backward)) {
    const std::set<TensorId> inlined = choose_inlined(graph_of(backward, s), costs);
    result.insert(inlined.begin(), inlined.end());
  }
  return result;
}

// Whether backward can compute a tensor of what it has in any case.
bool has_operands(const Graph& backward, const Uses& uses, const Definition& d,
                  const std::set<TensorId>& dropped) {
  return d.combine == Combine::set && std::ranges::all_of(reads(d), [&](TensorId t) {
           return !dropped.count(t) && (is_argument(backward[t].role) || uses.definition(t));
         });
}

// Drops from `kept` the maps of a few operations that backward computes where it reads them, of
// what it has in any case: a normalised row that a product packs. What forward stores for backward
// alone stays, and steps of a recurrence, which backward would have to go through again.
void drop_inlined(const Function& forward, const Graph& later, const Costs& costs,
                  std::map<TensorId, TensorId>& kept) {
  const Request request = cut_given(forward, later, kept);
  const Uses uses(request.graph);
  const Needs needs(later);
  const std::set<TensorId> saved(request.saved.begin(), request.saved.end());
  std::set<TensorId> read;  // by forward's kernels
  for (const Kernel& k : forward.kernels) read.insert(k.reads.begin(), k.reads.end());
  std::set<TensorId> dropped;
  std::map<TensorId, TensorId> rest = kept;
  for (const Definition& d : later.definitions) {
    if (!saved.count(d.target) || !read.count(kept.at(d.target)) || needs.steps(d.target) ||
        cost(d.body) >= costs.least_saved || !has_operands(request.graph, uses, d, dropped))
      continue;
    dropped.insert(d.target);
    rest.erase(d.target);
  }
  const std::set<TensorId> inlined = inlined_maps(cut_given(forward, later, rest).graph, costs);
  std::erase_if(kept,
                [&](const auto& k) { return dropped.count(k.first) && inlined.count(k.first); });
}

}  // namespace

std::map<TensorId, TensorId> kept_by(const Function& forward, const Shared& shared,
                                     const Costs& costs, const std::set<TensorId>& stored) {
  std::map<TensorId, TensorId> kept = storable(forward, shared, stored);
  drop_inlined(forward, shared.later.graph, costs, kept);
  // Last: what is computed again may be what an extreme is compared with.
  drop_extremes(shared.later.graph, kept);
  return kept;
}

std::set<TensorId> stored_again(const Function& forward, const Function& backward,
                                const Shared& shared, const Costs& costs) {
  std::set<TensorId> result;
  for (const Definition& d : shared.later.graph.definitions) {
    const auto same = shared.find(d.target);
    if (!same || !shared.forward.graph.definition_of(*same)) continue;
    const auto is_found = [&](TensorId r) { return result.count(r) > 0; };
    if (d.combine == Combine::set && cost(d.body) < costs.least_saved &&
        std::ranges::none_of(reads(d), is_found))
      continue;
    const TensorId t = planned(shared.forward.graph, forward, *same);
    if (forward.places[t.value] == Place::workspace &&
        backward.places[d.target.value] == Place::workspace)
      result.insert(d.target);
  }
  return result;
}

}  // namespace attn::plan
