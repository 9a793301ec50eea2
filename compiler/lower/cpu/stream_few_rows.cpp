// A streaming kernel for few rows, such as the one token of a decoding step: memory decides its
// time, so nothing is packed. The columns are read where they lie, one row after the other, each
// row in two sweeps: its scores, which fit the cache, then the weighted sum.
#include "compiler/lower/cpu/tiles_scheduler.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/terms/vector_math.h"

namespace attn::lower {

namespace {

constexpr float kFloor = -3.0e38f;  // scores at or below it count as hidden
constexpr int kBlock = 64;          // columns that conditions leave out together
constexpr int kTogether = 4;        // columns whose dots are taken at once

class FewRowsScheduler : TilesScheduler {
 public:
  FewRowsScheduler(const TilesSpec& spec, const Target& target)
      : TilesScheduler(spec, target),
        sum_(spec.find(TilesSpec::Kind::weighted)),
        features_(sum_ && sum_->features.defined() ? sum_->features : Expr(1)) {}

  std::vector<Func> schedule() {
    for (size_t n = 0; n < spec_.dots.size(); ++n) add_tile(static_cast<int>(n));
    add_weights();
    if (sum_) add_sum();
    for (const Result& r : spec_.results)
      if (r.is_written) results_.push_back(output(r));
    schedule_all();
    return results_;
  }

 private:
  TilesSpec::Point point(const Expr& column) const {
    return {batch_of(h_), row_at(i_), column_at(column)};
  }

  // Within a block, then blocks; of the blocks those that the row sees something of.
  RDom columns(const char* name, int unit) const {
    RDom r({{0, kBlock / unit}, {0, blocks_of(spec_.columns, kBlock)}}, name);
    const Expr from = r[1] * kBlock;
    const Edges& edges = spec_.columns_of_rows;
    if (edges.end) r.where(from < clamp(edges.end(row_at(i_), row_at(i_)), 0, spec_.columns));
    if (edges.first) r.where(from + kBlock > edges.first(row_at(i_), row_at(i_)));
    if (const SeenByData& data = spec_.seen_by_data) {
      const Expr first = clamp(data.first(h_, row_at(i_), row_at(i_)), 0, spec_.columns);
      const Expr end = clamp(data.end(h_, row_at(i_), row_at(i_)), 0, spec_.columns);
      r.where(unsolved(from < end && from + kBlock > first));
    }
    return r;
  }

  // The products of a tile: lanes along the features, then what is left of them.
  void add_tile(int index) {
    const std::string name = "out_tile" + std::to_string(index);
    Func sum(name + "_dot"), tile(name);
    sum(j_, i_, h_) = 0.0f;
    for (const TilesSpec::Dot& dot : spec_.dots[index]) {
      const auto product = [&](const Expr& d) -> Expr {
        const Expr feature = in_range(d, dot.length);
        if (!dot.is_packed()) return spec_.product(dot, point(j_), feature);
        return spec_.factor(dot.left, batch_of(h_), row_at(i_), feature) *
               spec_.factor(dot.right, batch_of(h_), column_at(j_), feature);
      };
      const std::string stem = name + "_" + std::to_string(sum.num_update_definitions());
      RDom k(0, dot.length / lanes_, stem + "_k"), along(0, lanes_, stem + "_along"),
          rest(dot.length / lanes_ * lanes_, dot.length % lanes_, stem + "_rest");
      Func lanes(stem + "_lanes");
      lanes(l_, j_, i_, h_) = 0.0f;
      lanes(l_, j_, i_, h_) += product(k * lanes_ + l_);
      sum(j_, i_, h_) += lanes(along, j_, i_, h_);
      sum(j_, i_, h_) += product(rest);
      dots_.push_back({lanes, sum, k, along, rest});
    }
    const RDom r = columns((name + "_r").c_str(), 1);
    const Expr j = r[1] * kBlock + r[0];
    const bool last = index + 1 == static_cast<int>(spec_.dots.size());
    const Expr dot = spec_.dots[index].empty() ? Expr(0.0f) : Expr(sum(j, i_, h_));
    const auto earlier = [&](int n) -> Expr { return tiles_[n](j, i_, h_); };
    tile(j_, i_, h_) = undef<float>();
    tile(j, i_, h_) = select(unsolved(j < spec_.columns),
                             spec_.value(index, point(j), dot, earlier), last ? kLowest : 0.0f);
    tiles_.push_back(tile);
    sums_.push_back(sum);
    domains_.push_back(r);
  }

