// Contractions by packed panels and register tiles, whole or split.
#include <algorithm>

#include "compiler/lower/cpu/contraction_scheduler.h"
#include "compiler/lower/cpu/register_tile.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

std::vector<ContractionScheduler::Panels> ContractionScheduler::pack_terms(int together) {
  std::vector<Panels> panels;
  for (const ContractionTerm& term : problem_.terms) {
    panels.push_back({pack_panels(problem_, "_left", term, true, tiles_.rows),
                      pack_panels(problem_, "_right", term, false, tiles_.vectors * problem_.lanes),
                      &term, together});
  }
  return panels;
}

Expr ContractionScheduler::chunks_of(const Panels& term, const Expr& matrix) const {
  return blocks_of(problem_.reduced_of(*term.term, matrix), tiles_.block_reduced);
}

Expr ContractionScheduler::most_chunks(const Panels& term) const {
  return blocks_of(term.term->reduced, tiles_.block_reduced);
}

Expr ContractionScheduler::last_chunk(const Panels& term) const {
  const Expr last = max(chunks_of(term, batch_) - 1, 0);
  return problem_.deals_terms() ? in_range(last, max(most_chunks(term), 1)) : last;
}

// One chunk of the reduction: tile(column, row, row tile, column tile, chunk, batch). Where data
// says which is the last, tiles of that one have no other: Halide would compute all that it may be.
Func ContractionScheduler::tile(const Panels& term, bool last) {
  const int length = tiles_.block_reduced;
  const Expr chunk = last && problem_.deals_terms() ? last_chunk(term) : Expr(chunk_);
  Func tile("out_tile");
  RDom k({{0, kStepReduced}, {0, length / kStepReduced}}, "k");
  k.where(k[1] * kStepReduced < problem_.reduced_of(*term.term, batch_) - chunk * length);
  Expr at = k[1] * kStepReduced + k[0];
  const std::optional<Func> ahead = next_columns(term, chunk);
  tile(x_, y_, tile_, panel_, chunk_, batch_) =
      ahead ? Expr((*ahead)(tile_, panel_, chunk_, batch_)) : make_zero(problem_.type);
  if (ahead) Func(*ahead).compute_at(tile, batch_);
  tile(x_, y_, tile_, panel_, chunk_, batch_) +=
      term.left(y_, at, tile_, chunk, batch_) * term.right(x_, at, panel_, chunk, batch_);
  register_tile(tile, {x_, y_}, problem_.lanes);
  tile.update().unroll(k[0]).never_partition_all();
  return tile;
}

// What is summed before the last chunk, or with splits everything, for one block of C:
// block(column, row, part, row block, column block, batch), each chunk computed in registers and
// added.
Func ContractionScheduler::block(const Loops& loops, const std::vector<Panels>& panels,
                                 const Expr& splits, bool packs_inside) {
  const int rows = tiles_.rows, columns = tiles_.vectors * problem_.lanes;
  Func block("out_block");
  block(x_, y_, part_, row_block_, column_block_, batch_) = undef(problem_.type);
  int stages = 0;
  for (const Panels& term : panels) {
    const bool last = !packs_inside && stages + 1 == static_cast<int>(panels.size());
    const Expr chunks = chunks_of(term, batch_) - Expr(last ? 1 : 0);
    const Expr most = most_chunks(term) - Expr(last ? 1 : 0);
    // The first chunk of a part sets the block, so there is one even where nothing is summed,
    // unless then nobody asks.
    const bool first = stages == 0;
    const bool always = packs_inside || panels.size() > 1;
    Expr per_split = (most + splits - 1) / splits;
    if (first && always) per_split = max(per_split, 1);
    RDom r({{0, columns},
            {0, rows},
            {0, min(tiles_.block_rows / rows, blocks_of(problem_.rows, rows))},
            {0, min(tiles_.block_columns / columns, blocks_of(problem_.columns, columns))},
            {0, per_split}},
           "c");
    r.where(r[2] * rows < problem_.rows_of(batch_) - row_block_ * tiles_.block_rows);
    r.where(r[3] * columns < problem_.columns - column_block_ * tiles_.block_columns);
    Expr chunk = part_ * per_split + r[4];
    r.where(first && always ? chunk < chunks || r[4] == 0 : chunk < chunks);
    Expr row_tile = row_block_ * (tiles_.block_rows / rows) + r[2];
    Expr column_tile = column_block_ * (tiles_.block_columns / columns) + r[3];

    Func product = tile(term, false);
    Expr sum =
        block(r[3] * columns + r[0], r[2] * rows + r[1], part_, row_block_, column_block_, batch_);
    if (first) sum = select(r[4] == 0, make_zero(problem_.type), sum);
    block(r[3] * columns + r[0], r[2] * rows + r[1], part_, row_block_, column_block_, batch_) =
        sum + product(r[0], r[1], row_tile, column_tile, chunk, batch_);

    Stage stage = block.update(stages++).allow_race_conditions();
    unroll_in_vectors(stage,
                      {r[0], r[1], r[2], r[3], r[4], part_, row_block_, column_block_, batch_}, 2,
                      problem_.lanes)
        .never_partition_all();
    product.compute_at(block, r[2]);
    if (packs_inside) {
      Func left = term.left, right = term.right;
      left.compute_at(block, r[4]);
      right.compute_at(block, r[4]);
      stage.parallel(part_);
    }
  }
  block.compute_at(out_, loops.block);
  // Odd row pitch, so that the rows of a register tile do not fall into one set of the cache.
  if (!packs_inside) block.align_storage(x_, tiles_.block_columns + problem_.lanes);
  return block;
}

