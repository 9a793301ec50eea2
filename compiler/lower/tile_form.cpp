// What a kernel of tiles computes.
#include <algorithm>

#include "compiler/lower/tile_scheduler.h"
#include "compiler/lower/translate.h"

namespace attn::lower {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

namespace {

constexpr int kUnknownFeatures = 64;
constexpr int kPackedTogether = 4;  // columns for dots

SumTile sum_tile(const Target& target, const TileSpec::Result& result) {
  if (result.place) return {};
  const int lanes = lanes_of(target, Halide::Float(32));
  if (!result.features.defined()) return {0, std::min(lanes, 12) / 4 * 4};
  const int known = static_cast<int>(constant(result.features));
  const int features = known > 0 ? known : kUnknownFeatures;
  const int all = (features + lanes - 1) / lanes;
  const std::span<const int> rows = tuning(target).sum_rows;
  int vectors = static_cast<int>(rows.size());
  while (all % vectors != 0) --vectors;
  return {vectors, rows[vectors - 1]};
}

}  // namespace

TileScheduler::TileScheduler(const TileSpec& spec, const Target& target)
    : spec_(spec),
      target_(target),
      costs_(target::costs(target.arch)),
      lanes_(lanes_of(target, Halide::Float(32))),
      sizes_(tuning(target).tiles),
      panel_(sizes_.vectors * lanes_),
      rows_(max(spec.rows, 1)),
      columns_(max(spec.columns, 1)) {
  for (size_t k = 0; k < spec.batch_extents.size(); ++k) {
    batches_ = batches_ * spec.batch_extents[k];
    batch_vars_.emplace_back("b" + std::to_string(k));
    batch_loops_.emplace_back("batch" + std::to_string(k));
  }
  batches_ = Halide::Internal::simplify(batches_);
  for (const TileSpec::Result& r : spec.results)
    slack_ = std::max(slack_, sum_tile(target, r).rows - 1);
  for (const TileSpec::Result& r : spec.results)
    serial_.insert(r.summed_batch.begin(), r.summed_batch.end());
  chunks_ = blocks_of(columns_, sizes_.chunk_columns);
  parts_ = number_of_parts();
}

// Chunks of columns go in turn to so many parts, which run in parallel where the batch alone gives
// too few tasks. It depends on extents only, and so does the order of every sum.
Expr TileScheduler::number_of_parts() const {
  Expr most = min(costs_.tile_tasks / max(batches_, 1), chunks_);
  for (const TileSpec::Result& r : spec_.results) {
    if (r.place) return 1;
    if (!r.of_rows) continue;
    Expr floats = cast<int64_t>(batches_) * rows_ * (r.features.defined() ? r.features : Expr(1));
    most = min(most, cast<int32_t>(costs_.part_floats / max(floats, 1)));
  }
  return max(most, 1);
}

Expr TileScheduler::linear_batch(const RDom& loops) const {
  Expr linear = 0;
  for (size_t k = 0; k < batch_vars_.size(); ++k)
    linear = linear * spec_.batch_extents[k] + loops[static_cast<int>(kOwnLoops + k)];
  return linear;
}

// Loops are fused only if all of them are in order, or none: what some result sums, no result may
// look free to reorder, so its place is one that Halide cannot tell apart from another.
Expr TileScheduler::batch_place(const RDom& loops, int at) const {
  Expr b = loops[kOwnLoops + at];
  return serial_.count(at) ? likely(b) : b;
}

RDom TileScheduler::loops_of(Result& result, int first, const Expr& second) const {
  Halide::Region region = {{0, first},
                           {0, second},
                           {0, blocks_of(rows_, sizes_.block_rows)},
                           {0, (chunks_ + parts_ - 1) / parts_},
                           {0, parts_}};
  for (const Expr& extent : spec_.batch_extents) region.emplace_back(0, extent);
  RDom loops(region, "T");
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  Expr x = loops[2], y = chunk_of(loops);
  loops.where(needed(linear_batch(loops), x * bq, x * bq + (bq - 1), y * bk, y * bk + (bk - 1), 0));
  for (size_t k = 0; k < batch_vars_.size(); ++k)
    result.batch.push_back(loops[static_cast<int>(kOwnLoops + k)]);
  return loops;
}

// Whether rows i0..i1 and columns j0..j1 hold anything, or are within `slack` of what does.
Expr TileScheduler::needed(const Expr& batch, const Expr& i0, const Expr& i1, const Expr& j0,
                           const Expr& j1, int slack) const {
  Expr all = i0 < spec_.rows + slack && j0 < spec_.columns + slack;
  const TileCells::Edges& e = spec_.columns_of_rows;
  if (e.end) all = all && j0 < e.end(i0 - slack, i1 + slack) + slack;
  if (e.first) all = all && j1 >= e.first(i0 - slack, i1 + slack) - slack;
  if (const SeenByData& seen = spec_.seen_by_data)
    all = all && j0 - slack < seen.end(batch, i0 - slack, i1 + slack) &&
          j1 + slack >= seen.first(batch, i0 - slack, i1 + slack);
  return unsolved(all);
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
  // Columns for dots are packed some at a time: what is beyond the last of these is any number, and
  // hidden.
  const int some = transposed && !p.of_rows ? kPackedTogether : unit;
  RDom r({{0, some}, {0, unit / some}, {0, block / unit}}, p.of_rows ? "rw" : "rc");
  Expr first = hidden(at_block * block) + r[2] * unit;
  r.where(some < unit ? first + r[1] * some < true_extent : first < true_extent + slack_);
  if (constant(p.length) <= 0) r.where(p.length > 0);
  Expr inside = r[2] * unit + r[1] * some + r[0];
  Expr place = in_range(min(at_block * block + inside, extent - 1), extent);
  Expr feature = in_range(min(d_, p.length - 1), p.length);
  Expr value = p.at(batch_of(h_), place, feature);
  if (p.fallback) value = finite_or_zero(value);
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

// Of each place of a pack, and of all of a batch: 1 where something is not finite.
const TileScheduler::Met& TileScheduler::met(int index) {
  auto found = met_.find(index);
  if (found != met_.end()) return found->second;
  const TileSpec::Pack& p = spec_.packs[index];
  const Expr& extent = p.of_rows ? rows_ : columns_;
  Met m{Func(spec_.name + "_met_lanes"), Func(spec_.name + "_met"),
        Func(spec_.name + "_met_all"),   RDom(0, blocks_of(p.length, lanes_), "rf"),
        RDom(0, lanes_, "ml"),           RDom(0, extent, "mp")};
  Expr feature = in_range(min(m.features * lanes_ + d_, p.length - 1), p.length);
  Expr value = p.at(batch_of(h_), in_range(u_, extent), feature);
  m.lanes(d_, u_, h_) = 0;
  m.lanes(d_, u_, h_) = max(m.lanes(d_, u_, h_), cast<int32_t>(!has_finite_bits(value)));
  m.of_place(u_, h_) = 0;
  m.of_place(u_, h_) = max(m.of_place(u_, h_), m.lanes(m.over, u_, h_));
  m.of_all(h_) = 0;
  m.of_all(h_) = max(m.of_all(h_), m.of_place(m.places, h_));
  return met_.emplace(index, m).first->second;
}

// The tiles at one point, (column, row, batch): what a fallback weighs with.
std::vector<Func> TileScheduler::plain_tiles(std::vector<Func>& dots) const {
  Expr row = in_range(i_, rows_), column = in_range(j_, columns_), batch = batch_of(h_);
  std::vector<Func> tiles;
  auto earlier = [&](int k) -> Expr { return tiles[k](j_, i_, h_); };
  for (const TileSpec::Tile& t : spec_.tiles) {
    Func dot(spec_.name + "_plain_dot"), tile(spec_.name + "_plain");
    dot(j_, i_, h_) = 0.0f;
    for (const TileSpec::Dot& d : t.dots) {
      RDom r(0, d.length, "rd");
      Expr k = in_range(r, d.length);
      dot(j_, i_, h_) += d.product ? d.product(batch, row, column, k)
                                   : spec_.packs[d.left].at(batch, row, k) *
                                         spec_.packs[d.right].at(batch, column, k);
    }
    tile(j_, i_, h_) =
        t.value(batch, row, column, t.dots.empty() ? Expr(0.0f) : dot(j_, i_, h_), earlier);
    if (!t.dots.empty()) dots.push_back(dot);
    tiles.push_back(tile);
  }
  return tiles;
}

void TileScheduler::add_tile(int index) {
  const TileSpec::Tile& t = spec_.tiles[index];
  const std::string name = spec_.name + "_tile" + std::to_string(index);
  Func dot(name + "_dot"), tile(name);
  dot(j_, i_, ib_, jb_, h_) = 0.0f;
  for (size_t k = 0; k < t.dots.size(); ++k) {
    const TileSpec::Dot& d = t.dots[k];
    RDom rd(0, d.length, "rd" + std::to_string(k));
    if (!d.product) {
      dot(j_, i_, ib_, jb_, h_) +=
          pack(d.left, false).func(rd, i_, ib_, h_) * pack(d.right, true).func(j_, rd, jb_, h_);
      continue;
    }
    Expr row = in_range(min(ib_ * sizes_.block_rows + i_, rows_ - 1), rows_);
    Expr column = in_range(min(jb_ * sizes_.chunk_columns + j_, columns_ - 1), columns_);
    dot(j_, i_, ib_, jb_, h_) += d.product(batch_of(h_), row, column, in_range(rd, d.length));
  }
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns, ti = sizes_.rows, pj = panel_;
  RDom r({{0, pj}, {0, ti}, {0, bq / ti}, {0, bk / pj}}, "rp");
  r.where(needed(h_, ib_ * bq + r[2] * ti, ib_ * bq + r[2] * ti + (ti - 1), jb_ * bk + r[3] * pj,
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
  const std::string name = spec_.name + "_result" + std::to_string(index);
  Result result{Func(name), Func(name + "_part"), {}, sum_tile(target_, s), {}};
  if (s.place)
    add_places(s, result);
  else
    add_sums(s, result, std::to_string(index));
  results_.push_back(result);
}

// Each point of a tile is added at its own place, one after the other.
void TileScheduler::add_places(const TileSpec::Result& s, Result& result) {
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  RDom loops = loops_of(result, bk, bq);
  Expr x = loops[2], y = chunk_of(loops), row = x * bq + loops[1], column = y * bk + loops[0];
  loops.where(below(row, spec_.rows) && below(column, spec_.columns));
  const TileCells::Edges& e = spec_.columns_of_rows;
  if (e.end) loops.where(column < e.end(row, row));
  if (e.first) loops.where(column >= e.first(row, row));
  Expr h = linear_batch(loops);
  if (const SeenByData& data = spec_.seen_by_data)
    loops.where(unsolved(column < data.end(h, row, row) && column >= data.first(h, row, row)));
  const Expr i = in_range(min(row, rows_ - 1), rows_);
  const Expr j = in_range(min(column, columns_ - 1), columns_);
  std::vector<Expr> place = s.place(batch_of(h), i, j);
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
  const auto value_of = [&](int tile) -> Expr { return tiles_[tile](loops[0], loops[1], x, y, h); };
  Expr value = value_of(s.tile);
  if (s.panel_at) {
    value = value * s.panel_at(batch_of(h), i, j, in_range(d_, s.features));
    const TileSpec::Tile& source = spec_.tiles[s.tile];
    if (source.visible) value = masked(source.visible(batch_of(h), i, j, value_of), value, 0.0f);
  }
  result.sums(vars) = 0.0f;
  result.sums(at) += value;
  result.domain = loops;
}

// A point of a register tile and `within` a block of what is summed.
TileScheduler::Point TileScheduler::point(const TileSpec::Result& s, const SumTile& tile,
                                          const Expr& within) const {
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  const Expr kept_extent = s.of_rows ? rows_ : columns_;
  const Expr summed_extent = max(s.of_rows ? spec_.columns : spec_.rows, 1);
  const Expr kept_within = b_ * tile.rows + u_;
  Expr kept = (s.of_rows ? ib_ * bq : jb_ * bk) + kept_within;
  kept = in_range(min(kept, kept_extent - 1), kept_extent);
  const Expr other = in_range((s.of_rows ? jb_ * bk : ib_ * bq) + within, summed_extent);
  return {s.of_rows ? kept : other, s.of_rows ? other : kept, [=, this](int k) -> Expr {
            return s.of_rows ? tiles_[k](within, kept_within, ib_, jb_, h_)
                             : tiles_[k](kept_within, within, ib_, jb_, h_);
          }};
}

// Of one register tile, `within` a block of what is summed: what its rows or columns see.
void TileScheduler::limit_to_seen(const TileSpec::Result& s, const SumTile& tile, RDom& r,
                                  const Expr& within) const {
  const int high = tile.rows;
  const Expr first = s.of_rows ? ib_ * sizes_.block_rows : jb_ * sizes_.chunk_columns;
  const Expr block = s.of_rows ? jb_ * sizes_.chunk_columns : ib_ * sizes_.block_rows;
  Expr near = hidden(first + b_ * high), far = near + (high - 1);
  Expr here = hidden(block) + within;
  r.where(here < (s.of_rows ? spec_.columns : spec_.rows));
  const TileCells::Edges& e = s.of_rows ? spec_.columns_of_rows : spec_.rows_of_columns;
  if (e.end) r.where(here < e.end(near, far));
  if (e.first) r.where(here >= e.first(near, far));
  if (s.of_rows || spec_.columns_of_rows.both_ways) return;
  // Tiles are computed where rows see columns, which says less of the rows of a column.
  const TileCells::Edges& seen = spec_.columns_of_rows;
  if (seen.end) r.where(near < seen.end(here, here));
  if (seen.first) r.where(far >= seen.first(here, here));
}

// What packing has replaced, where it is visible; of all else 0.
void TileScheduler::add_fallback(const TileSpec::Result& s, Result& result) {
  const std::vector<Func> tiles = plain_tiles(result.plain_dots);
  const TileSpec::Pack& p = spec_.packs[s.panel];
  const Met& m = met(s.panel);
  RDom r(0, s.of_rows ? columns_ : rows_, "rn");
  Expr kept = in_range(n_, s.of_rows ? rows_ : columns_);
  Expr other = in_range(r, s.of_rows ? columns_ : rows_);
  const Expr &row = s.of_rows ? kept : other, &column = s.of_rows ? other : kept;
  const auto value_of = [&](int tile) -> Expr { return tiles[tile](column, row, h_); };
  r.where(unsolved(m.of_all(h_) != 0));
  r.where(unsolved(m.of_place(r, h_) != 0));
  const TileSpec::Tile& source = spec_.tiles[s.tile];
  if (source.visible) r.where(unsolved(source.visible(batch_of(h_), row, column, value_of)));
  Expr feature = in_range(min(d_, s.features - 1), s.features);
  Expr element = zero_or_not_finite(p.at(batch_of(h_), other, feature));
  // Halide fails to find where dots are used whose conditions occur twice: they are used
  // everywhere.
  for (const Func& dot : result.plain_dots)
    element = masked((reinterpret<int32_t>(dot(column, row, h_)) | 1) != 0, element, 0.0f);
  result.fallback = Func(spec_.name + "_fallback");
  result.fallback(d_, n_, h_) = 0.0f;
  result.fallback(d_, n_, h_) += s.scaled(batch_of(h_), kept, feature, value_of(s.tile) * element);
}

void TileScheduler::add_sums(const TileSpec::Result& s, Result& result, const std::string& name) {
  const int bq = sizes_.block_rows, bk = sizes_.chunk_columns;
  const int high = result.tile.rows, kept_block = s.of_rows ? bq : bk;
  const Expr kept_extent = s.of_rows ? rows_ : columns_;
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
  Expr product = here.value(s.tile);
  if (s.panel_at)
    product = product * s.panel_at(batch_of(h_), here.row, here.column,
                                   in_range(min(d_, s.features - 1), s.features));
  else if (wide)
    product = product * pack(s.panel, false).func(d_, within, s.of_rows ? jb_ : ib_, h_);
  const TileSpec::Tile& source = spec_.tiles[s.tile];
  if (s.panel_at && source.visible)
    product =
        masked(source.visible(batch_of(h_), here.row, here.column, here.value), product, 0.0f);
  std::vector<Var> of_part = {u_, b_, ib_, jb_, h_};
  if (wide) of_part.insert(of_part.begin(), d_);
  result.part(of_part) = 0.0f;
  result.part(of_part) += product;

  RDom loops = loops_of(result, high, kept_block / high);
  Expr x = loops[2], y = chunk_of(loops);
  Expr own = (s.of_rows ? x * bq : y * bk) + loops[1] * high;
  loops.where(unsolved(own < (s.of_rows ? spec_.rows : spec_.columns)));
  std::vector<Expr> place_of_sum;
  std::vector<Var> vars;
  const int batches = static_cast<int>(batch_vars_.size());
  Expr kept_place = in_range(min(own + loops[0], kept_extent - 1), kept_extent);
  for (size_t k = s.dimensions.size(); k-- > 0;) {
    const int at = s.dimensions[k];
    vars.push_back(at < batches ? batch_vars_[at] : at == batches ? n_ : d_);
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
  Expr h = linear_batch(loops);
  Expr start = 0.0f;
  if (s.panel >= 0 && spec_.packs[s.panel].fallback) {
    add_fallback(s, result);
    Expr batch = 0;
    for (int k = 0; k < batches; ++k) batch = batch * spec_.batch_extents[k] + batch_vars_[k];
    start = select(met(s.panel).of_all(batch) != 0, result.fallback(d_, n_, batch), 0.0f);
    if (result.in_parts) start = select(part_ == 0, start, 0.0f);
  }
  result.sums(vars) = start;
  Expr feature = wide ? in_range(d_, s.features) : Expr(0);
  std::vector<Expr> in_part = {loops[0], loops[1], x, y, h};
  if (wide) in_part.insert(in_part.begin(), d_);
  result.sums(place_of_sum) += s.scaled(batch_of(h), kept_place, feature, result.part(in_part));
  result.domain = loops;
}

// Parts are added in order.
Func TileScheduler::output(int index) {
  Result& r = results_[index];
  if (!r.in_parts) return r.sums;
  r.sums.compute_root();
  std::vector<Var> vars = r.sums.args();
  Func out(spec_.name + "_out" + std::to_string(index));
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
