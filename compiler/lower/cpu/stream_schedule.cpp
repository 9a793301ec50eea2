// Where a streaming kernel computes what, and in what order.
#include "compiler/lower/cpu/register_tile.h"
#include "compiler/lower/cpu/stream_scheduler.h"

namespace attn::lower {

namespace {

constexpr int kBlockRows = 96;

}  // namespace

// The loops that both results share: blocks of rows, and the batch.
void StreamScheduler::schedule_result(Func f, const Var* inner) {
  f.split(i_, block_, i_, kBlockRows / tiles_.rows * tiles_.rows, TailStrategy::GuardWithIf);
  std::vector<VarOrRVar> order = {i_, block_};
  if (inner) order.insert(order.begin(), *inner);
  for (size_t k = batch_vars_.size(); k-- > 0;) order.push_back(batch_vars_[k]);
  f.reorder(order).never_partition_all();
  for (const Var& b : batch_vars_) f.parallel(b);
  f.parallel(block_);
}

void StreamScheduler::schedule_results() {
  Func z = results_.back();
  if (sum_) {
    const int features = static_cast<int>(constant(features_));
    const bool has_feature = z.args().size() > batch_vars_.size() + 1;
    schedule_result(z, has_feature ? &d_ : nullptr);
    if (has_feature) {
      // A bound of 0 would not cover what Halide asks of loops that two results share.
      if (features > 0) z.bound(d_, 0, features_);
      z.vectorize(d_, lanes_,
                  features > 0 && features % lanes_ == 0 ? TailStrategy::RoundUp
                                                         : TailStrategy::GuardWithIf);
      if (features > 0) z.unroll(d_);
    }
  }
  if (writes_planes_) {
    Func planes = results_[0];
    schedule_result(planes, &plane_);
    planes.bound(plane_, 0, 2).unroll(plane_);
    if (sum_) planes.compute_with(z, block_);
  }
}

void StreamScheduler::schedule_all() {
  schedule_results();
  Func z = results_.back();
  const bool known = constant(features_) >= 0;
  LoopLevel of_block(z, block_);
  LoopLevel of_batch =
      batch_vars_.empty() ? LoopLevel(z, Var::outermost()) : LoopLevel(z, batch_vars_.back());
  Var rows("rows");
  for (auto& [pack, left] : left_)
    left.compute_at(of_block).vectorize(d_, lanes_, TailStrategy::GuardWithIf);
  for (auto& [pack, right] : right_) {
    right.func.compute_at(of_batch)
        .update()
        .allow_race_conditions()
        .reorder({right.columns[0], d_, right.columns[1], jp_})
        .vectorize(right.columns[0])
        .never_partition({jp_});
  }
  if (panel_.defined()) {
    panel_.compute_at(of_batch).vectorize(dd_, lanes_).unroll(dd_);
    if (panel_.has_update_definition()) panel_.update().vectorize(dd_, lanes_).unroll(dd_);
  }

  if (non_finite_.found.defined()) non_finite_.compute_at(of_batch, lanes_);
  finished_.compute_at(of_block)
      .bound_extent(ii_, tiles_.rows)
      .bound_extent(x_, padded_ + (writes_planes_ ? 2 * lanes_ : 0))
      .reorder(x_, ii_, t_)
      .vectorize(x_, lanes_);
  if (known) finished_.unroll(x_);
  LoopLevel of_row(finished_, ii_);
  top_.compute_at(of_row).vectorize(l_, lanes_).update().reorder(l_, rc_max_).vectorize(l_, lanes_);
  merged_.compute_at(of_row)
      .bound_extent(x_, panel_features_ + lanes_)
      .vectorize(x_, lanes_)
      .unroll(x_)
      .update()
      .reorder(x_, dp_, rc_)
      .vectorize(x_, lanes_)
      .unroll(x_);
  if (known) {
    merged_.unroll(dp_);
    merged_.update().unroll(dp_);
  }
  factor_.compute_at(merged_, rc_).vectorize(l_, lanes_);
  total_.compute_at(of_row).update().atomic().vectorize(over_lanes_);

  packed_.compute_at(of_block)
      .bound_storage(c_, blocks_of(columns_, tiles_.chunk))
      .bound_extent(ii_, tiles_.rows)
      .bound_extent(x_, panel_features_ + 2 * lanes_);
  packed_.update()
      .split(ii_, rows, ii_, tiles_.sum_rows)
      .reorder({x_, ii_, rows, dp_, t_, c_})
      .vectorize(x_, lanes_)
      .unroll(x_)
      .unroll(ii_)
      .never_partition_all();
  LoopLevel of_tile(packed_, t_);
  if (sum_) {
    register_tile(partial_.compute_at(packed_, rows), {dd_, ii_}, lanes_);
    partial_.update().unroll(rj_[0], tiles_.unroll);
    // In registers and beside the sum: a deeper nest, or one inside of the sum, takes registers
    // from the sum's loop, where there are 16.
    if (has_fallback(*sum_)) register_tile(fallback_.compute_at(packed_, rows), {dd_, ii_}, lanes_);
  }
  for (size_t n = 0; n < tile_funcs_.size(); ++n) schedule_tile(static_cast<int>(n), of_tile);
  const int together = rows_together();
  for (const auto& [f, r] : {std::pair(largest_lanes_, rm_), {total_lanes_, rs_}}) {
    Func lanes = f;
    lanes.compute_at(of_tile).vectorize(l_, lanes_).unroll(ii_, together);
    lanes.update()
        .split(ii_, rows, ii_, together)
        .reorder(l_, ii_, r[0], r[1], rows)
        .vectorize(l_, lanes_)
        .unroll(ii_);
  }
  largest_.compute_at(of_tile)
      .unroll(ii_, together)
      .update()
      .atomic()
      .vectorize(over_lanes_)
      .unroll(ii_, together);
  for (Func f : {weights_, contributions_}) {
    if (!f.defined()) continue;
    f.compute_at(of_tile)
        .bound_extent(c_, 1)
        .bound_storage(j_, tiles_.chunk)
        .bound_extent(ii_, tiles_.rows);
    f.update()
        .allow_race_conditions()
        .reorder(rw_[0], rw_[1], rw_[2], rw_[3], rw_[4])
        .vectorize(rw_[0])
        .unroll(rw_[1]);
  }
}

void StreamScheduler::schedule_tile(int index, const LoopLevel& of_tile) {
  Func tile = tile_funcs_[index];
  const RDom& r = tile_domains_[index];
  tile.compute_at(of_tile)
      .bound_extent(c_, 1)
      .bound_storage(j_, tiles_.chunk)
      .bound_extent(ii_, tiles_.rows);
  unroll_in_vectors(tile.update().allow_race_conditions(), {r[0], r[1], r[2], r[3], r[4]}, 2,
                    lanes_);
  const std::vector<TilesSpec::Dot>& dots = spec_.dots[index];
  if (dots.empty()) return;
  Func sum = dots_[index];
  sum.compute_at(tile, r[2]).bound_extent(jj_, panel_columns_).bound_extent(ii_, tiles_.score_rows);
  register_tile(sum, {jj_, ii_}, lanes_);
  for (size_t k = 0; k < dots.size(); ++k) {
    const int64_t length = constant(dots[k].length);
    if (length > 0 && length % tiles_.unroll == 0)
      sum.update(static_cast<int>(k))
          .unroll(RVar(sum.rvars(static_cast<int>(k))[0]), tiles_.unroll);
  }
}

std::vector<Func> StreamScheduler::schedule() {
  if (sum_ && !sum_->has_panel_at()) pack_panel();
  if (sum_ && has_fallback(*sum_)) non_finite_ = find_non_finite(sum_->panel, tiles_.chunk);
  score();
  sum_chunks();
  merge();
  for (const Result& r : spec_.results)
    if (r.is_written) results_.push_back(output(r));
  schedule_all();
  return results_;
}

}  // namespace attn::lower
