// Three strategies, chosen at run time where extents do not settle it at compile time; each is one
// update of the output over its own blocks, switched on by a condition that empties its loops:
//
//   blocked  packed panels of both factors, register tiles; blocks of C in the second-level cache
//            hold what a reduction of several chunks has summed so far;
//   split    the same, the reduction cut into parts that are summed at the end (small C, long K);
//   direct   up to four rows: the right factor is read once and never packed.
//
// After it, where conditions of one factor hide what is not finite of the other, results that see
// some of it are computed again (contraction_fallback.h).
//
// Panels and blocks are `undef` and one update over an explicit domain, so that nothing outside the
// operands is ever read; tails repeat the last row or column and are cut off by the store.
#include <algorithm>

#include "compiler/lower/contraction_direct.h"
#include "compiler/lower/contraction_fallback.h"
#include "compiler/lower/contraction_pack.h"
#include "compiler/lower/contraction_problem.h"
#include "compiler/lower/cpu_schedules.h"
#include "compiler/lower/linear_index.h"
#include "compiler/lower/translate.h"

namespace attn::lower {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Stage;
using Halide::TailStrategy;
using Halide::Type;
using Halide::Var;

namespace {

using Group = OutputDim::Group;

class Scheduler {
 public:
  explicit Scheduler(Problem problem)
      : problem_(std::move(problem)), tiles_(problem_.tiles), out_(problem_.name) {}
  Func schedule();

 private:
  // One strategy's loops over the output: lo and hi walk a block's columns, see `open`.
  struct Loops {
    RDom domain;
    bool one_run = false, repairs = false;
    Expr row, column;            // within the tile
    Expr row_tile, column_tile;  // within the block
    Expr row_block, column_block, batch;
    std::vector<Expr> place;
    RVar batch_loop() const { return domain[7]; }
    RVar row_loop() const { return domain[6]; }
    RVar column_loop() const { return domain[5]; }
    RVar column_tile_loop() const { return domain[4]; }
    RVar row_tile_loop() const { return domain[3]; }
    RVar row_in_tile() const { return domain[2]; }
  };
  struct Panels {
    Func left, right;
    Expr reduced;
  };

  Loops open(const Expr& condition, int rows, int columns, int row_tiles, int column_tiles,
             const std::optional<Func>& where = {});
  Stage store(const Loops& loops, const Expr& sum);
  Func tile(const Panels& term);
  Func block(const Loops& loops, const std::vector<Panels>& panels, const Expr& splits,
             bool packs_inside);
  Func finished_tile(const Loops& loops, const std::vector<Panels>& panels);
  std::vector<Panels> pack_terms();
  void blocked(const Expr& condition);
  void split(const Expr& condition);
  void direct(const Expr& condition);
  void repair(const Func& where);

