#include "compiler/plan/results.h"

#include <algorithm>

#include "compiler/solve/prove.h"

namespace attn::plan {

using namespace ir;

namespace {

class Conversion {
 public:
  Conversion(Graph& g, const solve::Unmaterialised& unmaterialised, const Definition& d,
             const Names& names, const Axes& axes, const std::set<TensorId>& tiles,
             const std::set<TensorId>& later)
      : g_(g),
        unmaterialised_(unmaterialised),
        d_(d),
        names_(names),
        axes_(axes),
        tiles_(tiles),
        later_(later) {
    for (auto [own, shared] : names_) own_[shared] = own;
  }

  std::optional<ResultOf> run() {
    if (d_.combine != Combine::sum && d_.combine != Combine::set) return {};
    if (arithmetic_type(g_[d_.target].storage) != Type::f32) return {};
    if (own_.size() != axes_.batch.size() + 2) return {};
    for (IndexId i : d_.reduced)
      if (!names_.count(i)) return {};
    find_positions();
    const bool sums_rows = reduces(axes_.row), sums_columns = reduces(axes_.column);
    if (!sums_rows && !sums_columns) return each_point();
    if (!positions_.empty()) return scattered();
    result_.result.kind = sums_columns ? TileResult::Kind::rows : TileResult::Kind::columns;
    summed_ = own_.at(sums_columns ? axes_.column : axes_.row);
    kept_ = own_.at(sums_columns ? axes_.row : axes_.column);
    return summed();
  }

 private:
  bool reduces(IndexId shared) const { return contains(d_.reduced, own_.at(shared)); }

  bool reads_tiles(const Expr& e) const { return reads_any(e, tiles_); }

  // Free indices that an equality gives, and nothing else uses: n where n == e.
  void find_positions() {
    Conditions of_points;
    for (const Expr& c : d_.guard) {
      const std::set<IndexId> used = indices(c);
      if (std::all_of(used.begin(), used.end(), [&](IndexId i) { return names_.count(i) > 0; }))
        of_points.insert(c);
    }
    for (IndexId f : d_.free) {
      if (names_.count(f) || uses(d_.body, f)) continue;
      const Expr* equality = nullptr;
      int users = 0;
      for (const Expr& c : d_.guard) {
        if (!uses(c, f)) continue;
        ++users;
        if (c.is(Kind::is_zero)) equality = &c;
      }
      if (users != 1 || !equality) continue;
      const Expr& e = equality->args()[0];
      for (const Expr& value : {index_value(f) - e, index_value(f) + e}) {
        if (uses(value, f)) continue;
        std::set<IndexId> used = indices(value);
        const bool of_group =
            std::all_of(used.begin(), used.end(), [&](IndexId i) { return names_.count(i) > 0; });
        const bool of_point = used.count(own_.at(axes_.row)) || used.count(own_.at(axes_.column));
        if (!of_group || !of_point) continue;
        positions_.emplace(f, value);
        of_positions_.insert(*equality);
        // The equality said that the position exists.
        for (const Expr& c : {at_least_zero(value), less(value, size_value(g_[f].extent))})
          if (!solve::proves(g_, of_points, c)) result_.counted.insert(shared(c));
        break;
      }
    }
  }

  Expr shared(const Expr& e) const { return substitute(e, values_of(names_)); }

  // Every point of the group has a position of its own, or one for some of the batch.
  std::optional<ResultOf> each_point() {
    TileResult& r = result_.result;
    r.kind = TileResult::Kind::scatter;
    for (IndexId f : d_.free) {
      if (names_.count(f))
        r.position.push_back(index_value(names_.at(f)));
      else if (positions_.count(f))
        r.position.push_back(shared(positions_.at(f)));
      else
        return {};
    }
    if (g_[d_.target].storage != Storage::f32) return {};
    result_.weight = shared(d_.body);
    for (const Expr& c : d_.guard)
      if (!of_positions_.count(c)) result_.counted.insert(shared(c));
    r.panel = r.scale = Expr(1.0);
    r.tensor = d_.target;
    result_.stored = d_;
    return result_;
  }

