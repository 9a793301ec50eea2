// Contractions of some rows whose right factor is a tensor as it is stored, dense along k. Packing
// it would take longer than multiplying it: tiles of dot products read it where it lies, lanes
// along k, and each fetches a part of what the next one reads.
#include <algorithm>
#include <numeric>

#include "compiler/lower/cpu/contraction_fetch.h"
#include "compiler/lower/cpu/contraction_scheduler.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

using Halide::Internal::Call;

bool reads_in_place(const Problem& problem) {
  if (problem.terms.size() != 1) return false;
  const Factor& right = problem.terms[0].right;
  if (right.contiguous != Factor::Along::kReduced || right.fallback) return false;
  if (right.run == 0 || right.run % problem.lanes != 0) return false;
  const Expr value = right.at(0, 0, 0);
  return value.type() == problem.type && stored_element(value);
}

// All rows are there, and the tiles of a block fetch the next tile of columns.
ContractionScheduler::RowsInPlace ContractionScheduler::whole_rows() const {
  const DotTile tile = tuning_.dots;
  return {.tile = tile,
          .row = clamped(likely(tile_ * tile.rows + y_), problem_.rows),
          .row_tile = (row_block_ * tile.block_rows + y_) / tile.rows,
          .tiles = blocks_of(min(problem_.rows, tile.block_rows), tile.rows),
          .turn = y_ / tile.rows,
          .ahead = tile.columns};
}

// A group has fewer rows than its block may have: its blocks are tiles, of as many columns as make
// whole vectors of results. All come before the next columns, so that they fetch what is at its
// place in the next block.
ContractionScheduler::RowsInPlace ContractionScheduler::group_rows() const {
  DotTile tile = tuning_.dots;
  tile.block_rows = tile.rows;
  tile.block_columns = std::lcm(tile.columns, problem_.lanes);
  const Expr here = problem_.rows_of(batch_), first = tile_ * tile.rows;
  const Expr rows = problem_.rows_of(in_range(batch_, problem_.batch));
  return {.tile = tile,
          .row = in_range(min(likely(first + y_), here - 1), problem_.rows),
          .is_there = unsolved(first < here),
          // No more rows than this is done for.
          .row_tile = min((row_block_ * tile.block_rows + y_) / tile.rows,
                          problem_.costs.rows_in_place / tile.rows - 1),
          .tiles = blocks_of(max(rows, 1), tile.rows),
          .turn = row_block_,
          .ahead = tile.block_columns};
}

// The rows of one group may be most of the matrix: its blocks are those of whole matrices. Tiles
// without rows are not packed.
ContractionScheduler::RowsInPlace ContractionScheduler::shown_rows() const {
  RowsInPlace rows = whole_rows();
  const RowsInPlace of_group = group_rows();
  rows.row = of_group.row;
  rows.is_there = of_group.is_there;
  rows.row_tile = min(rows.row_tile, problem_.costs.rows_in_place / rows.tile.rows - 1);
  const Expr here = problem_.rows_of(in_range(batch_, problem_.batch));
  rows.tiles = blocks_of(clamp(here, 1, rows.tile.block_rows), rows.tile.rows);
  return rows;
}

// The left factor as tiles read it, one vector of each row after the other: rows(lane, row in tile,
// vector, row tile, batch). Beyond the last row it repeats.
Func ContractionScheduler::rows_by_vectors(const ContractionTerm& term, const RowsInPlace& given) {
  const int lanes = problem_.lanes;
  Var lane("lane");
  Func rows("out_rows");
  RDom k(0, term.reduced, "k");
  if (given.is_there.defined()) k.where(given.is_there);
  rows(lane, y_, k_, tile_, batch_) = undef(problem_.type);
  rows(k % lanes, y_, k / lanes, tile_, batch_) = problem_.multiplied(
      term.left, in_range(batch_, problem_.batch), given.row, in_range(k, term.reduced));
  rows.bound_extent(lane, lanes).bound_extent(y_, given.tile.rows);
  rows.update().allow_race_conditions().vectorize(k, lanes);
  return rows;
}

