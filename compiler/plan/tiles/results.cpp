// Definitions that read tiles as results of a kernel.
#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/tiles/tiles.h"
#include "compiler/solve/out_of_sum.h"
#include "compiler/solve/prove.h"

namespace attn::plan {

using namespace ir;

namespace {

class Conversion {
 public:
  Conversion(Graph& g, const solve::Unmaterialised& unmaterialised, const Group& group,
             const Definition& d, const std::set<TensorId>& later)
      : g_(g),
        unmaterialised_(unmaterialised),
        d_(d),
        names_(group.names.at(d.target)),
        axes_(group.axes),
        tiles_(group.tiles),
        later_(later) {
    for (auto [own, shared] : names_) own_[shared] = own;
  }

  std::optional<ResultOf> run() {
    if (d_.combine != Combine::sum && d_.combine != Combine::set) return {};
    if (arithmetic_type(g_[d_.target].storage) != Type::f32) return {};
    if (own_.size() != axes_.batch.size() + 2) return {};
    if (!has_all(names_, d_.reduced)) return {};
    find_positions();
    const bool sums_rows = reduces(axes_.row), sums_columns = reduces(axes_.column);
    if (!sums_rows && !sums_columns) return each_point(0);
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
    for (const Expr& c : d_.guard)
      if (has_all(names_, indices(c))) of_points.insert(c);
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
        const std::set<IndexId> used = indices(value);
        const bool of_point = used.count(own_.at(axes_.row)) || used.count(own_.at(axes_.column));
        if (!has_all(names_, used) || !of_point) continue;
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

  // Adds at the group's indices, at positions, and of a feature at itself, where `guard` holds.
  void scatter_to(const std::vector<IndexId>& free, const Conditions& guard) {
    TileResult& r = result_.result;
    r.kind = TileResult::Kind::scatter;
    for (IndexId f : free)
      r.position.push_back(names_.count(f)       ? index_value(names_.at(f))
                           : positions_.count(f) ? shared(positions_.at(f))
                                                 : index_value(f));
    r.panel = r.scale = Expr(1.0);
    for (const Expr& c : guard)
      if (!of_positions_.count(c)) result_.counted.insert(shared(c));
  }

  // Each point adds its value at its own position, or its product with a row of features.
  std::optional<ResultOf> each_point(size_t most_features) {
    std::vector<IndexId> features;
    for (IndexId f : d_.free)
      if (!names_.count(f) && !positions_.count(f)) features.push_back(f);
    if (features.size() > most_features || g_[d_.target].storage != Storage::f32) return {};
    if (!features.empty() && features[0] != d_.free.back()) return {};
    std::vector<Expr> weight, panel;
    for (const Expr& f : factors_of(d_.body)) {
      const bool of_panel = has_any(indices(f), features);
      if (of_panel && reads_tiles(f)) return {};
      (of_panel ? panel : weight).push_back(f);
    }
    if (has_any(indices(d_.guard), features)) return {};
    scatter_to(d_.free, d_.guard);
    if (!features.empty()) result_.result.feature = features[0];
    result_.result.panel = shared(real_product(std::move(panel)));
    result_.weight = shared(real_product(std::move(weight)));
    result_.result.tensor = d_.target;
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
      if (has_all(names_, used) && (reads_tiles(f) || used.count(row) || used.count(column))) {
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
      const bool inside = std::ranges::all_of(
          used, [&](IndexId i) { return names_.count(i) || positions_.count(i); });
      (inside ? of_part : of_rest).insert(c);
    }
    for (const Expr& c : of_rest)
      for (IndexId i : {row, column})
        if (uses(c, i) && !kept.count(i)) return {};
    std::vector<IndexId> free;
    for (const auto& [i, s] : names_)
      if (kept.count(i)) free.push_back(i);
    for (const auto& [f, position] : positions_) free.push_back(f);
    if (unmaterialised_.is_unbounded(g_, g_.extents(free))) return each_point(1);
    Definition part{.target = {}, .free = free, .combine = Combine::sum, .where = d_.where};
    for (IndexId i : {row, column})
      if (!kept.count(i)) part.reduced.push_back(i);
    part.guard = of_part;
    part.body = real_product(std::move(inner));
    scatter_to(free, of_part);
    result_.weight = shared(part.body);
    leave_rest(part, outer, of_rest);
    return result_;
  }

  // A sum over the rows or the columns.
  std::optional<ResultOf> summed() {
    Parts p;
    if (!divide_factors(p) || !divide_guard(p) || p.features.size() > 1) return {};
    if (!p.features.empty() && p.panel.empty()) return {};
    // What is over more than the batch, the kept index and the feature comes after.
    std::vector<IndexId> free;
    for (IndexId i : axes_.batch) free.push_back(own_.at(i));
    free.push_back(kept_);
    free.insert(free.end(), p.features.begin(), p.features.end());
    const std::set<IndexId> all(free.begin(), free.end());
    std::vector<Expr> rest;
    std::erase_if(p.scale, [&](const Expr& f) {
      const bool goes = reads_any(f, later_) || !has_all(all, indices(f));
      if (goes) rest.push_back(f);
      return goes;
    });
    TileResult& r = result_.result;
    if (!p.features.empty()) r.feature = *p.features.begin();
    r.panel = shared(real_product(p.panel));
    r.scale = real_product(p.scale);
    result_.weight = shared(real_product(p.weight));
    const bool alone = rest.empty() && g_[d_.target].storage == Storage::f32;
    const bool whole = alone && (set_of(d_.free) == all || sums_batch(free));
    if (whole) r.scale = where(p.outer, r.scale);
    r.scale = shared(r.scale);
    for (IndexId i : whole ? d_.free : free) r.free.push_back(names_.count(i) ? names_.at(i) : i);
    if (whole) {
      r.tensor = d_.target;
      result_.stored = d_;
      return result_;
    }
    Definition part{.target = {}, .free = free, .combine = Combine::sum, .where = d_.where};
    part.reduced = {summed_};
    for (const Expr& c : d_.guard)
      if (!p.outer.count(c)) part.guard.insert(c);
    std::vector<Expr> inner;
    for (const auto* list : {&p.scale, &p.weight, &p.panel})
      inner.insert(inner.end(), list->begin(), list->end());
    part.body = real_product(std::move(inner));
    leave_rest(part, rest, p.outer);
    return result_;
  }

  static std::set<IndexId> set_of(const std::vector<IndexId>& list) {
    return {list.begin(), list.end()};
  }

  // Whether a sum of the rows is added up over the batch where it is, of which it would have a part
  // over `free` for each place: where those had more elements than all that the tiles are made of.
  bool sums_batch(std::vector<IndexId> free) const {
    const double parts = points(g_, set_of(free));
    std::erase_if(free, [&](IndexId i) { return contains(d_.reduced, i); });
    if (result_.result.kind != TileResult::Kind::columns || set_of(free) != set_of(d_.free))
      return false;
    std::set<TensorId> read = reads(d_);
    for (TensorId t : tiles_) read.merge(reads(*g_.definition_of(t)));
    double elements = 0;
    for (TensorId t : read) {
      double of_one = tiles_.count(t) ? 0 : 1;
      for (const Poly& p : g_[t].extents) of_one *= estimate(g_, p);
      elements += of_one;
    }
    return parts > elements;
  }

  // A sum's factors: of the points, of what is summed and the feature, of neither. Conditions that
  // do not use what is summed are `outer`.
  struct Parts {
    std::vector<Expr> weight, panel, scale;
    std::set<IndexId> features;
    Conditions outer;
  };

  bool divide_factors(Parts& p) const {
    for (const Expr& f : factors_of(d_.body)) {
      std::set<IndexId> own = indices(f);
      const bool is_summed = own.count(summed_) || reads_tiles(f);
      std::erase_if(own, [&](IndexId i) { return names_.count(i) > 0; });
      if (!is_summed) {
        p.scale.push_back(solve::out_of_sum(g_, f, {summed_}, d_.guard));
      } else if (own.empty()) {
        p.weight.push_back(f);
      } else {
        if (reads_tiles(f)) return false;
        p.panel.push_back(f);
        p.features.merge(own);
      }
    }
    return true;
  }

  bool divide_guard(Parts& p) {
    for (const Expr& c : d_.guard) {
      const std::set<IndexId> used = indices(c);
      if (!used.count(summed_)) {
        p.outer.insert(c);
        result_.outer.insert(shared(c));
        continue;
      }
      const bool has_feature = !has_all(names_, used);
      // 0 of the panel does not hide a weight that is infinite there.
      if (!has_feature) result_.counted.insert(shared(c));
      const bool of_panel = !used.count(kept_) && !reads_tiles(c);
      if (has_feature && !of_panel) return false;
      if (!has_feature && (p.panel.empty() || !of_panel)) continue;
      for (IndexId i : used)
        if (!names_.count(i)) p.features.insert(i);
      result_.result.panel_guard.insert(shared(c));
    }
    return true;
  }

  // `part` gets a tensor; the definition becomes the sum of it, times `factors`, over what is left.
  void leave_rest(Definition part, std::vector<Expr> factors, const Conditions& guard) {
    part.target = g_.new_part(d_.target, ".part", Storage::f32, g_.extents(part.free));
    part.body = part.body.type() == Type::f32 ? part.body : part.body * Expr(1.0);
    Definition rest{
        .target = d_.target, .free = d_.free, .combine = Combine::sum, .where = d_.where};
    for (IndexId i : d_.reduced)
      if (contains(part.free, i)) rest.reduced.push_back(i);
    if (rest.reduced.empty()) rest.combine = Combine::set;
    rest.guard = guard;
    const Expr factor = multiply(std::move(factors)), sum = g_.target(part);
    rest.body = rest.combine == Combine::sum ? multiply({factor, sum})
                                             : solve::times_sum(g_, factor, sum, set_of(d_.free),
                                                                set_of(d_.reduced), d_.guard);
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
                                  const Group& group, const Definition& d,
                                  const std::set<TensorId>& later) {
  return Conversion(g, unmaterialised, group, d, later).run();
}

}  // namespace attn::plan