  void add_weights() {
    const int vectors = kBlock / lanes_;
    rm_ = columns("rm", lanes_);
    rs_ = columns("rs", lanes_);
    over_lanes_ = RDom(0, lanes_, "rl");
    const auto column = [&](const RDom& r) { return (r[1] * vectors + r[0]) * lanes_ + l_; };
    largest_lanes_(l_, i_, h_) = kFloor;
    largest_lanes_(l_, i_, h_) =
        max(largest_lanes_(l_, i_, h_), tiles_.back()(column(rm_), i_, h_));
    largest_(i_, h_) = kFloor;
    largest_(i_, h_) = max(largest_(i_, h_), largest_lanes_(over_lanes_, i_, h_));
    rw_ = columns("rw", 1);
    const Expr j = rw_[1] * kBlock + rw_[0];
    weights_(j_, i_, h_) = undef<float>();
    weights_(j, i_, h_) = vector_exp(tiles_.back()(j, i_, h_) - largest_(i_, h_), -60.0f);
    total_lanes_(l_, i_, h_) = 0.0f;
    total_lanes_(l_, i_, h_) += weights_(column(rs_), i_, h_);
    total_(i_, h_) = 0.0f;
    total_(i_, h_) += total_lanes_(over_lanes_, i_, h_);
  }

  void add_sum() {
    rj_ = columns("rj", 1);
    const Expr j = rj_[1] * kBlock + rj_[0];
    rj_.where(rj_[0] < spec_.columns - rj_[1] * kBlock);
    const Expr feature = clamped(d_, features_);
    Expr weight = weights_(j, i_, h_);
    if (sum_->has_weight()) weight = weight * spec_.weight(*sum_, point(j));
    Expr product = weight * (sum_->has_panel_at()
                                 ? spec_.panel_at(*sum_, point(j), feature)
                                 : spec_.factor(sum_->panel, batch_of(h_), column_at(j), feature));
    if (!sum_->visible.empty() &&
        (sum_->has_panel_at() || has_fallback(*sum_) || sum_->hides_weight())) {
      const auto tile = [&](int n) -> Expr { return tiles_[n](j, i_, h_); };
      product = masked(spec_.visible(*sum_, point(j), tile), product, 0.0f);
    }
    partial_(d_, i_, h_) = 0.0f;
    partial_(d_, i_, h_) += product;
  }

  Func output(const Result& r) {
    const bool planes = r.kind() == TilesSpec::Kind::logsumexp;
    std::vector<Var> vars = vars_of(r, i_, d_);
    const Expr batch = linear_batch(), total = total_(i_, batch);
    Func out(planes ? "out_planes" : "out");
    if (planes) {
      vars.push_back(plane_);
      const Expr high = select(total > 0, largest_(i_, batch), kLowest);
      const Expr logarithm = select(total > 0, log(max(total, 1e-30f)), 0.0f);
      out(vars) = select(plane_ == 0, high, select(has_finite_bits(total), logarithm, total));
      return out;
    }
    const bool has_feature = vars.size() > batch_vars_.size() + 1;
    const Expr feature = has_feature ? Expr(d_) : Expr(0);
    const Expr inverse = select(total > 0, 1.0f / max(total, 1e-30f), 0.0f);
    out(vars) = spec_.scaled(
        r, batch_of(batch), in_range(i_, rows_), has_feature ? in_range(d_, features_) : Expr(0),
        partial_(feature, i_, batch) * select(has_finite_bits(total), inverse, total));
    return out;
  }