// The sums of a tile of C: sum(column, row, row tile, column tile, row block, column block, batch).
// The last chunk goes from registers to the output without a stay in the block.
Func ContractionScheduler::finished_tile(const Loops& loops, const std::vector<Panels>& panels) {
  const int rows = tiles_.rows, columns = tiles_.vectors * problem_.lanes;
  const int row_tiles = tiles_.block_rows / rows, column_tiles = tiles_.block_columns / columns;
  Func before = block(loops, panels, 1, false), last = tile(panels.back(), true);
  const Expr chunks = chunks_of(panels.back(), batch_);
  Func sum("out_sum");
  auto at = [&](const RDom& r) {
    return sum(r[0], r[1], tile_, panel_, row_block_, column_block_, batch_);
  };
  RDom r(0, columns, 0, rows, "r"), more(0, columns, 0, rows, "more");
  sum(x_, y_, tile_, panel_, row_block_, column_block_, batch_) = undef(problem_.type);
  at(r) = last(r[0], r[1], row_block_ * row_tiles + tile_, column_block_ * column_tiles + panel_,
               problem_.deals_terms() ? Expr(0) : last_chunk(panels.back()), batch_);
  if (panels.size() == 1) more.where(chunks > 1);
  at(more) += before(panel_ * columns + more[0], tile_ * rows + more[1], 0, row_block_,
                     column_block_, batch_);
  sum.compute_at(out_, loops.tile).bound_storage(x_, columns).bound_storage(y_, rows);
  for (Var v : {tile_, panel_, row_block_, column_block_, batch_}) sum.bound_storage(v, 1);
  for (int stage = 0; stage < 2; ++stage) {
    const RDom& over = stage == 0 ? r : more;
    unroll_in_vectors(sum.update(stage),
                      {over[0], over[1], tile_, panel_, row_block_, column_block_, batch_}, 2,
                      problem_.lanes)
        .never_partition_all();
  }
  last.compute_at(sum, tile_);
  return sum;
}

void ContractionScheduler::blocked(const Expr& condition) {
  const int rows = tiles_.rows, columns = tiles_.vectors * problem_.lanes;
  // Columns of several blocks: the panels of each block are packed before its rows, and used while
  // they are in cache. Of one block, or where their number is not known, all are packed first.
  const bool several = constant(problem_.columns) > tiles_.block_columns;
  const bool shares = problem_.deals_few_rows() || several;
  // The next block is fetched while one is multiplied: both take no more cache than one that is
  // twice as wide.
  if (several) tiles_.block_columns /= 2;
  const int together = shares ? std::max(problem_.costs.rows_together / tiles_.block_rows, 1) : 1;
  Loops loops = open(condition, rows, columns, tiles_.block_rows / rows,
                     tiles_.block_columns / columns, together, suits(Strategy::blocked));
  std::vector<Panels> panels = pack_terms(shares ? together : 0);
  Func sum = finished_tile(loops, panels);
  store(loops, sum(loops.column, loops.row, loops.row_tile, loops.column_tile, loops.row_block,
                   loops.column_block, loops.batch));
  for (Panels& term : panels) {
    term.left.compute_at(out_, loops.stripe);
    term.right.compute_at(out_, shares ? loops.column_block : loops.batch);
    if (problem_.one_block || problem_.deals_few_rows()) continue;
    for (int i = 0; i < term.right.num_update_definitions(); ++i)
      term.right.update(i).parallel(panel_);
  }
  tiles_ = problem_.tiles;
}

void ContractionScheduler::split(const Expr& condition) {
  // Every block packs for itself, so that larger ones pack less often.
  tiles_.block_rows *= 2;
  tiles_.block_columns *= 2;
  Loops loops = open(condition, tiles_.block_rows, tiles_.block_columns, 1, 1);
  Expr splits = problem_.splits();
  Func c = block(loops, pack_terms(0), splits, true);
  Func sum("out_parts");
  RDom part(0, splits, "part");
  sum(x_, y_, row_block_, column_block_, batch_) = cast(problem_.type, 0);
  sum(x_, y_, row_block_, column_block_, batch_) +=
      c(x_, y_, part, row_block_, column_block_, batch_);
  store(loops, sum(loops.column, loops.row, loops.row_block, loops.column_block, loops.batch));
  sum.compute_at(out_, loops.row)
      .vectorize(x_, problem_.lanes)
      .update()
      .reorder(x_, part)
      .vectorize(x_, problem_.lanes);
  tiles_ = problem_.tiles;
}

}  // namespace attn::lower
