// Chunks of columns outside, blocks of rows inside. All results are updates over the same loops of
// (block, chunk), fused by compute_with, so that a tile is computed once and read by all of them
// while it is in the cache. Rules that make this work for every size: what is packed or tiled
// starts as `undef` and is set by one update over an explicit domain whose conditions are on blocks
// only; rows and columns beyond the end are clamped, and add the 0 that tiles hold there.
#include "compiler/lower/tile_schedule.h"

#include <algorithm>
#include <map>

#include "compiler/base/check.h"
#include "compiler/lower/linear_index.h"

namespace attn::lower {

using Halide::Expr;
using Halide::Func;
using Halide::LoopLevel;
using Halide::RDom;
using Halide::RVar;
using Halide::Stage;
using Halide::Var;
using Halide::VarOrRVar;

namespace {

struct Sizes {
  int rows, vectors;              // of a tile's register tile
  int block_rows, chunk_columns;  // of a tile
};

Sizes sizes_for(const TargetInfo& target) {
  if (target.level == Level::kV4) return {8, 3, 48, 144};
  return {4, 3, 48, 96};
}

// The register tile of a result: vectors of features, and rows that fit beside them.
struct SumTile {
  int vectors, rows;
};

SumTile sum_tile(const TargetInfo& target, int features) {
  const int lanes = target.lanes(Halide::Float(32));
  if (features == 0) return {0, std::min(lanes, 12) / 4 * 4};
  const int all = (features + lanes - 1) / lanes;
  int vectors = 1;
  const int most = target.level == Level::kV4 ? 5 : 4;
  for (int v = most; v > 1 && vectors == 1; --v)
    if (all % v == 0) vectors = v;
  static constexpr int kWide[] = {12, 12, 8, 6, 4}, kNarrow[] = {8, 6, 4, 2};
  return {vectors, target.level == Level::kV4 ? kWide[vectors - 1] : kNarrow[vectors - 1]};
}

class TileScheduler {
 public:
  TileScheduler(const TileSpec& spec, const TargetInfo& target);
  std::vector<Func> schedule();

 private:
  struct Packed {
    Func func;
    RDom domain;
    bool of_rows, transposed;
  };
  struct Result {
    Func sums, part;  // all of it; of one tile in registers
    RDom domain, summed;
    SumTile tile;
  };

  Expr batch_of(const Expr& h) const { return in_range(h, batches_); }
  Expr linear_batch() const;
  Expr needed(const Expr& i0, const Expr& i1, const Expr& j0, const Expr& j1, int slack) const;
  const Packed& pack(int index, bool transposed);
  void add_tile(int index);
  void add_result(int index);
  Func output(int index);
  void place_packs(const LoopLevel& chunk);
  void place_tiles(const LoopLevel& tile);
  void place_result(int index);
  // Computed once a batch: at its innermost loop, or before all.
  void once_a_batch(Func f) const;
  void keep_for_a_batch(Func f) const;