  void schedule_all() {
    Func z = results_.back();
    for (Func f : results_) {
      std::vector<VarOrRVar> order = {i_};
      const std::vector<Var> vars = f.args();
      const bool is_planes = vars.back().name() == plane_.name();
      if (is_planes)
        order.insert(order.begin(), plane_);
      else if (vars.size() > batch_vars_.size() + 1)
        order.insert(order.begin(), d_);
      for (size_t k = batch_vars_.size(); k-- > 0;) order.push_back(batch_vars_[k]);
      f.reorder(order).never_partition_all();
      for (const Var& b : batch_vars_) f.parallel(b);
      if (is_planes)
        f.bound(plane_, 0, 2).unroll(plane_);
      else if (order.size() > batch_vars_.size() + 1)
        f.vectorize(d_, lanes_, TailStrategy::GuardWithIf);
    }
    if (results_.size() > 1) results_[0].compute_with(z, i_);
    const LoopLevel of_row(z, i_);
    for (size_t n = 0; n < tiles_.size(); ++n) {
      const RDom& r = domains_[n];
      tiles_[n]
          .compute_at(of_row)
          .update()
          .allow_race_conditions()
          .reorder(r[0], r[1])
          .vectorize(r[0], lanes_);
      if (!spec_.dots[n].empty()) schedule_sum(sums_[n], LoopLevel(tiles_[n], r[1]));
    }
    for (const DotFuncs& dot : dots_) schedule_dot(dot);
    for (Func f : {largest_lanes_, total_lanes_})
      f.compute_at(of_row).vectorize(l_, lanes_).update().vectorize(l_, lanes_);
    for (Func f : {largest_, total_}) f.compute_at(of_row).update().atomic().vectorize(over_lanes_);
    weights_.compute_at(of_row).update().allow_race_conditions().vectorize(rw_[0], lanes_);
    if (!sum_) return;
    partial_.compute_at(of_row).vectorize(d_, lanes_);
    Stage update = partial_.update();
    update.reorder(d_, rj_[0], rj_[1]).vectorize(d_, lanes_);
    if (const int known = static_cast<int>(constant(features_)); known > 0) {
      partial_.bound_extent(d_, (known + lanes_ - 1) / lanes_ * lanes_).unroll(d_);
      update.unroll(d_);
    }
  }

  struct DotFuncs {
    Func lanes, sum;
    RDom k, along, rest;
  };

  void schedule_sum(Func sum, const LoopLevel& of_block) {
    sum.compute_at(of_block).bound_extent(j_, kBlock).vectorize(j_, lanes_);
  }

  void schedule_dot(const DotFuncs& dot) {
    Var outer("outer"), inner("inner");
    Func sum = dot.sum, lanes = dot.lanes;
    const int at = update_of(dot);
    sum.update(at)
        .atomic()
        .vectorize(dot.along)
        .split(j_, outer, inner, kTogether)
        .reorder(RVar(dot.along), inner, outer)
        .unroll(inner);
    sum.update(at + 1).reorder(RVar(dot.rest), j_);
    lanes.compute_at(sum, outer).vectorize(l_).unroll(j_);
    lanes.update().reorder(l_, j_, RVar(dot.k)).vectorize(l_).unroll(j_);
  }

  // Which of the updates of its sum: two a dot.
  int update_of(const DotFuncs& wanted) const {
    int at = 0;
    for (const DotFuncs& dot : dots_) {
      if (dot.lanes.name() == wanted.lanes.name()) return at;
      if (dot.sum.name() == wanted.sum.name()) at += 2;
    }
    return at;
  }

  const Result* const sum_;  // beside the log-sum-exp, or null
  const Expr features_;
  std::vector<Func> tiles_, sums_, results_;
  std::vector<RDom> domains_;
  std::vector<DotFuncs> dots_;
  Func largest_lanes_{"out_largest_lanes"}, largest_{"out_largest"}, weights_{"out_weights"},
      total_lanes_{"out_total_lanes"}, total_{"out_total"}, partial_{"out_partial"};
  RDom rm_, rs_, rw_, rj_, over_lanes_;
  Var plane_{"plane"};
};

}  // namespace

Funcs cpu::schedule_few_rows(const plan::TilesForm& form, const Scope& scope,
                             const Target& target) {
  const TilesSpec spec(scope, form);
  return FewRowsScheduler(spec, target).schedule();
}

}  // namespace attn::lower
