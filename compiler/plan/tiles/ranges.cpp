// One range for each index of a group.
#include "compiler/plan/tiles/tiles.h"
#include "compiler/solve/prove.h"

namespace attn::plan {

using namespace ir;

namespace {

Definition& definition(Graph& g, TensorId t) {
  for (Definition& d : g.definitions)
    if (d.target == t) return d;
  ATTN_CHECK(false, "a member of a group without definition");
  return g.definitions[0];
}

class Ranges {
 public:
  Ranges(Graph& g, Group& group) : g_(g), group_(group) {}

  bool find(TensorId& misfit) {
    for (IndexId i : group_.indices) {
      std::optional<Poly> extent = extent_of(i, misfit);
      if (!extent) return false;
      extents_.emplace(i, *extent);
    }
    return true;
  }

  void apply() {
    for (IndexId& shared : group_.indices) {
      const Poly extent = extents_.at(shared);
      bool alike = true;
      for (const auto& [t, names] : group_.names)
        for (auto [own, name] : names)
          alike = alike && (!(name == shared) || g_.same(g_[own].extent, extent));
      if (!alike) change(shared, extent);
    }
  }

 private:
  // What readers keep, or else the largest that they sum over.
  std::optional<Poly> extent_of(IndexId shared, TensorId& misfit) const {
    std::optional<Poly> kept, summed;
    for (TensorId t : group_.readers) {
      const Definition& d = *g_.definition_of(t);
      for (auto [own, name] : group_.names.at(t)) {
        if (!(name == shared)) continue;
        const Poly& extent = g_[own].extent;
        misfit = t;
        if (contains(d.free, own)) {
          if (kept && !g_.same(*kept, extent)) return {};
          kept = extent;
        } else if (!summed || solve::nonnegative(g_, extent - *summed)) {
          summed = extent;
        } else if (!solve::nonnegative(g_, *summed - extent)) {
          return {};
        }
      }
    }
    if (kept && summed && !solve::nonnegative(g_, *kept - *summed)) return {};
    if (kept) return kept;
    return summed ? summed : g_[shared].extent;
  }

  void change(IndexId& shared, const Poly& extent) {
    const IndexId fresh = g_.new_index(g_[shared].name, extent);
    for (auto& [t, names] : group_.names) {
      std::vector<IndexId> all;
      for (auto [own, name] : names)
        if (name == shared) all.push_back(own);
      for (IndexId own : all) {
        names.erase(own);
        names.emplace(g_.same(g_[own].extent, extent) ? own : replaced(t, own, extent), fresh);
      }
    }
    shared = fresh;
  }

  // A definition's index at another extent.
  IndexId replaced(TensorId t, IndexId own, const Poly& extent) {
    Definition& d = definition(g_, t);
    const Poly before = g_[own].extent;
    const IndexId fresh = g_.new_index(g_[own].name, extent);
    substitute(d, {{own, index_value(fresh)}});
    if (!solve::nonnegative(g_, before - extent))
      d.guard.insert(less(index_value(fresh), size_value(before)));
    for (IndexId& i : d.reduced)
      if (i == own) i = fresh;
    for (size_t k = 0; k < d.free.size(); ++k) {
      if (!(d.free[k] == own)) continue;
      d.free[k] = fresh;
      g_[t].extents[k] = extent;
    }
    return fresh;
  }

  Graph& g_;
  Group& group_;
  std::map<IndexId, Poly> extents_;  // by the group's index
};

}  // namespace

bool unify_ranges(Graph& g, Group& group, TensorId& misfit) {
  Ranges ranges(g, group);
  if (!ranges.find(misfit)) return false;
  ranges.apply();
  return true;
}

}  // namespace attn::plan