// sum(column in block, row in block, row block, column block, batch).
Func ContractionScheduler::dots(const ContractionTerm& term, const RowsInPlace& rows,
                                const Func& left) {
  const DotTile& tile = rows.tile;
  const int lanes = problem_.lanes;
  Var lane("lane");
  Func sum("out_sum"), dot("out_dot");
  RDom k(0, term.reduced / lanes, "k"), along(0, lanes, "along");
  RDom rest(0, term.reduced % lanes, "rest");
  const Expr matrix = in_range(batch_, problem_.batch);
  const Expr row = row_block_ * tile.block_rows + y_;
  const Expr place = column_block_ * tile.block_columns + x_;
  const Expr column = clamped(place, problem_.columns);
  auto product = [&](const Expr& vector, const Expr& within) {
    return left(within, row % tile.rows, vector, rows.row_tile, batch_) *
           problem_.multiplied(term.right, matrix, column,
                               in_range(vector * lanes + within, term.reduced));
  };
  // The rows' tiles share the fetching.
  const Expr bytes = term.reduced * (tile.columns * problem_.type.bytes());
  const Expr part = (bytes + rows.tiles - 1) / rows.tiles;
  const Expr next = clamped(place / tile.columns * tile.columns + rows.ahead, problem_.columns);
  const Expr zero = make_zero(problem_.type);
  const Expr begins = x_ % tile.columns == 0 && y_ % tile.rows == 0;
  const Expr fetches =
      fetch(*stored_element(term.right.at(matrix, next, 0)), rows.turn * part, part);
  dot(lane, x_, y_, row_block_, column_block_, batch_) =
      Call::make(problem_.type, Call::if_then_else, {begins, cast(problem_.type, fetches), zero},
                 Call::PureIntrinsic);
  dot(lane, x_, y_, row_block_, column_block_, batch_) += product(k, lane);
  sum(x_, y_, row_block_, column_block_, batch_) = zero;
  sum(x_, y_, row_block_, column_block_, batch_) +=
      dot(along, x_, y_, row_block_, column_block_, batch_);
  sum(x_, y_, row_block_, column_block_, batch_) += product(term.reduced / lanes, rest);

  Var column_tile("x_outer"), x("x_inner"), row_tile("y_outer"), y("y_inner");
  sum.update(0)
      .atomic()
      .vectorize(along)
      .split(x_, column_tile, x, tile.columns, TailStrategy::RoundUp)
      .split(y_, row_tile, y, tile.rows, TailStrategy::RoundUp)
      .reorder(along, x, y, row_tile, column_tile)
      .unroll(x)
      .unroll(y);
  sum.update(1).reorder(rest, x_, y_);
  dot.compute_at(sum, row_tile).vectorize(lane).unroll(x_).unroll(y_);
  dot.update().reorder(lane, x_, y_, k).vectorize(lane).unroll(x_).unroll(y_);
  return sum;
}

void ContractionScheduler::in_place(const Expr& condition) {
  const ContractionTerm& term = problem_.terms[0];
  const RowsInPlace rows = problem_.deals_few_rows() ? group_rows()
                           : problem_.deals_rows()   ? shown_rows()
                                                     : whole_rows();
  const DotTile& tile = rows.tile;
  const int row_tiles = tuning_.dots.block_rows / tile.block_rows;
  // All rows of a group.
  const int together =
      problem_.deals_few_rows() ? problem_.costs.rows_in_place / tuning_.dots.block_rows : 1;
  Loops loops = open(condition, tile.block_rows, tile.block_columns, row_tiles, 1, together,
                     suits(Strategy::in_place));
  Func left = rows_by_vectors(term, rows), sum = dots(term, rows, left);
  left.compute_at(out_, loops.batch);
  sum.compute_at(out_, row_tiles > 1 ? loops.row_tile : loops.column_block);
  store(loops, sum(loops.column, loops.row, loops.row_block * row_tiles + loops.row_tile,
                   loops.column_block, loops.batch));
}

}  // namespace attn::lower
