// What a kernel of sums over tiles computes.
#include <algorithm>

#include "compiler/lower/cpu/sums_scheduler.h"

namespace attn::lower {

namespace {

constexpr int kPackedTogether = 4;  // columns for dots

}  // namespace

SumsScheduler::SumsScheduler(const TilesSpec& spec, const Target& target)
    : TilesScheduler(spec, target), sizes_(tuning(target).tiles), panel_(sizes_.vectors * lanes_) {
  for (size_t k = 0; k < spec.batch_extents.size(); ++k)
    batch_loops_.emplace_back("batch" + std::to_string(k));
  for (const Result& r : spec.results) {
    slack_ = std::max(slack_, sum_tile(r).rows - 1);
    serial_.insert(r.summed_batch.begin(), r.summed_batch.end());
  }
  chunks_ = blocks_of(columns_, sizes_.chunk_columns);
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
  Expr most = min(costs.tile_tasks / max(batches_, 1), chunks_);
  for (const Result& r : spec_.results) {
    if (r.kind() == TilesSpec::Kind::scatter) return 1;
    if (!r.of_rows) continue;
    Expr floats = cast<int64_t>(batches_) * rows_ * (r.features.defined() ? r.features : Expr(1));
    most = min(most, cast<int32_t>(costs.part_floats / max(floats, 1)));
  }
  return max(most, 1);
}

Expr SumsScheduler::batch_at(const RDom& loops) const {
  std::vector<Expr> place;
  for (size_t k = 0; k < batch_vars_.size(); ++k)
    place.emplace_back(loops[static_cast<int>(kOwnLoops + k)]);
  return linear(place);
}

// Loops are fused only if all of them are in order, or none: what some result sums, no result may
// look free to reorder, so its place is one that Halide cannot tell apart from another.
Expr SumsScheduler::batch_place(const RDom& loops, int at) const {
  Expr b = loops[kOwnLoops + at];
  return serial_.count(at) ? likely(b) : b;
}

RDom SumsScheduler::loops_of(Sum& result, int first, const Expr& second) const {
  Halide::Region region = {{0, first},
                           {0, second},
                           {0, blocks_of(rows_, sizes_.block_rows)},
                           {0, (chunks_ + parts_ - 1) / parts_},
                           {0, parts_}};
  for (const Expr& extent : spec_.batch_extents) region.emplace_back(0, extent);
  RDom loops(region, "T");
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  Expr x = loops[2], y = chunk_of(loops);
  loops.where(needed(batch_at(loops), x * bq, x * bq + (bq - 1), y * bk, y * bk + (bk - 1), 0));
  for (size_t k = 0; k < batch_vars_.size(); ++k)
    result.batch.push_back(loops[static_cast<int>(kOwnLoops + k)]);
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
  const int unit = p.of_rows ? sizes_.rows : panel_;
  const int block = p.of_rows ? sizes_.block_rows : sizes_.chunk_columns;
  const Var& at_block = p.of_rows ? ib_ : jb_;
  const Var& within = p.of_rows ? i_ : j_;
  const Expr& extent = p.of_rows ? rows_ : columns_;
  const Expr& true_extent = p.of_rows ? spec_.rows : spec_.columns;
  // Columns for dots are packed some at a time: what is beyond the last of these is any number, and
  // hidden.
  const int some = transposed && !p.of_rows ? kPackedTogether : unit;
  RDom r({{0, some}, {0, unit / some}, {0, block / unit}}, p.of_rows ? "rw" : "rc");
  Expr first = hidden(at_block * block) + r[2] * unit;
  r.where(some < unit ? first + r[1] * some < true_extent : first < true_extent + slack_);
  if (constant(p.length) <= 0) r.where(p.length > 0);
  Expr inside = r[2] * unit + r[1] * some + r[0];
  Expr value = spec_.packed(index, batch_of(h_), clamped(at_block * block + inside, extent),
                            clamped(d_, p.length));
  if (transposed) {
    packed.func(within, d_, at_block, h_) = undef<float>();
    packed.func(inside, d_, at_block, h_) = value;
  } else {
    packed.func(d_, within, at_block, h_) = undef<float>();
    packed.func(d_, inside, at_block, h_) = value;
  }
  packed.domain = r;
  return packs_.emplace(std::pair(index, transposed), packed).first->second;
}

void SumsScheduler::add_tile(int index) {
  const std::vector<TilesSpec::Dot>& dots = spec_.dots[index];
  const std::string name = "out_tile" + std::to_string(index);
  Func dot(name + "_dot"), tile(name);
  dot(j_, i_, ib_, jb_, h_) = 0.0f;
  for (size_t k = 0; k < dots.size(); ++k) {
    const TilesSpec::Dot& d = dots[k];
    RDom rd(0, d.length, "rd" + std::to_string(k));
    if (d.is_packed())
      dot(j_, i_, ib_, jb_, h_) +=
          pack(d.left, false).func(rd, i_, ib_, h_) * pack(d.right, true).func(j_, rd, jb_, h_);
    else
      dot(j_, i_, ib_, jb_, h_) +=
          spec_.product(d,
                        {batch_of(h_), row_at(ib_ * sizes_.block_rows + i_),
                         column_at(jb_ * sizes_.chunk_columns + j_)},
                        in_range(rd, d.length));
  }
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns, ti = sizes_.rows, pj = panel_;
  RDom r({{0, pj}, {0, ti}, {0, bq / ti}, {0, bk / pj}}, "rp");
  r.where(needed(h_, ib_ * bq + r[2] * ti, ib_ * bq + r[2] * ti + (ti - 1), jb_ * bk + r[3] * pj,
                 jb_ * bk + r[3] * pj + (pj - 1), slack_));
  Expr within_j = r[3] * pj + r[0], within_i = r[2] * ti + r[1];
  Expr row = ib_ * bq + within_i, column = jb_ * bk + within_j;
  auto earlier = [&](int k) -> Expr { return tiles_[k](within_j, within_i, ib_, jb_, h_); };
  Expr sum = dots.empty() ? Expr(0.0f) : Expr(dot(within_j, within_i, ib_, jb_, h_));
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
    add_places(s, result);
  else
    add_sums(s, result, std::to_string(index));
  sums_.push_back(result);
}

// The product at a point of what is summed, 0 where it is hidden.
Expr SumsScheduler::times_panel_at(const Result& s, const Point& here, const Expr& value) const {
  const Expr product = value * spec_.panel_at(s, here.place, clamped(d_, s.features));
  return s.visible.empty() ? product
                           : masked(spec_.visible(s, here.place, here.tile), product, 0.0f);
}

// Each point of a tile is added at its own place, one after the other.
void SumsScheduler::add_places(const Result& s, Sum& result) {
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  RDom loops = loops_of(result, bk, bq);
  Expr x = loops[2], y = chunk_of(loops), row = x * bq + loops[1], column = y * bk + loops[0];
  loops.where(below(row, spec_.rows) && below(column, spec_.columns));
  const Edges& e = spec_.columns_of_rows;
  if (e.end) loops.where(column < e.end(row, row));
  if (e.first) loops.where(column >= e.first(row, row));
  Expr h = batch_at(loops);
  if (const SeenByData& data = spec_.seen_by_data)
    loops.where(unsolved(column < data.end(h, row, row) && column >= data.first(h, row, row)));
  const Point here{{batch_of(h), row_at(row), column_at(column)},
                   [&](int tile) -> Expr { return tiles_[tile](loops[0], loops[1], x, y, h); }};
  std::vector<Expr> place = spec_.place(s, here.place);
  std::vector<Expr> at;
  std::vector<Var> vars;
  for (size_t k = place.size(); k-- > 0;) {
    const Expr& extent = s.extents[k];
    const int dimension = s.dimensions[k], batches = static_cast<int>(batch_vars_.size());
    if (constant(extent) <= 0) loops.where(extent > 0);
    at.push_back(dimension < batches    ? batch_place(loops, dimension)
                 : dimension == batches ? in_range(clamp(place[k], 0, extent - 1), extent)
                                        : Expr(d_));
    vars.push_back(dimension > batches ? d_ : Var("p" + std::to_string(k)));
  }
  Expr value = here.tile(s.tile);
  if (s.has_panel_at()) value = times_panel_at(s, here, value);
  result.sums(vars) = 0.0f;
  result.sums(at) += value;
  result.domain = loops;
}

// A point of a register tile and `within` a block of what is summed.
SumsScheduler::Point SumsScheduler::point(const Result& s, const SumTile& tile,
                                          const Expr& within) const {
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  const Expr kept_within = b_ * tile.rows + u_;
  const Expr row = ib_ * bq + (s.of_rows ? kept_within : within);
  const Expr column = jb_ * bk + (s.of_rows ? within : kept_within);
  return {{batch_of(h_), s.of_rows ? row_at(row) : in_range(row, rows_),
           s.of_rows ? in_range(column, columns_) : column_at(column)},
          [=, this, of_rows = s.of_rows](int k) -> Expr {
            return of_rows ? tiles_[k](within, kept_within, ib_, jb_, h_)
                           : tiles_[k](kept_within, within, ib_, jb_, h_);
          }};
}

// Of one register tile, `within` a block of what is summed: what its rows or columns see.
void SumsScheduler::limit_to_seen(const Result& s, const SumTile& tile, RDom& r,
                                  const Expr& within) const {
  const int high = tile.rows;
  const Expr first = s.of_rows ? ib_ * sizes_.block_rows : jb_ * sizes_.chunk_columns;
  const Expr block = s.of_rows ? jb_ * sizes_.chunk_columns : ib_ * sizes_.block_rows;
  Expr near = hidden(first + b_ * high), far = near + (high - 1);
  Expr here = hidden(block) + within;
  r.where(here < (s.of_rows ? spec_.columns : spec_.rows));
  const Edges& e = s.of_rows ? spec_.columns_of_rows : spec_.rows_of_columns;
  if (e.end) r.where(here < e.end(near, far));
  if (e.first) r.where(here >= e.first(near, far));
  if (s.of_rows || spec_.columns_of_rows.both_ways) return;
  // Tiles are computed where rows see columns, which says less of the rows of a column.
  const Edges& seen = spec_.columns_of_rows;
  if (seen.end) r.where(near < seen.end(here, here));
  if (seen.first) r.where(far >= seen.first(here, here));
}

void SumsScheduler::add_sums(const Result& s, Sum& result, const std::string& name) {
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  const int high = result.tile.rows, kept_block = s.of_rows ? bq : bk;
  const int summed_block = s.of_rows ? bk : bq;
  const bool wide = s.features.defined();
  const SeenByData& data = spec_.seen_by_data;
  const int together = data ? data.block : summed_block;
  RDom r({{0, together}, {0, summed_block / together}}, "rs" + name);
  Expr within = r[1] * together + r[0];
  limit_to_seen(s, result.tile, r, within);
  if (data) {
    const Expr block = s.of_rows ? jb_ * bk : ib_ * bq;
    Expr near = hidden((s.of_rows ? ib_ * bq : jb_ * bk) + b_ * high), far = near + (high - 1);
    Expr from = hidden(block) + r[1] * together, to = from + (together - 1);
    r.where(unsolved(s.of_rows ? from < data.end(h_, near, far) && to >= data.first(h_, near, far)
                               : near < data.end(h_, from, to) && far >= data.first(h_, from, to)));
  }
  const Point here = point(s, result.tile, within);
  Expr product = here.tile(s.tile);
  if (s.has_panel_at())
    product = times_panel_at(s, here, product);
  else if (wide)
    product = product * pack(s.panel, false).func(d_, within, s.of_rows ? jb_ : ib_, h_);
  std::vector<Var> of_part = {u_, b_, ib_, jb_, h_};
  if (wide) of_part.insert(of_part.begin(), d_);
  result.part(of_part) = 0.0f;
  result.part(of_part) += product;

  RDom loops = loops_of(result, high, kept_block / high);
  Expr x = loops[2], y = chunk_of(loops);
  Expr own = (s.of_rows ? x * bq : y * bk) + loops[1] * high;
  loops.where(unsolved(own < (s.of_rows ? spec_.rows : spec_.columns)));
  std::vector<Expr> place_of_sum;
  std::vector<Var> vars = vars_of(s, n_, d_);
  const int batches = static_cast<int>(batch_vars_.size());
  Expr kept_place = s.of_rows ? row_at(own + loops[0]) : column_at(own + loops[0]);
  for (size_t k = s.dimensions.size(); k-- > 0;) {
    const int at = s.dimensions[k];
    place_of_sum.push_back(at < batches    ? batch_place(loops, at)
                           : at == batches ? kept_place
                                           : Expr(d_));
  }
  result.in_parts = s.of_rows && constant(parts_) != 1;
  if (result.in_parts) {
    // In a form that Halide takes for no index of its own, as it must be in all fused loops.
    place_of_sum.push_back(in_range(likely(loops[4]), parts_));
    vars.push_back(part_);
  }
  Expr h = batch_at(loops);
  Expr start = 0.0f;
  if (has_fallback(s)) {
    add_fallback(s, result);
    Expr batch = linear_batch();
    start = select(met(s.panel).of_all(batch) != 0, result.fallback(d_, n_, batch), 0.0f);
    if (result.in_parts) start = select(part_ == 0, start, 0.0f);
  }
  result.sums(vars) = start;
  Expr feature = wide ? in_range(d_, s.features) : Expr(0);
  std::vector<Expr> in_part = {loops[0], loops[1], x, y, h};
  if (wide) in_part.insert(in_part.begin(), d_);
  result.sums(place_of_sum) +=
      spec_.scaled(s, batch_of(h), kept_place, feature, result.part(in_part));
  result.domain = loops;
}

// Parts are added in order.
Func SumsScheduler::output(int index) {
  Sum& r = sums_[index];
  if (!r.in_parts) return r.sums;
  r.sums.compute_root();
  std::vector<Var> vars = r.sums.args();
  Func out("out_out" + std::to_string(index));
  vars.pop_back();
  RDom part(0, parts_, "part");
  std::vector<Expr> place(vars.begin(), vars.end());
  place.emplace_back(part);
  out(vars) = 0.0f;
  out(vars) += r.sums(place);
  add_in_order(out, part);
  return out;
}

}  // namespace attn::lower