  const TileSpec& spec_;
  TargetInfo target_;
  const int lanes_;
  const Sizes sizes_;
  const int panel_;  // columns of a register tile
  int slack_ = 0;    // rows that a register tile of a result may lie beyond a tile's
  Expr rows_, columns_, batches_ = 1;  // at least 1
  std::vector<Var> batch_vars_;
  std::map<std::pair<int, bool>, Packed> packs_;
  std::vector<Func> dots_, tiles_;
  std::vector<RDom> tile_domains_;
  std::vector<Result> results_;
  Var d_{"d"}, i_{"i"}, j_{"j"}, ib_{"ib"}, jb_{"jb"}, h_{"h"}, n_{"n"}, u_{"u"}, b_{"b"};
  Var dy_{"dy"};
  RVar row_block_{"row_block"}, column_chunk_{"column_chunk"};
};

TileScheduler::TileScheduler(const TileSpec& spec, const TargetInfo& target)
    : spec_(spec),
      target_(target),
      lanes_(target.lanes(Halide::Float(32))),
      sizes_(sizes_for(target)),
      panel_(sizes_.vectors * lanes_),
      rows_(max(spec.rows, 1)),
      columns_(max(spec.columns, 1)) {
  for (size_t k = 0; k < spec.batch_extents.size(); ++k) {
    batches_ = batches_ * spec.batch_extents[k];
    batch_vars_.emplace_back("b" + std::to_string(k));
  }
  batches_ = Halide::Internal::simplify(batches_);
  for (const TileSpec::Result& r : spec.results)
    slack_ = std::max(slack_, sum_tile(target, r.features).rows - 1);
}

Expr TileScheduler::linear_batch() const {
  Expr linear = 0;
  for (size_t k = 0; k < batch_vars_.size(); ++k)
    linear = linear * spec_.batch_extents[k] + batch_vars_[k];
  return linear;
}

// Whether rows i0..i1 and columns j0..j1 hold anything, or are within `slack` of what does.
Expr TileScheduler::needed(const Expr& i0, const Expr& i1, const Expr& j0, const Expr& j1,
                           int slack) const {
  Expr all = i0 < spec_.rows + slack && j0 < spec_.columns + slack;
  const TileCells::Edges& e = spec_.columns_of_rows;
  if (e.end) all = all && j0 < e.end(i0 - slack, i1 + slack) + slack;
  if (e.first) all = all && j1 >= e.first(i0 - slack, i1 + slack) - slack;
  return all;
}

// Rows (or columns) of a factor with the features adjacent, or transposed.
const TileScheduler::Packed& TileScheduler::pack(int index, bool transposed) {
  auto found = packs_.find({index, transposed});
  if (found != packs_.end()) return found->second;
  const TileSpec::Pack& p = spec_.packs[index];
  Packed packed{Func(spec_.name + "_pack"), {}, p.of_rows, transposed};
  const int unit = p.of_rows ? sizes_.rows : panel_;
  const int block = p.of_rows ? sizes_.block_rows : sizes_.chunk_columns;
  const Var& at_block = p.of_rows ? ib_ : jb_;
  const Var& within = p.of_rows ? i_ : j_;
  const Expr& extent = p.of_rows ? rows_ : columns_;
  const Expr& true_extent = p.of_rows ? spec_.rows : spec_.columns;
  RDom r({{0, unit}, {0, block / unit}}, p.of_rows ? "rw" : "rc");
  r.where(at_block * block + r[1] * unit < true_extent + slack_);
  Expr inside = r[1] * unit + r[0];
  Expr place = in_range(min(at_block * block + inside, extent - 1), extent);
  Expr feature = in_range(min(d_, p.length - 1), p.length);
  Expr value = p.at(batch_of(h_), place, feature);
  if (transposed) {
    packed.func(within, d_, at_block, h_) = Halide::undef<float>();
    packed.func(inside, d_, at_block, h_) = value;
  } else {
    packed.func(d_, within, at_block, h_) = Halide::undef<float>();
    packed.func(d_, inside, at_block, h_) = value;
  }
  packed.domain = r;
  return packs_.emplace(std::pair(index, transposed), packed).first->second;
}

void TileScheduler::add_tile(int index) {
  const TileSpec::Tile& t = spec_.tiles[index];
  const std::string name = spec_.name + "_tile" + std::to_string(index);
  Func dot(name + "_dot"), tile(name);
  dot(j_, i_, ib_, jb_, h_) = 0.0f;
  for (size_t k = 0; k < t.dots.size(); ++k) {
    RDom rd(0, spec_.packs[t.dots[k].left].length, "rd" + std::to_string(k));
    dot(j_, i_, ib_, jb_, h_) += pack(t.dots[k].left, false).func(rd, i_, ib_, h_) *
                                 pack(t.dots[k].right, true).func(j_, rd, jb_, h_);
  }
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns, ti = sizes_.rows, pj = panel_;
  RDom r({{0, pj}, {0, ti}, {0, bq / ti}, {0, bk / pj}}, "rp");
  r.where(needed(ib_ * bq + r[2] * ti, ib_ * bq + r[2] * ti + (ti - 1), jb_ * bk + r[3] * pj,
                 jb_ * bk + r[3] * pj + (pj - 1), slack_));
  Expr within_j = r[3] * pj + r[0], within_i = r[2] * ti + r[1];
  Expr row = ib_ * bq + within_i, column = jb_ * bk + within_j;
  auto earlier = [&](int k) -> Expr { return tiles_[k](within_j, within_i, ib_, jb_, h_); };
  Expr sum = t.dots.empty() ? Expr(0.0f) : Expr(dot(within_j, within_i, ib_, jb_, h_));
  Expr value = t.value(batch_of(h_), in_range(min(row, rows_ - 1), rows_),
                       in_range(min(likely(column), columns_ - 1), columns_), sum, earlier);
  tile(j_, i_, ib_, jb_, h_) = Halide::undef<float>();
  tile(within_j, within_i, ib_, jb_, h_) =
      select(row < spec_.rows && column < spec_.columns, value, 0.0f);
  dots_.push_back(dot);
  tiles_.push_back(tile);
  tile_domains_.push_back(r);
}

void TileScheduler::add_result(int index) {
  const TileSpec::Result& s = spec_.results[index];
  const TileSpec::Tile& source = spec_.tiles[s.tile];
  const std::string name = spec_.name + "_result" + std::to_string(index);
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  Result result{Func(name), Func(name + "_part"), {}, {}, sum_tile(target_, s.features)};
  const int high = result.tile.rows, kept_block = s.of_rows ? bq : bk;
  const Expr kept_extent = s.of_rows ? rows_ : columns_;
  const Var &kept_at = s.of_rows ? ib_ : jb_, &summed_at = s.of_rows ? jb_ : ib_;
  const int summed_block = s.of_rows ? bk : bq;
  const Expr& summed_extent = s.of_rows ? spec_.columns : spec_.rows;

  // Of one tile, `high` rows or columns: what they see of the other.
  RDom r(0, summed_block, "rs" + std::to_string(index));
  Expr first_kept = kept_at * kept_block + b_ * high, place = summed_at * summed_block + r;
  r.where(place < summed_extent);
  const TileCells::Edges& e = s.of_rows ? spec_.columns_of_rows : spec_.rows_of_columns;
  if (e.end) r.where(place < e.end(first_kept, first_kept + (high - 1)));
  if (e.first) r.where(place >= e.first(first_kept, first_kept + (high - 1)));
  Expr kept_within = b_ * high + u_;
  Func tile = tiles_[s.tile];
  Expr weight = s.of_rows ? tile(r, kept_within, ib_, jb_, h_) : tile(kept_within, r, ib_, jb_, h_);
  Expr product = weight;
  if (s.features > 0) product = weight * pack(s.panel, false).func(d_, r, summed_at, h_);
  if (spec_.careful && source.visible) {
    Expr kept = in_range(min(first_kept + u_, kept_extent - 1), kept_extent);
    Expr other = in_range(place, max(summed_extent, 1));
    product = select(s.of_rows ? source.visible(batch_of(h_), kept, other)
                               : source.visible(batch_of(h_), other, kept),
                     product, 0.0f);
  }
  std::vector<Var> of_part = {u_, b_, ib_, jb_, h_};
  if (s.features > 0) of_part.insert(of_part.begin(), d_);
  result.part(of_part) = 0.0f;
  result.part(of_part) += product;
  result.summed = r;

  // Equal names and numbers of loops let compute_with fuse the results.
  RDom loops({{0, high},
              {0, kept_block / high},
              {0, blocks_of(rows_, bq)},
              {0, blocks_of(columns_, bk)}},
             "T");
  Expr x = loops[2], y = loops[3];
  loops.where(needed(x * bq, x * bq + (bq - 1), y * bk, y * bk + (bk - 1), 0));
  Expr own = (s.of_rows ? x * bq : y * bk) + loops[1] * high;
  loops.where(own < (s.of_rows ? spec_.rows : spec_.columns));
  std::vector<Expr> place_of_sum;
  std::vector<Var> vars;
  const int batches = static_cast<int>(batch_vars_.size());
  Expr kept = in_range(min(own + loops[0], kept_extent - 1), kept_extent);
  for (size_t k = s.dimensions.size(); k-- > 0;) {
    const int at = s.dimensions[k];
    vars.push_back(at < batches ? batch_vars_[at] : at == batches ? n_ : d_);
    place_of_sum.push_back(at < batches ? Expr(batch_vars_[at]) : at == batches ? kept : Expr(d_));
  }
  Expr h = linear_batch();
  result.sums(vars) = 0.0f;
  Expr feature = s.features > 0 ? in_range(d_, s.features) : Expr(0);
  std::vector<Expr> in_part = {loops[0], loops[1], x, y, h};
  if (s.features > 0) in_part.insert(in_part.begin(), d_);
  result.sums(place_of_sum) +=
      s.scaled(batch_of(h), kept, feature, result.part(in_part));
  result.domain = loops;
  results_.push_back(result);
}

// Careful kernels keep their sums aside and store what they repair.
Func TileScheduler::output(int index) {
  Result& r = results_[index];
  if (!spec_.careful) return r.sums;
  Func out(spec_.name + "_repaired" + std::to_string(index));
  std::vector<Var> vars = r.sums.args();
  std::vector<Expr> place(vars.begin(), vars.end());
  out(vars) = spec_.results[index].repaired(place, r.sums(place));
  r.sums.compute_root();
  return out;
}

void TileScheduler::once_a_batch(Func f) const {
  if (batch_vars_.empty()) {
    f.compute_root();
  } else {
    f.compute_at(LoopLevel(results_[0].sums, batch_vars_.back()));
  }
}

void TileScheduler::keep_for_a_batch(Func f) const {
  if (batch_vars_.empty()) {
    f.hoist_storage_root();
  } else {
    f.hoist_storage(LoopLevel(results_[0].sums, batch_vars_.back()));
  }
}

void TileScheduler::place_packs(const LoopLevel& chunk) {
  for (auto& [key, p] : packs_) {
    Func f = p.func;
    if (p.of_rows) {
      once_a_batch(f);
      f.bound_storage(i_, sizes_.block_rows);
    } else {
      f.compute_at(chunk).bound_storage(j_, sizes_.chunk_columns).bound_storage(jb_, 1);
      keep_for_a_batch(f);
    }
    Stage stage = f.update();
    stage.allow_race_conditions();
    if (p.transposed) {
      // Dense loads, scattered stores.
      RVar r0("r0"), r1("r1");
      Var outer("outer");
      stage.split(d_, outer, d_, lanes_)
          .split(p.domain[0], r0, r1, 4)
          .reorder({d_, r1, r0, outer, p.domain[1]})
          .vectorize(d_)
          .unroll(r1);
    } else {
      stage.reorder({d_, p.domain[0], p.domain[1]}).vectorize(d_, lanes_);
    }
  }
}

// A register tile: all of its variables unrolled, the first in vectors, reductions outside.
void register_tile(Func f, const std::vector<Var>& vars, const std::vector<RVar>& reduced,
                   int lanes) {
  f.vectorize(vars[0], lanes);
  for (const Var& v : vars) f.unroll(v);
  for (size_t k = 0; k < reduced.size(); ++k) {
    std::vector<VarOrRVar> order(vars.begin(), vars.end());
    order.push_back(reduced[k]);
    Stage stage = f.update(static_cast<int>(k));
    stage.reorder(order).vectorize(vars[0], lanes);
    for (const Var& v : vars) stage.unroll(v);
  }
}

void TileScheduler::place_tiles(const LoopLevel& tile) {
  for (size_t k = 0; k < tiles_.size(); ++k) {
    Func f = tiles_[k];
    const RDom& r = tile_domains_[k];
    f.compute_at(tile)
        .bound_storage(j_, sizes_.chunk_columns)
        .bound_storage(i_, sizes_.block_rows)
        .bound_storage(ib_, 1)
        .bound_storage(jb_, 1);
    keep_for_a_batch(f);
    f.update()
        .allow_race_conditions()
        .reorder(r[0], r[1], r[2], r[3])
        .vectorize(r[0], lanes_)
        .unroll(r[0])
        .unroll(r[1])
        .never_partition_all();
    if (spec_.tiles[k].dots.empty()) continue;
    Func dot = dots_[k];
    std::vector<RVar> reduced;
    for (int n = 0; n < dot.num_update_definitions(); ++n)
      reduced.emplace_back(dot.update(n).get_schedule().rvars()[0].var);
    dot.compute_at(f, r[2]);
    register_tile(dot, {j_, i_}, reduced, lanes_);
  }
}

void TileScheduler::place_result(int index) {
  Result& r = results_[index];
  const TileSpec::Result& s = spec_.results[index];
  const int width = r.tile.vectors * lanes_;
  const bool wide = s.features > 0;
  Stage stage = r.sums.update();
  stage.allow_race_conditions().rename(r.domain[2], row_block_).rename(r.domain[3], column_chunk_);
  std::vector<VarOrRVar> order = {r.domain[0], r.domain[1], row_block_, column_chunk_};
  if (wide) order = {d_, r.domain[0], dy_, r.domain[1], row_block_, column_chunk_};
  for (size_t k = batch_vars_.size(); k-- > 0;) order.push_back(batch_vars_[k]);
  if (wide) {
    r.sums.bound(d_, 0, s.features).vectorize(d_, lanes_, Halide::TailStrategy::GuardWithIf);
    stage.split(d_, dy_, d_, width, Halide::TailStrategy::GuardWithIf);
  }
  stage.reorder(order).unroll(r.domain[0]);
  if (wide) stage.vectorize(d_, lanes_).unroll(d_);
  for (const Var& b : batch_vars_) {
    r.sums.parallel(b);
    stage.parallel(b);
  }
  stage.never_partition({row_block_, column_chunk_});
  for (const Var& b : batch_vars_) stage.never_partition({b});
  if (index > 0) stage.compute_with(results_[0].sums.update(), row_block_);
  r.part.bound_extent(u_, r.tile.rows);
  if (wide) {
    r.part.compute_at(r.sums, dy_).bound_extent(d_, width);
    register_tile(r.part, {d_, u_}, {RVar(r.summed)}, lanes_);
  } else {
    r.part.compute_at(r.sums, r.domain[1]);
    register_tile(r.part, {u_}, {RVar(r.summed)}, r.tile.rows);
  }
}

std::vector<Func> TileScheduler::schedule() {
  for (size_t k = 0; k < spec_.tiles.size(); ++k) add_tile(static_cast<int>(k));
  for (size_t k = 0; k < spec_.results.size(); ++k) add_result(static_cast<int>(k));
  std::vector<Func> outputs;
  for (size_t k = 0; k < results_.size(); ++k) {
    place_result(static_cast<int>(k));
    outputs.push_back(output(static_cast<int>(k)));
  }
  place_packs(LoopLevel(results_[0].sums, column_chunk_));
  place_tiles(LoopLevel(results_[0].sums, row_block_));
  return outputs;
}

}  // namespace

std::vector<Func> schedule_tiles(const TileSpec& spec, const TargetInfo& target) {
  ATTN_CHECK(!spec.results.empty(), "a kernel of tiles without results");
  return TileScheduler(spec, target).schedule();
}

}  // namespace attn::lower