  Problem problem_;
  ContractionTiles tiles_;
  Func out_;
  Var x_{"x"}, y_{"y"}, k_{"k"}, tile_{"tile"}, panel_{"panel"}, chunk_{"chunk"}, part_{"part"};
  Var row_block_{"row_block"}, column_block_{"column_block"}, batch_{"batch"};
};

Func Scheduler::schedule() {
  std::vector<Var> vars;
  for (size_t i = 0; i < problem_.output.size(); ++i) vars.emplace_back("d" + std::to_string(i));
  std::vector<Expr> place(vars.begin(), vars.end());
  std::vector<Expr> unset;
  for (const Expr& value : problem_.epilogue(place, Halide::cast(problem_.type, 0)))
    unset.push_back(Halide::undef(value.type()));
  std::reverse(vars.begin(), vars.end());
  out_(vars) = Halide::Tuple(unset);

  Expr taken = Halide::Internal::const_false();
  auto add = [&](bool wanted, const Expr& condition, void (Scheduler::*strategy)(const Expr&)) {
    if (!wanted) return;
    Expr own = Halide::Internal::simplify(condition && !taken);
    if (Halide::Internal::is_const_zero(own)) return;
    (this->*strategy)(own);
    taken = taken || condition;
  };
  add(problem_.with_split, split_condition(problem_), &Scheduler::split);
  add(problem_.with_direct, problem_.rows <= problem_.costs->direct_rows, &Scheduler::direct);
  add(true, Halide::Internal::const_true(), &Scheduler::blocked);
  if (std::optional<Func> found = find_non_finite(problem_)) repair(*found);

  // Halide's dimension 0 is the innermost.
  Expr stride = 1;
  for (size_t i = 0; i < problem_.output.size(); ++i) {
    const Expr& extent = problem_.output[problem_.output.size() - 1 - i].extent;
    const int dim = static_cast<int>(i);
    out_.output_buffers()[0].dim(dim).set_bounds(0, extent);  // and so those of the others
    for (const Halide::OutputImageParam& buffer : out_.output_buffers())
      buffer.dim(dim).set_stride(Halide::Internal::simplify(stride));
    stride = stride * extent;
  }
  return out_;
}

// The loops over blocks, in a block over tiles of `rows` x `columns`, and in a tile over rows, over
// runs of neighbouring columns (`hi`) and along a run (`lo`). With one dimension of columns there
// is one run, cut at the tile's ends, and `hi` walks its vectors.
Scheduler::Loops Scheduler::open(const Expr& condition, int rows, int columns, int row_tiles,
                                 int column_tiles, const std::optional<Func>& where) {
  const Problem& p = problem_;
  const bool one_run = constant(p.runs) == 1;
  Expr on = condition && p.rows > 0 && p.columns > 0;
  // Also the loops' extents end with a small matrix: bounds inference does not see conditions.
  Expr lo_extent = one_run ? Expr(p.lanes) : p.run;
  Expr hi_extent = one_run ? min(columns / p.lanes, blocks_of(p.columns, p.lanes))
                           : (columns - 1) / max(p.run, 1) + 2;
  Halide::Region ranges = {{0, lo_extent},
                           {0, hi_extent},
                           {0, min(rows, p.rows)},
                           {0, min(row_tiles, blocks_of(p.rows, rows))},
                           {0, min(column_tiles, blocks_of(p.columns, columns))},
                           {0, blocks_of(p.columns, columns * column_tiles)},
                           {0, blocks_of(p.rows, rows * row_tiles)},
                           {0, select(on, p.batch, 0)}};
  Loops loops;
  RDom domain(ranges, "o");
  if (where) domain.where(unsolved((*where)(domain[7]) != 0));
  Expr first = (domain[5] * column_tiles + domain[4]) * columns;
  Expr first_row = (domain[6] * row_tiles + domain[3]) * rows;
  domain.where(below(first_row, p.rows));
  domain.where(below(first, p.columns));
  Expr lo = domain[0], hi = 0, column = domain[0];
  if (one_run) {
    column = domain[1] * p.lanes + domain[0];
    lo = first + column;
    domain.where(likely(below(lo, p.columns)));
  } else {
    hi = first / p.run + domain[1];
    Expr within = hi * p.run + lo - first;
    domain.where(below(hi, p.runs));
    domain.where(within >= 0);
    domain.where(within < columns);
    column = in_range(within, columns);
  }
  Expr row = first_row + domain[2];
  domain.where(below(row, p.rows));

  loops.domain = domain;
  loops.one_run = one_run;
  loops.row = domain[2];
  loops.column = column;
  loops.row_tile = domain[3];
  loops.column_tile = domain[4];
  loops.row_block = domain[6];
  loops.column_block = domain[5];
  loops.batch = domain[7];
  // Coordinates of each group from its linear index; the columns' last one is `lo`.
  std::vector<Expr> extents[3], coordinates[3];
  for (const OutputDim& dim : p.output) {
    extents[static_cast<int>(dim.group)].push_back(dim.extent);
  }
  auto& of_columns = extents[static_cast<int>(Group::kColumn)];
  if (!of_columns.empty()) of_columns.pop_back();
  coordinates[static_cast<int>(Group::kBatch)] =
      decode_index(loops.batch, extents[static_cast<int>(Group::kBatch)]);
  coordinates[static_cast<int>(Group::kRow)] =
      decode_index(row, extents[static_cast<int>(Group::kRow)]);
  coordinates[static_cast<int>(Group::kColumn)] = decode_index(hi, of_columns);
  coordinates[static_cast<int>(Group::kColumn)].push_back(lo);
  size_t next[3] = {0, 0, 0};
  for (const OutputDim& dim : p.output) {
    const int group = static_cast<int>(dim.group);
    loops.place.push_back(in_range(coordinates[group][next[group]++], dim.extent));
  }
  return loops;
}

Stage Scheduler::store(const Loops& loops, const Expr& sum) {
  std::vector<Expr> place(loops.place.rbegin(), loops.place.rend());
  std::vector<Expr> values = problem_.epilogue(loops.place, sum);
  if (loops.repairs) {
    const Halide::FuncRef before = out_(place);
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = select(has_finite_bits(sum),
                         Expr(values.size() == 1 ? Expr(before) : Expr(before[k])), values[k]);
  }
  out_(place) = Halide::Tuple(values);
  Stage stage = out_.update(out_.num_update_definitions() - 1);
  RVar outer("lo_outer"), inner("lo_inner");
  if (loops.one_run) {
    stage.allow_race_conditions().vectorize(loops.domain[0]);
  } else {
    stage.allow_race_conditions()
        .split(loops.domain[0], outer, inner, problem_.lanes, TailStrategy::GuardWithIf)
        .vectorize(inner);
  }
  stage.parallel(loops.batch_loop())
      .never_partition({loops.row_tile_loop(), loops.column_tile_loop(), loops.column_loop(),
                        loops.row_loop(), loops.batch_loop()});
  if (!problem_.one_block) stage.parallel(loops.column_loop()).parallel(loops.row_loop());
  return stage;
}

std::vector<Scheduler::Panels> Scheduler::pack_terms() {
  std::vector<Panels> panels;
  for (const ContractionTerm& term : problem_.terms) {
    panels.push_back(
        {pack_panels(problem_, "_left", term.left, term.reduced, problem_.rows, tiles_.rows),
         pack_panels(problem_, "_right", term.right, term.reduced, problem_.columns,
                     tiles_.vectors * problem_.lanes),
         term.reduced});
  }
  return panels;
}

// One chunk of the reduction: tile(column, row, row tile, column tile, chunk, batch).
Func Scheduler::tile(const Panels& term) {
  const int length = tiles_.block_reduced;
  Func tile(problem_.name + "_tile");
  RDom k({{0, kStepReduced}, {0, length / kStepReduced}}, "k");
  k.where(k[1] * kStepReduced < term.reduced - chunk_ * length);
  Expr at = k[1] * kStepReduced + k[0];
  tile(x_, y_, tile_, panel_, chunk_, batch_) = Halide::cast(problem_.type, 0);
  tile(x_, y_, tile_, panel_, chunk_, batch_) +=
      term.left(y_, at, tile_, chunk_, batch_) * term.right(x_, at, panel_, chunk_, batch_);
  tile.vectorize(x_, problem_.lanes).unroll(x_).unroll(y_);
  tile.update()
      .reorder(x_, y_, k[0], k[1])
      .vectorize(x_, problem_.lanes)
      .unroll(x_)
      .unroll(y_)
      .unroll(k[0])
      .never_partition_all();
  return tile;
}

// What is summed before the last chunk, or with splits everything, for one block of C:
// block(column, row, part, row block, column block, batch), each chunk computed in registers and
// added.
Func Scheduler::block(const Loops& loops, const std::vector<Panels>& panels, const Expr& splits,
                      bool packs_inside) {
  const int rows = tiles_.rows, columns = tiles_.vectors * problem_.lanes;
  const int length = tiles_.block_reduced;
  Func block(problem_.name + "_block");
  block(x_, y_, part_, row_block_, column_block_, batch_) = Halide::undef(problem_.type);
  int stages = 0;
  for (const Panels& term : panels) {
    Expr chunks = blocks_of(term.reduced, length);
    if (!packs_inside && stages + 1 == static_cast<int>(panels.size())) chunks = chunks - 1;
    // The first chunk of a part sets the block, so there is one even where nothing is summed,
    // unless then nobody asks.
    const bool first = stages == 0;
    const bool always = packs_inside || panels.size() > 1;
    Expr per_split = (chunks + splits - 1) / splits;
    if (first && always) per_split = max(per_split, 1);
    RDom r({{0, columns},
            {0, rows},
            {0, min(tiles_.block_rows / rows, blocks_of(problem_.rows, rows))},
            {0, min(tiles_.block_columns / columns, blocks_of(problem_.columns, columns))},
            {0, per_split}},
           "c");
    r.where(r[2] * rows < problem_.rows - row_block_ * tiles_.block_rows);
    r.where(r[3] * columns < problem_.columns - column_block_ * tiles_.block_columns);
    Expr chunk = part_ * per_split + r[4];
    r.where(first && always ? chunk < chunks || r[4] == 0 : chunk < chunks);
    Expr row_tile = row_block_ * (tiles_.block_rows / rows) + r[2];
    Expr column_tile = column_block_ * (tiles_.block_columns / columns) + r[3];

    Func product = tile(term);
    Expr sum =
        block(r[3] * columns + r[0], r[2] * rows + r[1], part_, row_block_, column_block_, batch_);
    if (first) sum = select(r[4] == 0, Halide::Internal::make_zero(problem_.type), sum);
    block(r[3] * columns + r[0], r[2] * rows + r[1], part_, row_block_, column_block_, batch_) =
        sum + product(r[0], r[1], row_tile, column_tile, chunk, batch_);

    Stage stage = block.update(stages++);
    stage.allow_race_conditions()
        .reorder(r[0], r[1], r[2], r[3], r[4], part_, row_block_, column_block_, batch_)
        .vectorize(r[0], problem_.lanes)
        .unroll(r[0])
        .unroll(r[1])
        .never_partition_all();
    product.compute_at(block, r[2]);
    if (packs_inside) {
      Func left = term.left, right = term.right;
      left.compute_at(block, r[4]);
      right.compute_at(block, r[4]);
      stage.parallel(part_);
    }
  }
  block.compute_at(out_, loops.column_loop());
  // Odd row pitch, so that the rows of a register tile do not fall into one set of the cache.
  if (!packs_inside) {
    block.align_storage(x_, tiles_.block_columns + problem_.lanes);
  }
  return block;
}

// The sums of a tile of C: sum(column, row, row tile, column tile, row block, column block, batch).
// The last chunk goes from registers to the output without a stay in the block.
Func Scheduler::finished_tile(const Loops& loops, const std::vector<Panels>& panels) {
  const int rows = tiles_.rows, columns = tiles_.vectors * problem_.lanes;
  const int row_tiles = tiles_.block_rows / rows, column_tiles = tiles_.block_columns / columns;
  Func before = block(loops, panels, 1, false), last = tile(panels.back());
  Expr chunks = blocks_of(panels.back().reduced, tiles_.block_reduced);
  Func sum(problem_.name + "_sum");
  auto at = [&](const RDom& r) {
    return sum(r[0], r[1], tile_, panel_, row_block_, column_block_, batch_);
  };
  RDom r(0, columns, 0, rows, "r"), more(0, columns, 0, rows, "more");
  sum(x_, y_, tile_, panel_, row_block_, column_block_, batch_) = Halide::undef(problem_.type);
  at(r) = last(r[0], r[1], row_block_ * row_tiles + tile_, column_block_ * column_tiles + panel_,
               max(chunks - 1, 0), batch_);
  if (panels.size() == 1) more.where(chunks > 1);
  at(more) += before(panel_ * columns + more[0], tile_ * rows + more[1], 0, row_block_,
                     column_block_, batch_);
  sum.compute_at(out_, loops.row_tile_loop()).bound_storage(x_, columns).bound_storage(y_, rows);
  for (Var v : {tile_, panel_, row_block_, column_block_, batch_}) sum.bound_storage(v, 1);
  for (int stage = 0; stage < 2; ++stage) {
    const RDom& over = stage == 0 ? r : more;
    sum.update(stage)
        .reorder(over[0], over[1], tile_, panel_, row_block_, column_block_, batch_)
        .vectorize(over[0], problem_.lanes)
        .unroll(over[0])
        .unroll(over[1])
        .never_partition_all();
  }
  last.compute_at(sum, tile_);
  return sum;
}

void Scheduler::blocked(const Expr& condition) {
  const int rows = tiles_.rows, columns = tiles_.vectors * problem_.lanes;
  Loops loops =
      open(condition, rows, columns, tiles_.block_rows / rows, tiles_.block_columns / columns);
  std::vector<Panels> panels = pack_terms();
  Func sum = finished_tile(loops, panels);
  store(loops, sum(loops.column, loops.row, loops.row_tile, loops.column_tile, loops.row_block,
                   loops.column_block, loops.batch));
  for (Panels& term : panels) {
    term.left.compute_at(out_, loops.row_loop());
    term.right.compute_at(out_, loops.batch_loop());
    if (problem_.one_block) continue;
    for (int i = 0; i < term.right.num_update_definitions(); ++i) {
      term.right.update(i).parallel(panel_);
    }
  }
}

void Scheduler::split(const Expr& condition) {
  // Every block packs for itself, so that larger ones pack less often.
  tiles_.block_rows *= 2;
  tiles_.block_columns *= 2;
  Loops loops = open(condition, tiles_.block_rows, tiles_.block_columns, 1, 1);
  Expr splits = splits_of(problem_);
  Func c = block(loops, pack_terms(), splits, true);
  Func sum(problem_.name + "_parts");
  RDom part(0, splits, "part");
  sum(x_, y_, row_block_, column_block_, batch_) = Halide::cast(problem_.type, 0);
  sum(x_, y_, row_block_, column_block_, batch_) +=
      c(x_, y_, part, row_block_, column_block_, batch_);
  store(loops, sum(loops.column, loops.row, loops.row_block, loops.column_block, loops.batch));
  sum.compute_at(out_, loops.row_in_tile())
      .vectorize(x_, problem_.lanes)
      .update()
      .reorder(x_, part)
      .vectorize(x_, problem_.lanes);
  tiles_ = problem_.tiles;
}

void Scheduler::direct(const Expr& condition) {
  Loops loops = open(condition, problem_.costs->direct_rows, tiles_.block_columns, 1, 1);
  Expr total;
  for (const ContractionTerm& term : problem_.terms) {
    Func sum = direct_sum(problem_, term);
    sum.compute_at(out_, loops.column_loop());
    Expr value = sum(loops.column, loops.row, loops.column_block, loops.batch);
    total = total.defined() ? total + value : value;
  }
  store(loops, total);
}

// Results that see something that is not finite, as they are written.
void Scheduler::repair(const Func& where) {
  Loops loops = open(Halide::Internal::const_true(), problem_.costs->direct_rows,
                     tiles_.block_columns, 1, 1, where);
  loops.repairs = true;
  Func sum = plain_sum(problem_);
  sum.compute_at(out_, loops.column_loop());
  store(loops, sum(loops.column, loops.row_block * problem_.costs->direct_rows + loops.row,
                   loops.column_block, loops.batch));
}

}  // namespace

Funcs schedule_contraction(const ContractionSpec& spec, const Target& target) {
  return {Scheduler(make_problem(spec, target)).schedule()};
}

}  // namespace attn::lower
