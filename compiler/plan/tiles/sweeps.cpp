// The kernels of one group.
#include <algorithm>

#include "compiler/plan/maps.h"
#include "compiler/plan/tiles/tiles.h"

namespace attn::plan {
namespace {

using namespace ir;

class Sweeps {
 public:
  Sweeps(Graph& g, const solve::Unmaterialised& unmaterialised, const Group& group,
         const std::vector<Kernel>& others)
      : g_(g), unmaterialised_(unmaterialised), group_(group) {
    for (const Kernel& k : others) {
      const std::set<TensorId> operands = reads(k.definitions);
      for (const Definition& d : k.definitions) operands_of_kernel_.emplace(d.target, operands);
    }
  }

  bool find() {
    number();
    for (TensorId t : group_.readers) {
      misfit = t;
      const Definition& d = *g_.definition_of(t);
      if (d.combine != Combine::logsumexp) continue;
      if (!is_over_columns(d)) return false;
      add_stream(t);
    }
    std::map<int, std::vector<TensorId>> sweeps;
    for (TensorId t : group_.readers) {
      if (streamed_.count(t)) continue;
      misfit = t;
      std::optional<ResultOf> r = result_of(g_, unmaterialised_, group_, *g_.definition_of(t), {});
      if (!r) return false;
      results_.emplace(t, std::move(*r));
      sweeps[level_.at(t)].push_back(t);
    }
    for (const auto& [level, members] : sweeps) {
      // Tiles that are only there to be stored are better not tiles.
      if (std::ranges::all_of(members, [&](TensorId t) { return unmaterialised_(t); })) {
        misfit = members[0];
        return false;
      }
      add_sums(members);
    }
    return true;
  }

  TensorId misfit;
  GroupKernels found;

 private:
  // Sweeps, from 0: of a tile the first in which it can be computed, of a result the one that
  // computes it; of anything else, the first after which it is there.
  void number() {
    const std::set<TensorId> readers(group_.readers.begin(), group_.readers.end());
    for (const Definition& d : g_.definitions) {
      int level = 0;
      auto other = operands_of_kernel_.find(d.target);
      for (TensorId t : other == operands_of_kernel_.end() ? reads(d) : other->second) {
        auto before = there_.find(t);
        if (before != there_.end()) level = std::max(level, before->second);
      }
      level_[d.target] = level;
      there_[d.target] = level + static_cast<int>(readers.count(d.target));
    }
  }

  bool is_over_columns(const Definition& d) const {
    const Names& names = group_.names.at(d.target);
    return d.reduced.size() == 1 && names.count(d.reduced[0]) &&
           names.at(d.reduced[0]) == group_.axes.column && g_[d.target].storage == Storage::f32 &&
           d.free.size() + 1 == names.size();
  }

  // The maps among the tiles, each without the others in it.
  std::map<TensorId, Definition> maps() {
    std::map<TensorId, Definition> result;
    for (const Definition& d : g_.definitions)
      if (group_.tiles.count(d.target) && d.combine == Combine::set)
        result.emplace(d.target, substitute_maps(g_, d, result));
    return result;
  }

  void add_stream(TensorId t) {
    const std::map<TensorId, Definition> inside = maps();
    const Definition lse = substitute_maps(g_, *g_.definition_of(t), inside);
    const std::map<IndexId, Expr> values = values_of(group_.names.at(t));
    Scores scores{substitute(lse.body, values), substitute(lse.guard, values),
                  substitute(g_.target(lse), values)};
    TilesForm s{.batch = group_.axes.batch, .row = group_.axes.row, .column = group_.axes.column};
    TileResult of_rows{
        .kind = TileResult::Kind::logsumexp, .tensor = t, .panel = 1.0, .scale = 1.0};
    for (IndexId i : lse.free) of_rows.free.push_back(group_.names.at(t).at(i));
    std::set<TensorId> needed = tensors(scores.argument);
    insert_all(needed, tensors(scores.visible));
    for (TensorId tile : needed_tiles(std::move(needed)))
      s.tiles.push_back(tile_of(g_, group_, tile));
    s.tiles.push_back({.value = scores.argument, .visible = scores.visible});
    std::vector<TileResult> none;
    fuse_tiles(g_, s.tiles, none);
    of_rows.tile = s.tiles.size() - 1;
    s.results.push_back(of_rows);
    streamed_.insert(t);
    std::set<TensorId> later;
    for (const auto& [tensor, n] : there_)
      if (n > level_.at(t)) later.insert(tensor);
    std::vector<Definition> last = {*g_.definition_of(t)};
    for (TensorId sum : group_.readers) {
      if (s.results.size() > 1 || streamed_.count(sum)) continue;
      if (auto weighted = streamed_sum(sum, scores, inside, later, last)) {
        weighted->tile = of_rows.tile;
        s.results.push_back(std::move(*weighted));
      }
    }
    // A map that the sum has inside is not the kernel's.
    Kernel kernel;
    for (TensorId tile : needed_tiles(reads(*g_.definition_of(t))))
      kernel.definitions.push_back(*g_.definition_of(tile));
    kernel.definitions.insert(kernel.definitions.end(), last.begin(), last.end());
    kernel.form = std::move(s);
    found.kernels.push_back(std::move(kernel));
  }