  // A sum over the points of each position. What a position does not need is left to the rest.
  std::optional<ResultOf> scattered() {
    std::vector<Expr> inner, outer;
    std::set<IndexId> kept;
    for (IndexId i : axes_.batch) kept.insert(own_.at(i));
    const IndexId row = own_.at(axes_.row), column = own_.at(axes_.column);
    for (IndexId i : {row, column})
      if (!contains(d_.reduced, i)) kept.insert(i);
    for (const Expr& f : factors_of(d_.body)) {
      const std::set<IndexId> used = indices(f);
      const bool features =
          std::any_of(used.begin(), used.end(), [&](IndexId i) { return !names_.count(i); });
      if (!features && (reads_tiles(f) || used.count(row) || used.count(column))) {
        inner.push_back(f);
        continue;
      }
      if (reads_tiles(f) || (used.count(row) && used.count(column))) return {};
      outer.push_back(f);
      for (IndexId i : {row, column})
        if (used.count(i)) kept.insert(i);
    }
    if (kept.count(row) && kept.count(column)) return {};
    Conditions of_part, of_rest;
    for (const Expr& c : d_.guard) {
      const std::set<IndexId> used = indices(c);
      const bool inside = std::all_of(used.begin(), used.end(), [&](IndexId i) {
        return names_.count(i) || positions_.count(i);
      });
      (inside ? of_part : of_rest).insert(c);
    }
    for (const Expr& c : of_rest)
      for (IndexId i : {row, column})
        if (uses(c, i) && !kept.count(i)) return {};
    std::vector<IndexId> free;
    for (const auto& [i, s] : names_)
      if (kept.count(i)) free.push_back(i);
    for (const auto& [f, position] : positions_) free.push_back(f);
    std::vector<Poly> extents;
    for (IndexId i : free) extents.push_back(g_[i].extent);
    if (unmaterialised_.is_unbounded(g_, extents)) return scattered_features();
    Definition part{.target = {}, .free = free, .combine = Combine::sum, .where = d_.where};
    for (IndexId i : {row, column})
      if (!kept.count(i)) part.reduced.push_back(i);
    part.guard = of_part;
    part.body = inner.empty() ? Expr(1.0) : multiply(inner);
    TileResult& r = result_.result;
    r.kind = TileResult::Kind::scatter;
    for (IndexId f : free)
      r.position.push_back(names_.count(f) ? index_value(names_.at(f)) : shared(positions_.at(f)));
    r.panel = r.scale = Expr(1.0);
    result_.weight = shared(part.body);
    for (const Expr& c : of_part)
      if (!of_positions_.count(c)) result_.counted.insert(shared(c));
    leave_rest(part, outer, of_rest);
    return result_;
  }

  // Each point adds its product with a row of features at its own position.
  std::optional<ResultOf> scattered_features() {
    TileResult& r = result_.result;
    r.kind = TileResult::Kind::scatter;
    std::vector<IndexId> features;
    for (IndexId f : d_.free) {
      if (names_.count(f)) {
        r.position.push_back(index_value(names_.at(f)));
      } else if (positions_.count(f)) {
        r.position.push_back(shared(positions_.at(f)));
      } else {
        r.position.push_back(index_value(f));
        features.push_back(f);
      }
    }
    if (features.size() != 1 || !(features[0] == d_.free.back())) return {};
    if (g_[d_.target].storage != Storage::f32) return {};
    std::vector<Expr> weight, panel;
    for (const Expr& f : factors_of(d_.body)) {
      const bool of_panel = uses(f, features[0]);
      if (of_panel && reads_tiles(f)) return {};
      (of_panel ? panel : weight).push_back(f);
    }
    for (const Expr& c : d_.guard) {
      if (uses(c, features[0])) return {};
      if (!of_positions_.count(c)) result_.counted.insert(shared(c));
    }
    r.feature = features[0];
    r.panel = panel.empty() ? Expr(1.0) : shared(multiply(std::move(panel)));
    r.scale = Expr(1.0);
    r.tensor = d_.target;
    result_.weight = weight.empty() ? Expr(1.0) : shared(multiply(std::move(weight)));
    result_.stored = d_;
    return result_;
  }

