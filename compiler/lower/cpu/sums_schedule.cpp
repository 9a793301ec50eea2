// Where a kernel of sums over tiles computes what, and in what order.

#include "compiler/lower/cpu/register_tile.h"
#include "compiler/lower/cpu/sums_scheduler.h"

namespace attn::lower {

// Memory for one part of one batch at a time: others run beside it.
void SumsScheduler::keep_for_a_part(Func f) const {
  f.bound_storage(h_, 1).hoist_storage(LoopLevel(sums_[0].sums, column_part_));
}

// What readers of a pack ask of its features, in whole vectors. Where data says which are needed,
// Halide would ask the data how much memory that is.
Expr SumsScheduler::features_stored(int index) const {
  const Expr length = max(spec_.packs[index].length, 1);
  const auto in_whole = [&](int width) { return (length + (width - 1)) / width * width; };
  Expr most = in_whole(lanes_);
  for (size_t k = 0; k < sums_.size(); ++k)
    if (spec_.results[k].panel == index) most = max(most, in_whole(sums_[k].tile.vectors * lanes_));
  return simplify(most);
}

void SumsScheduler::schedule_packs(const LoopLevel& chunk, const LoopLevel& tile) {
  for (auto& [key, p] : packs_) {
    Func f = p.func;
    const Side& side = this->side(p.of_rows);
    f.compute_at(p.of_rows ? tile : chunk)
        .bound_storage(side.within, side.block)
        .bound_storage(side.at_block, 1);
    if (spec_.seen_by_data) f.bound_storage(d_, features_stored(key.first));
    keep_for_a_part(f);
    Stage stage = f.update();
    stage.allow_race_conditions();
    std::vector<VarOrRVar> order = {d_, p.domain[0], p.domain[1], p.domain[2]};
    if (p.transposed) {
      // Dense loads, scattered stores.
      Var outer("outer");
      stage.split(d_, outer, d_, lanes_);
      order.insert(order.begin() + 3, outer);
    }
    stage.reorder(order).vectorize(d_, lanes_);
    if (p.transposed) stage.unroll(p.domain[0]);
  }
}

void SumsScheduler::schedule_tiles(const LoopLevel& tile) {
  for (size_t k = 0; k < tiles_.size(); ++k) {
    Func f = tiles_[k];
    const RDom& r = tile_domains_[k];
    f.compute_at(tile);
    for (const Side* side : {&column_side_, &row_side_})
      f.bound_storage(side->within, side->block).bound_storage(side->at_block, 1);
    keep_for_a_part(f);
    unroll_in_vectors(f.update().allow_race_conditions(), {r[0], r[1], r[2], r[3]}, 2, lanes_)
        .never_partition_all();
    if (spec_.dots[k].empty()) continue;
    Func dot = dots_[k];
    dot.compute_at(f, r[2]);
    register_tile(dot, {j_, i_}, lanes_);
  }
}

// The loops of a result from the innermost: its own, then those that all results share.
std::vector<VarOrRVar> SumsScheduler::loop_order(Sum& r, std::vector<VarOrRVar> inner) const {
  Stage stage = r.sums.update();
  stage.allow_race_conditions()
      .rename(r.domain[2], row_block_)
      .rename(r.domain[3], column_chunk_)
      .rename(r.domain[4], column_part_);
  for (size_t k = 0; k < r.batch.size(); ++k) stage.rename(r.batch[k], batch_loops_[k]);
  inner.push_back(row_block_);
  inner.push_back(column_chunk_);
  inner.push_back(column_part_);
  for (size_t k = batch_loops_.size(); k-- > 0;) inner.push_back(batch_loops_[k]);
  return inner;
}

void SumsScheduler::schedule_result(int index) {
  Sum& r = sums_[index];
  const Result& s = spec_.results[index];
  if (s.kind() == TilesSpec::Kind::scatter)
    schedule_scatter(r, s);
  else
    schedule_sums(r, s);
  Stage stage = r.sums.update();
  for (int k = 0; k < static_cast<int>(batch_loops_.size()); ++k)
    if (!serial_.count(k)) stage.parallel(batch_loops_[k]);
  if (constant(parts_) != 1) stage.parallel(column_part_);
  stage.never_partition({row_block_, column_chunk_, column_part_});
  for (const RVar& b : batch_loops_) stage.never_partition({b});
  if (index > 0) stage.compute_with(sums_[0].sums.update(), row_block_);
}

void SumsScheduler::schedule_sums(Sum& r, const Result& s) {
  const int width = r.tile.vectors * lanes_;
  const bool has_features = s.features.defined();
  Stage stage = r.sums.update();
  std::vector<VarOrRVar> inner = {r.domain[0], r.domain[1]};
  if (has_features) inner = {d_, r.domain[0], dy_, r.domain[1]};
  const std::vector<VarOrRVar> order = loop_order(r, inner);
  if (has_features) {
    // A bound of 0 would not cover what Halide asks of loops that several results share.
    if (constant(s.features) > 0) r.sums.bound(d_, 0, s.features);
    r.sums.vectorize(d_, lanes_, TailStrategy::GuardWithIf);
    stage.split(d_, dy_, d_, width, TailStrategy::GuardWithIf);
  }
  stage.reorder(order).unroll(r.domain[0]);
  if (has_features) stage.vectorize(d_, lanes_).unroll(d_);
  for (int k = 0; k < static_cast<int>(batch_vars_.size()); ++k)
    if (!s.summed_batch.count(k)) r.sums.parallel(batch_vars_[k]);
  r.part.bound_extent(u_, r.tile.rows);
  if (has_features) {
    r.part.compute_at(r.sums, dy_).bound_extent(d_, width);
    register_tile(r.part, {d_, u_}, lanes_);
  } else {
    r.part.compute_at(r.sums, r.domain[1]);
    register_tile(r.part, {u_}, r.tile.rows);
  }
}

void SumsScheduler::add_in_order(Func out, const RDom& part) const {
  std::vector<Var> vars = out.args();
  std::vector<VarOrRVar> order(vars.begin(), vars.end());
  order.emplace_back(RVar(part));
  out.vectorize(vars[0], lanes_, TailStrategy::GuardWithIf);
  out.update().reorder(order).vectorize(vars[0], lanes_, TailStrategy::GuardWithIf);
}

std::vector<Func> SumsScheduler::schedule() {
  for (size_t k = 0; k < spec_.dots.size(); ++k) add_tile(static_cast<int>(k));
  for (size_t k = 0; k < spec_.results.size(); ++k) add_result(static_cast<int>(k));
  std::vector<Func> outputs;
  for (size_t k = 0; k < sums_.size(); ++k) {
    schedule_result(static_cast<int>(k));
    outputs.push_back(output(static_cast<int>(k)));
  }
  const LoopLevel chunk(sums_[0].sums, column_chunk_), tile(sums_[0].sums, row_block_);
  schedule_fallbacks();
  schedule_packs(chunk, tile);
  schedule_tiles(tile);
  return outputs;
}

}  // namespace attn::lower