  // The sum in the terms of the scores, its definition among the kernel's; or nothing.
  std::optional<TileResult> streamed_sum(TensorId t, const Scores& scores,
                                         const std::map<TensorId, Definition>& maps,
                                         const std::set<TensorId>& later,
                                         std::vector<Definition>& definitions) {
    const Definition d = *g_.definition_of(t);
    if (d.combine != Combine::sum) return {};
    Graph g = g_;  // it may get tensors for a sum that does not fit
    const std::optional<ResultOf> r =
        result_of(g, unmaterialised_, group_, substitute_maps(g, d, maps), later);
    if (!r) return {};
    std::optional<TileResult> sum = weighted_sum(g, scores, *r);
    if (!sum || reads_any(*sum, later) || reads_any(*sum, group_.tiles)) return {};
    g_ = std::move(g);
    streamed_.insert(t);
    definitions.push_back(r->stored);
    replace(t, *r);
    return sum;
  }

  static bool reads_any(const TileResult& s, const std::set<TensorId>& some) {
    std::set<TensorId> read = tensors(s.weight);
    insert_all(read, tensors(s.panel));
    insert_all(read, tensors(s.panel_guard));
    insert_all(read, tensors(s.counted));
    insert_all(read, tensors(s.scale));
    return has_any(some, read);
  }

  void replace(TensorId t, const ResultOf& r) {
    std::vector<Definition>& by = found.replaced[t];
    by = {r.stored};
    if (r.rest) by.push_back(*r.rest);
  }

  void add_sums(const std::vector<TensorId>& members) {
    TilesForm s{.batch = group_.axes.batch, .row = group_.axes.row, .column = group_.axes.column};
    Kernel kernel;
    std::set<TensorId> needed;
    for (TensorId t : members) {
      const ResultOf& r = results_.at(t);
      insert_all(needed, tensors(r.weight));
      insert_all(needed, tensors(r.counted));
    }
    for (TensorId tile : needed_tiles(needed)) {
      s.tiles.push_back(tile_of(g_, group_, tile));
      kernel.definitions.push_back(*g_.definition_of(tile));
    }
    for (TensorId t : members) {
      ResultOf r = results_.at(t);
      Conditions hidden;
      for (const Expr& f : factors_of(r.weight))
        for (const Tile& tile : s.tiles)
          if (f.is(Kind::read) && f->tensor == tile.tensor)
            hidden.insert(tile.visible.begin(), tile.visible.end());
      if (!r.weight.is(Kind::read)) r.counted.insert(hidden.begin(), hidden.end());
      r.result.tile = weight_tile(s.tiles, r.weight, r.counted);
      s.results.push_back(r.result);
      kernel.definitions.push_back(r.stored);
      replace(t, r);
    }
    fuse_tiles(g_, s.tiles, s.results);
    kernel.form = std::move(s);
    found.kernels.push_back(std::move(kernel));
  }

  // The tiles among `needed` and what they read, in order.
  std::vector<TensorId> needed_tiles(std::set<TensorId> needed) const {
    std::vector<TensorId> result;
    for (size_t k = g_.definitions.size(); k-- > 0;) {
      const Definition& d = g_.definitions[k];
      if (!group_.tiles.count(d.target) || !needed.count(d.target)) continue;
      needed.merge(reads(d));
      result.insert(result.begin(), d.target);
    }
    return result;
  }

  Graph& g_;
  const solve::Unmaterialised& unmaterialised_;
  const Group& group_;
  // Of kernels of other groups, by what they compute.
  std::map<TensorId, std::set<TensorId>> operands_of_kernel_;
  std::map<TensorId, int> level_, there_;
  std::map<TensorId, ResultOf> results_;
  std::set<TensorId> streamed_;
};

}  // namespace

std::optional<GroupKernels> kernels_of(Graph& g, const solve::Unmaterialised& unmaterialised,
                                       const Group& group, const std::vector<Kernel>& others,
                                       TensorId& misfit) {
  Sweeps sweeps(g, unmaterialised, group, others);
  if (sweeps.find()) return std::move(sweeps.found);
  misfit = sweeps.misfit;
  return std::nullopt;
}

}  // namespace attn::plan