  std::optional<ResultOf> summed() {
    TileResult& r = result_.result;
    std::vector<Expr> weight, panel, scale, rest;
    std::set<IndexId> features;
    for (const Expr& f : factors_of(d_.body)) {
      const std::set<IndexId> used = indices(f);
      std::set<IndexId> own;
      for (IndexId i : used)
        if (!names_.count(i)) own.insert(i);
      if (!used.count(summed_) && !reads_tiles(f)) {
        scale.push_back(solve::out_of_sum(g_, f, {summed_}, d_.guard));
      } else if (own.empty()) {
        weight.push_back(f);
      } else {
        if (reads_tiles(f)) return {};
        panel.push_back(f);
        features.merge(own);
      }
    }
    Conditions outer;
    for (const Expr& c : d_.guard) {
      const std::set<IndexId> used = indices(c);
      const bool has_feature =
          std::any_of(used.begin(), used.end(), [&](IndexId i) { return !names_.count(i); });
      if (!used.count(summed_)) {
        outer.insert(c);
        result_.outer.insert(shared(c));
        continue;
      }
      // 0 of the panel does not hide a weight that is infinite there.
      if (!has_feature) result_.counted.insert(shared(c));
      if (has_feature || (!panel.empty() && !used.count(kept_) && !reads_tiles(c))) {
        if (used.count(kept_) || reads_tiles(c)) return {};
        for (IndexId i : used)
          if (!names_.count(i)) features.insert(i);
        r.panel_guard.insert(shared(c));
      }
    }
    if (features.size() > 1) return {};
    // What is over more than the batch, the kept index and the feature comes after.
    std::vector<IndexId> free;
    for (IndexId i : axes_.batch) free.push_back(own_.at(i));
    free.push_back(kept_);
    free.insert(free.end(), features.begin(), features.end());
    std::erase_if(scale, [&](const Expr& f) {
      const std::set<IndexId> used = indices(f);
      const bool goes =
          reads_any(f, later_) ||
          std::any_of(used.begin(), used.end(), [&](IndexId i) { return !contains(free, i); });
      if (goes) rest.push_back(f);
      return goes;
    });
    if (!features.empty()) r.feature = *features.begin();
    r.panel = panel.empty() ? Expr(1.0) : shared(multiply(panel));
    if (!features.empty() && panel.empty()) return {};
    result_.weight = weight.empty() ? Expr(1.0) : shared(multiply(weight));
    const bool whole =
        free.size() == d_.free.size() && rest.empty() &&
        std::all_of(free.begin(), free.end(), [&](IndexId i) { return contains(d_.free, i); });
    if (whole && g_[d_.target].storage == Storage::f32) {
      r.scale = scale.empty() ? Expr(1.0) : multiply(std::move(scale));
      r.scale = shared(where(outer, r.scale));
      r.tensor = d_.target;
      for (IndexId i : d_.free) r.free.push_back(names_.count(i) ? names_.at(i) : i);
      result_.stored = d_;
      return result_;
    }
    Definition part{.target = {}, .free = free, .combine = Combine::sum, .where = d_.where};
    part.reduced = {summed_};
    for (const Expr& c : d_.guard)
      if (!outer.count(c)) part.guard.insert(c);
    std::vector<Expr> inner = scale;
    inner.insert(inner.end(), weight.begin(), weight.end());
    inner.insert(inner.end(), panel.begin(), panel.end());
    part.body = inner.empty() ? Expr(1.0) : multiply(std::move(inner));
    r.scale = scale.empty() ? Expr(1.0) : shared(multiply(std::move(scale)));
    for (IndexId i : free) r.free.push_back(names_.count(i) ? names_.at(i) : i);
    leave_rest(part, rest, outer);
    return result_;
  }

  // `part` gets a tensor; the definition becomes the sum of it, times `factors`, over what is left.
  void leave_rest(Definition part, std::vector<Expr> factors, const Conditions& guard) {
    Tensor t = g_[d_.target];
    t.name += ".part";
    t.role = Role::interior;
    t.storage = Storage::f32;
    t.extents.clear();
    for (IndexId i : part.free) t.extents.push_back(g_[i].extent);
    part.target = g_.new_tensor(t);
    part.body = part.body.type() == Type::f32 ? part.body : part.body * Expr(1.0);
    Definition rest{
        .target = d_.target, .free = d_.free, .combine = Combine::sum, .where = d_.where};
    for (IndexId i : d_.reduced)
      if (contains(part.free, i)) rest.reduced.push_back(i);
    if (rest.reduced.empty()) rest.combine = Combine::set;
    factors.push_back(g_.target(part));
    rest.guard = guard;
    rest.body = multiply(std::move(factors));
    result_.rest = with_fresh_indices(g_, rest).definition;
    result_.result.tensor = part.target;
    result_.stored = part;
  }

  Graph& g_;
  const solve::Unmaterialised& unmaterialised_;
  const Definition& d_;
  const Names& names_;
  const Axes& axes_;
  const std::set<TensorId>&tiles_, &later_;
  std::map<IndexId, IndexId> own_;  // of the definition, by the group's
  std::map<IndexId, Expr> positions_;
  Conditions of_positions_;
  IndexId summed_, kept_;
  ResultOf result_;
};

}  // namespace

std::optional<ResultOf> result_of(Graph& g, const solve::Unmaterialised& unmaterialised,
                                  const Definition& d, const Names& names, const Axes& axes,
                                  const std::set<TensorId>& tiles,
                                  const std::set<TensorId>& later) {
  return Conversion(g, unmaterialised, d, names, axes, tiles, later).run();
}

}  // namespace attn::plan
