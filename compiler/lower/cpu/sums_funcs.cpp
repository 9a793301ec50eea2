// What a kernel of sums over tiles computes.
#include <algorithm>

#include "compiler/lower/cpu/sums_scheduler.h"

namespace attn::lower {

namespace {

constexpr int kPackedTogether = 4;  // columns for dots

}  // namespace

SumsScheduler::SumsScheduler(const TilesSpec& spec, const Target& target)
    : TilesScheduler(spec, target),
      row_side_{rows_, spec.rows, tuning(target).tiles.block_rows, tuning(target).tiles.rows,
                i_,    ib_},
      column_side_{columns_,
                   spec.columns,
                   tuning(target).tiles.chunk_columns,
                   tuning(target).tiles.vectors * lanes_,
                   j_,
                   jb_} {
  for (size_t k = 0; k < spec.batch_extents.size(); ++k)
    batch_loops_.emplace_back("batch" + std::to_string(k));
  for (const Result& r : spec.results) {
    slack_ = std::max(slack_, sum_tile(r).rows - 1);
    serial_.insert(r.summed_batch.begin(), r.summed_batch.end());
  }
  chunks_ = blocks_of(columns_, column_side_.block);
  parts_ = number_of_parts();
}

SumsScheduler::SumTile SumsScheduler::sum_tile(const Result& r) const {
  if (r.kind() == TilesSpec::Kind::scatter) return {};
  if (!r.features.defined()) return {0, std::min(lanes_, 12) / 4 * 4};
  const std::span<const int> rows = tuning(target_).sum_rows;
  int vectors = static_cast<int>(rows.size());
  while (vectors_of(r.features) % vectors != 0) --vectors;
  return {vectors, rows[vectors - 1]};
}

// Chunks of columns go in turn to so many parts, which run in parallel where the batch alone gives
// too few tasks. It depends on extents only, and so does the order of every sum.
Expr SumsScheduler::number_of_parts() const {
  const target::Costs& costs = target::costs(target_.arch);
  // What is summed over the batch takes no memory for each place in it, and gives no tasks: parts
  // do instead, in the memory that there would be otherwise.
  Expr parallel = 1, serial = 1, spared = cast<int64_t>(0);
  for (size_t k = 0; k < spec_.batch_extents.size(); ++k) {
    Expr& tasks = serial_.count(static_cast<int>(k)) ? serial : parallel;
    tasks = tasks * spec_.batch_extents[k];
  }
  for (const Result& r : spec_.results)
    if (!r.summed_batch.empty())
      spared += cast<int64_t>(batches_) * columns_ * (r.features.defined() ? r.features : Expr(1));
  Expr tasks = costs.tile_tasks / max(simplify(parallel), 1);
  if (!serial_.empty()) tasks = max(tasks, serial);
  const Expr floats_of_parts = max(spared, costs.part_floats);
  Expr most = min(tasks, chunks_);
  for (const Result& r : spec_.results) {
    if (r.kind() == TilesSpec::Kind::scatter) return 1;
    if (!r.of_rows) continue;
    Expr floats = cast<int64_t>(batches_) * rows_ * (r.features.defined() ? r.features : Expr(1));
    most = min(most, cast<int32_t>((serial_.empty() ? Expr(costs.part_floats) : floats_of_parts) /
                                   max(floats, 1)));
  }
  return max(most, 1);
}

// The last one is the innermost, as in `loop_order`: of loops that are summed over Halide changes
// no order.
RVar SumsScheduler::batch_loop(const RDom& loops, size_t k) const {
  return loops[static_cast<int>(kOwnLoops + batch_vars_.size() - 1 - k)];
}

Expr SumsScheduler::batch_at(const RDom& loops) const {
  std::vector<Expr> coordinates;
  for (size_t k = 0; k < batch_vars_.size(); ++k) coordinates.emplace_back(batch_loop(loops, k));
  return linear(coordinates);
}

// Where a point of a result lies, innermost first: `kept` by dimension, beside the batch and the
// feature. What some result sums, no result may look free to reorder: see `likely`.
std::vector<Expr> SumsScheduler::coordinates(const Result& s, const RDom& loops,
                                             const std::vector<Expr>& kept) const {
  const int batches = static_cast<int>(batch_vars_.size());
  std::vector<Expr> at;
  for (size_t k = s.dimensions.size(); k-- > 0;) {
    const int dimension = s.dimensions[k];
    if (dimension < batches) {
      const Expr b = batch_loop(loops, static_cast<size_t>(dimension));
      at.push_back(serial_.count(dimension) ? likely(b) : b);
    } else {
      at.push_back(dimension == batches ? kept[k] : Expr(d_));
    }
  }
  return at;
}

RDom SumsScheduler::loops_of(Sum& result, const Expr& first, const Expr& second) const {
  Halide::Region region = {{0, first},
                           {0, second},
                           {0, blocks_of(rows_, row_side_.block)},
                           {0, (chunks_ + parts_ - 1) / parts_},
                           {0, parts_}};
  for (size_t k = spec_.batch_extents.size(); k-- > 0;)
    region.emplace_back(0, spec_.batch_extents[k]);
  RDom loops(region, "T");
  const int bq = row_side_.block, bk = column_side_.block;
  Expr x = loops[2], y = chunk_of(loops);
  loops.where(needed(batch_at(loops), x * bq, x * bq + (bq - 1), y * bk, y * bk + (bk - 1), 0));
  for (size_t k = 0; k < batch_vars_.size(); ++k) result.batch.push_back(batch_loop(loops, k));
  return loops;
}

// Whether rows i0..i1 and columns j0..j1 hold anything, or are within `slack` of what does.
Expr SumsScheduler::needed(const Expr& batch, const Expr& i0, const Expr& i1, const Expr& j0,
                           const Expr& j1, int slack) const {
  Expr all = i0 < spec_.rows + slack && j0 < spec_.columns + slack;
  const Edges& e = spec_.columns_of_rows;
  if (e.end) all = all && j0 < e.end(i0 - slack, i1 + slack) + slack;
  if (e.first) all = all && j1 >= e.first(i0 - slack, i1 + slack) - slack;
  if (const SeenByData& seen = spec_.seen_by_data)
    all = all && j0 - slack < seen.end(batch, i0 - slack, i1 + slack) &&
          j1 + slack >= seen.first(batch, i0 - slack, i1 + slack);
  return unsolved(all);
}

// Rows (or columns) of a factor with the features adjacent, or transposed.
const SumsScheduler::Packed& SumsScheduler::pack(int index, bool transposed) {
  auto found = packs_.find({index, transposed});
  if (found != packs_.end()) return found->second;
  const TilesSpec::Pack& p = spec_.packs[index];
  Packed packed{Func("out_pack"), {}, p.of_rows, transposed};
  const Side& side = this->side(p.of_rows);
  const int unit = side.unit;
  // Columns for dots are packed some at a time: what is beyond the last of these is any number, and
  // hidden.
  const int some = transposed && !p.of_rows ? kPackedTogether : unit;
  RDom r({{0, some}, {0, unit / some}, {0, side.block / unit}}, p.of_rows ? "rw" : "rc");
  Expr first = hidden(side.first()) + r[2] * unit;
  r.where(some < unit ? first + r[1] * some < side.true_extent : first < side.true_extent + slack_);
  if (constant(p.length) <= 0) r.where(p.length > 0);
  Expr inside = r[2] * unit + r[1] * some + r[0];
  Expr value = spec_.packed(index, batch_of(h_), clamped(side.first() + inside, side.extent),
                            clamped(d_, p.length));
  if (transposed) {
    packed.func(side.within, d_, side.at_block, h_) = undef<float>();
    packed.func(inside, d_, side.at_block, h_) = value;
  } else {
    packed.func(d_, side.within, side.at_block, h_) = undef<float>();
    packed.func(d_, inside, side.at_block, h_) = value;
  }
  packed.domain = r;
  return packs_.emplace(std::pair(index, transposed), packed).first->second;
}

void SumsScheduler::add_tile(int index) {
  const std::string name = "out_tile" + std::to_string(index);
  Func dot(name + "_dot"), tile(name);
  sum_dots(dot, {j_, i_, ib_, jb_, h_}, index,
           {batch_of(h_), row_at(row_side_.first() + i_), column_at(column_side_.first() + j_)},
           [&](const TilesSpec::Dot& d, const RDom& r) -> Expr {
             return pack(d.left, false).func(r, i_, ib_, h_) *
                    pack(d.right, true).func(j_, r, jb_, h_);
           });
  const int bq = row_side_.block, bk = column_side_.block, ti = row_side_.unit,
            pj = column_side_.unit;
  RDom r({{0, pj}, {0, ti}, {0, bq / ti}, {0, bk / pj}}, "rp");
  r.where(needed(h_, ib_ * bq + r[2] * ti, ib_ * bq + r[2] * ti + (ti - 1), jb_ * bk + r[3] * pj,
                 jb_ * bk + r[3] * pj + (pj - 1), slack_));
  Expr within_j = r[3] * pj + r[0], within_i = r[2] * ti + r[1];
  Expr row = ib_ * bq + within_i, column = jb_ * bk + within_j;
  auto earlier = [&](int k) -> Expr { return tiles_[k](within_j, within_i, ib_, jb_, h_); };
  Expr sum = spec_.dots[index].empty() ? Expr(0.0f) : Expr(dot(within_j, within_i, ib_, jb_, h_));
  Expr value =
      spec_.value(index, {batch_of(h_), row_at(row), column_at(likely(column))}, sum, earlier);
  tile(j_, i_, ib_, jb_, h_) = undef<float>();
  tile(within_j, within_i, ib_, jb_, h_) =
      select(row < spec_.rows && column < spec_.columns, value, 0.0f);
  dots_.push_back(dot);
  tiles_.push_back(tile);
  tile_domains_.push_back(r);
}

void SumsScheduler::add_result(int index) {
  const Result& s = spec_.results[index];
  const std::string name = "out_result" + std::to_string(index);
  Sum result{Func(name), Func(name + "_part"), {}, sum_tile(s), {}};
  if (s.kind() == TilesSpec::Kind::scatter)
    add_scatter(s, result);
  else
    add_sums(s, result, std::to_string(index));
  sums_.push_back(result);
}

// The product at a point of what is summed, 0 where it is hidden.
Expr SumsScheduler::times_panel_at(const Result& s, const Point& here, const Expr& value) const {
  const Expr product = value * spec_.panel_at(s, here.at, clamped(d_, s.features));
  return s.visible.empty() ? product : masked(spec_.visible(s, here.at, here.tile), product, 0.0f);
}

// A point of a register tile and `within` a block of what is summed.
SumsScheduler::Point SumsScheduler::point(const Result& s, const SumTile& tile,
                                          const Expr& within) const {
  const Side &kept = side(s.of_rows), &summed = side(!s.of_rows);
  const Expr kept_within = b_ * tile.rows + u_;
  const Expr k = clamped(kept.first() + kept_within, kept.extent);
  const Expr n = in_range(summed.first() + within, summed.extent);
  return {{batch_of(h_), s.of_rows ? k : n, s.of_rows ? n : k},
          [=, this, of_rows = s.of_rows](int t) -> Expr {
            return of_rows ? tiles_[t](within, kept_within, ib_, jb_, h_)
                           : tiles_[t](kept_within, within, ib_, jb_, h_);
          }};
}

// Of one register tile, and of blocks of what is summed, `together` at a time: what its rows or
// columns see.
void SumsScheduler::limit_to_seen(const Result& s, const SumTile& tile, RDom& r,
                                  int together) const {
  const Side &kept = side(s.of_rows), &summed = side(!s.of_rows);
  const Expr near = hidden(kept.first() + b_ * tile.rows), far = near + (tile.rows - 1);
  const Expr here = hidden(summed.first()) + (r[1] * together + r[0]);
  r.where(here < summed.true_extent);
  const Edges& e = s.of_rows ? spec_.columns_of_rows : spec_.rows_of_columns;
  if (e.end) r.where(here < e.end(near, far));
  if (e.first) r.where(here >= e.first(near, far));
  // Tiles are computed where rows see columns, which says less of the rows of a column.
  const Edges& seen = spec_.columns_of_rows;
  if (!s.of_rows && !seen.both_ways) {
    if (seen.end) r.where(near < seen.end(here, here));
    if (seen.first) r.where(far >= seen.first(here, here));
  }
  const SeenByData& data = spec_.seen_by_data;
  if (!data) return;
  const Expr from = hidden(summed.first()) + r[1] * together, to = from + (together - 1);
  r.where(unsolved(s.of_rows ? from < data.end(h_, near, far) && to >= data.first(h_, near, far)
                             : near < data.end(h_, from, to) && far >= data.first(h_, from, to)));
}

void SumsScheduler::add_sums(const Result& s, Sum& result, const std::string& name) {
  const Side &kept = side(s.of_rows), &summed = side(!s.of_rows);
  const int high = result.tile.rows;
  const bool has_features = s.features.defined();
  const int together = spec_.seen_by_data ? spec_.seen_by_data.block : summed.block;
  RDom r({{0, together}, {0, summed.block / together}}, "rs" + name);
  limit_to_seen(s, result.tile, r, together);
  Expr within = r[1] * together + r[0];
  const Point here = point(s, result.tile, within);
  Expr product = here.tile(s.tile);
  if (s.has_panel_at())
    product = times_panel_at(s, here, product);
  else if (has_features)
    product = product * pack(s.panel, false).func(d_, within, summed.at_block, h_);
  std::vector<Var> of_part = {u_, b_, ib_, jb_, h_};
  if (has_features) of_part.insert(of_part.begin(), d_);
  result.part(of_part) = 0.0f;
  result.part(of_part) += product;

  RDom loops = loops_of(result, high, kept.block / high);
  Expr x = loops[2], y = chunk_of(loops);
  Expr own = (s.of_rows ? x : y) * kept.block + loops[1] * high;
  loops.where(unsolved(own < kept.true_extent));
  std::vector<Var> vars = vars_of(s, n_, d_);
  const Expr kept_index = clamped(own + loops[0], kept.extent);
  std::vector<Expr> at = coordinates(s, loops, std::vector<Expr>(s.dimensions.size(), kept_index));
  result.in_parts = s.of_rows && constant(parts_) != 1;
  if (result.in_parts) {
    // In a form that Halide takes for no index of its own, as it must be in all fused loops.
    at.push_back(in_range(likely(loops[4]), parts_));
    vars.push_back(part_);
  }
  Expr h = batch_at(loops);
  Expr start = 0.0f;
  if (has_fallback(s)) {
    add_fallback(s, result);
    start = start_of(s, result);
    if (result.in_parts) start = select(part_ == 0, start, 0.0f);
  }
  result.sums(vars) = start;
  Expr feature = has_features ? in_range(d_, s.features) : Expr(0);
  std::vector<Expr> in_part = {loops[0], loops[1], x, y, h};
  if (has_features) in_part.insert(in_part.begin(), d_);
  result.sums(at) += spec_.scaled(s, batch_of(h), kept_index, feature, result.part(in_part));
  result.domain = loops;
}

// Parts are added in order.
Func SumsScheduler::output(int index) {
  Sum& r = sums_[index];
  const bool is_wide = r.sums.types()[0] != Halide::Float(32);
  if (!r.in_parts && !is_wide) return r.sums;
  r.sums.compute_root();
  std::vector<Var> vars = r.sums.args();
  Func out("out_out" + std::to_string(index));
  if (is_wide) {
    out(vars) = cast<float>(r.sums(vars));
    return out;
  }
  vars.pop_back();
  RDom part(0, parts_, "part");
  std::vector<Expr> at(vars.begin(), vars.end());
  at.emplace_back(part);
  out(vars) = 0.0f;
  out(vars) += r.sums(at);
  add_in_order(out, part);
  return out;
}

}  // namespace attn::lower
