// Points of tiles that are added where they say.
#include "compiler/lower/cpu/sums_scheduler.h"

namespace attn::lower {

using Low = plan::Digits::Low;

namespace {

// Columns of a line that are added to neighbours at once. Fours take 15 % longer for biases of
// 32 x 32 points (Zen 4), and more would leave lines of 14 points to scalar code.
constexpr int kInLine = 8;

}  // namespace

// Whether what a row and a column hold is computed: tiles are where some row sees some column.
Expr SumsScheduler::are_seen(const Expr& row, const Expr& column, const Expr& batch) const {
  Expr all = below(row, spec_.rows) && below(column, spec_.columns);
  const Edges& e = spec_.columns_of_rows;
  if (e.end) all = all && column < e.end(row, row);
  if (e.first) all = all && column >= e.first(row, row);
  if (const SeenByData& data = spec_.seen_by_data)
    all = all &&
          unsolved(column < data.end(batch, row, row) && column >= data.first(batch, row, row));
  return all;
}

// The loops over the points of a tile: over its columns and rows. Where points go by digits of the
// column, over the columns of a line, and over the lines and rows; or where all of a line go to one
// place, over the lines of a vector, and over the vectors and rows.
SumsScheduler::Scatter SumsScheduler::points_of(const Result& s, Sum& result) const {
  const int bq = row_side_.block, bk = column_side_.block;
  Scatter p;
  if (!s.digits) {
    p.loops = loops_of(result, bk, bq);
    p.within_i = p.loops[1], p.within_j = p.loops[0];
  } else if (s.digits->low == Low::one_place) {
    const int vectors = bk / lanes_;
    p.loops = loops_of(result, (lanes_ - 1) / s.line_length + 2, bq * vectors);
    p.within_i = p.loops[1] / vectors, p.within_j = p.loops[1] % vectors * lanes_;
    p.line = hidden(chunk_of(p.loops) * bk + p.within_j) / s.line_length + p.loops[0];
    p.in_line = 0;
  } else {
    const Expr lines = (bk - 1) / s.line_length + 2;
    p.loops = loops_of(result, s.line_length, bq * lines);
    const Expr first = chunk_of(p.loops) * bk;
    p.within_i = in_range(p.loops[1] / lines, bq);
    p.line = hidden(first) / s.line_length + p.loops[1] % lines;
    p.in_line = p.loops[0];
    p.within_j = p.line * s.line_length + p.in_line - first;
  }
  p.row = p.loops[2] * bq + p.within_i;
  p.column = chunk_of(p.loops) * bk + p.within_j;
  return p;
}

// The sum of what a vector of columns has of one line, in the loops of `at`.
Expr SumsScheduler::sum_of_line(const Result& s, Sum& result, const Scatter& at) const {
  const int bq = row_side_.block, bk = column_side_.block, vectors = bk / lanes_;
  RDom lane(0, lanes_, "rl");
  const Expr i = u_ / vectors, first = u_ % vectors * lanes_;
  const Expr column = jb_ * bk + first + lane;
  const Expr line = (jb_ * bk + first) / s.line_length + n_,
             in_line = column - line * s.line_length;
  const Expr is_there =
      are_seen(ib_ * bq + i, column, h_) && in_line >= 0 && in_line < s.line_length;
  result.part(n_, u_, ib_, jb_, h_) = 0.0f;
  result.part(n_, u_, ib_, jb_, h_) +=
      select(is_there, tiles_[s.tile](first + lane, i, ib_, jb_, h_), 0.0f);
  return result.part(at.loops[0], at.loops[1], at.loops[2], chunk_of(at.loops), batch_at(at.loops));
}

// Each point of a tile is added where it says, one after the other.
void SumsScheduler::add_scatter(const Result& s, Sum& result) {
  const int bk = column_side_.block;
  Scatter p = points_of(s, result);
  const Expr h = batch_at(p.loops), x = p.loops[2], y = chunk_of(p.loops);
  const bool is_sum = s.digits && s.digits->low == Low::one_place;
  const bool are_neighbours = s.digits && s.digits->low == Low::neighbours;
  const Expr within_j = s.digits && !is_sum ? in_range(p.within_j, bk) : p.within_j;
  const Point here{{batch_of(h), row_at(p.row), column_at(p.column)},
                   [&](int tile) -> Expr { return tiles_[tile](within_j, p.within_i, x, y, h); }};
  std::vector<Expr> position =
      s.digits ? spec_.position(s, here.at, p.line, p.in_line) : spec_.position(s, here.at);
  // Of all lanes that a loop is over, as one condition.
  Expr are_there = are_seen(p.row, p.column, h);
  if (s.digits && !is_sum) are_there = are_there && p.within_j >= 0 && p.within_j < bk;
  std::vector<Var> vars;
  for (size_t k = position.size(); k-- > 0;) {
    const Expr& extent = s.extents[k];
    if (constant(extent) <= 0) p.loops.where(extent > 0);
    if (are_neighbours && k + 1 == position.size()) {
      are_there = are_there && position[k] >= 0 && position[k] < extent;
      position[k] = in_range(position[k], extent);
    } else if (position[k].defined()) {
      position[k] = in_range(clamp(position[k], 0, extent - 1), extent);
    }
    vars.push_back(position[k].defined() ? Var("p" + std::to_string(k)) : d_);
  }
  if (is_sum) {
    p.loops.where(below(p.row, spec_.rows) &&
                  unsolved(p.line * s.line_length < min(p.column + lanes_, spec_.columns)));
  } else if (s.digits) {
    const Expr line_start = p.within_j - p.in_line;
    p.loops.where(below(p.row, spec_.rows) &&
                  unsolved(line_start > -s.line_length && line_start < bk));
    p.loops.where(likely(are_there));
  } else {
    p.loops.where(are_there);
  }
  Expr value = is_sum ? sum_of_line(s, result, p) : here.tile(s.tile);
  if (s.has_panel_at()) value = times_panel_at(s, here, value);
  // Of twice the digits where all points may be added to one place.
  const bool has_own_places = s.features.defined() || s.is_dense || (s.digits && s.is_of_one_row);
  const Type kept = has_own_places ? Halide::Float(32) : Halide::Float(64);
  result.sums(vars) = make_zero(kept);
  result.sums(coordinates(s, p.loops, position)) += cast(kept, value);
  result.domain = p.loops;
}

void SumsScheduler::schedule_scatter(Sum& r, const Result& s) {
  Stage stage = r.sums.update();
  std::vector<VarOrRVar> inner = {r.domain[0], r.domain[1]};
  if (s.features.defined()) inner.insert(inner.begin(), d_);
  stage.reorder(loop_order(r, inner));
  if (s.features.defined())
    stage.vectorize(d_, lanes_, TailStrategy::GuardWithIf);
  else if (s.is_dense)
    stage.vectorize(r.domain[0], lanes_);
  else if (s.digits && s.digits->low == Low::neighbours)
    stage.vectorize(r.domain[0], kInLine, TailStrategy::GuardWithIf);
  if (s.digits) stage.never_partition({r.domain[0], r.domain[1]});
  if (r.part.defined()) {
    const RVar lane(r.part.rvars(0)[0]);
    r.part.compute_at(r.sums, r.domain[0]).update().atomic().vectorize(lane);
  }
  const std::vector<Var> vars = r.sums.args();
  if (!vars.empty()) r.sums.vectorize(vars[0], lanes_, TailStrategy::GuardWithIf);
}

}  // namespace attn::lower
