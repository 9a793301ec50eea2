// The loops over the output of a contraction, and the strategies that need no panels.
#include <algorithm>

#include "compiler/lower/cpu/contraction_scheduler.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {

using Group = OutputDim::Group;

Func ContractionScheduler::schedule() {
  std::vector<Var> vars;
  for (size_t i = 0; i < problem_.output.size(); ++i) vars.emplace_back("d" + std::to_string(i));
  std::vector<Expr> at(vars.begin(), vars.end());
  std::vector<Expr> unset;
  for (const Expr& value : problem_.epilogue(at, cast(problem_.type, 0)))
    unset.push_back(undef(value.type()));
  std::reverse(vars.begin(), vars.end());
  out_(vars) = Tuple(unset);

  if (problem_.deals_rows()) leave_out();
  Expr taken = const_false();
  auto add = [&](bool wanted, const Expr& condition,
                 void (ContractionScheduler::*strategy)(const Expr&)) {
    if (!wanted) return;
    Expr own = simplify(condition && !taken);
    if (Halide::Internal::is_const_zero(own)) return;
    (this->*strategy)(own);
    taken = taken || condition;
  };
  add(problem_.with_split, problem_.wants_split(), &ContractionScheduler::split);
  if (problem_.deals_rows()) {  // each group by its own
    direct(const_true());
    if (problem_.with_in_place) in_place(const_true());
  } else {
    const Expr few = problem_.rows <= problem_.costs.direct_rows;
    add(problem_.with_direct, few, &ContractionScheduler::direct);
    add(problem_.with_in_place, problem_.wants_in_place(problem_.rows),
        &ContractionScheduler::in_place);
  }
  add(true, const_true(), &ContractionScheduler::blocked);
  if (std::optional<Func> found = find_non_finite(problem_)) fallback(*found);

  // Halide's dimension 0 is the innermost.
  Expr stride = 1;
  for (size_t i = 0; i < problem_.output.size(); ++i) {
    const Expr& extent = problem_.output[problem_.output.size() - 1 - i].extent;
    const int dim = static_cast<int>(i);
    out_.output_buffers()[0].dim(dim).set_bounds(0, extent);  // and so those of the others
    for (const Halide::OutputImageParam& buffer : out_.output_buffers())
      buffer.dim(dim).set_stride(simplify(stride));
    stride = stride * extent;
  }
  return out_;
}

// The loops over blocks, in a block over tiles of `rows` x `columns`, and in a tile over rows, over
// runs of neighbouring columns (`hi`) and along a run (`lo`). With one dimension of columns there
// is one run, cut at the tile's ends, and `hi` walks its vectors. For a block of columns so many
// blocks of rows follow one another, `together`, before those of the next block of columns.
ContractionScheduler::Loops ContractionScheduler::open(const Expr& condition, int rows, int columns,
                                                       int row_tiles, int column_tiles,
                                                       int together, const OfMatrix& where) {
  const Problem& p = problem_;
  const bool one_run = constant(p.runs) == 1;
  Expr on = condition && p.rows > 0 && p.columns > 0;
  // Also the loops' extents end with a small matrix: bounds inference does not see conditions.
  Expr lo_extent = one_run ? Expr(p.lanes) : p.run;
  Expr hi_extent = one_run ? min(columns / p.lanes, blocks_of(p.columns, p.lanes))
                           : (columns - 1) / max(p.run, 1) + 2;
  const Expr row_blocks = min(together, blocks_of(p.rows, rows * row_tiles));
  Halide::Region ranges = {{0, lo_extent},
                           {0, hi_extent},
                           {0, min(rows, p.rows)},
                           {0, min(row_tiles, blocks_of(p.rows, rows))},
                           {0, min(column_tiles, blocks_of(p.columns, columns))},
                           {0, together == 1 ? Expr(1) : row_blocks},
                           {0, blocks_of(p.columns, columns * column_tiles)},
                           {0, blocks_of(p.rows, rows * row_tiles * together)},
                           {0, select(on, p.batch, 0)}};
  // Of few terms, writing the results takes as long as computing them: tiles follow one another
  // along the rows of the result, as memory does.
  const int column_tile = p.deals_terms() ? 3 : 4, row_tile = 7 - column_tile;
  if (p.deals_terms()) std::swap(ranges[3], ranges[4]);
  RDom domain(ranges, "o");
  const RVar stripe = domain[7], batch_of = domain[8];
  if (where) domain.where(unsolved(where(batch_of)));
  const Expr row_block = stripe * together + domain[5];
  Expr first = (domain[6] * column_tiles + domain[column_tile]) * columns;
  Expr first_row = (row_block * row_tiles + domain[row_tile]) * rows;
  const Expr matrix = in_range(batch_of, p.batch), rows_here = p.rows_of(matrix);
  // Of a block without rows nothing is packed.
  if (p.deals_rows()) domain.where(unsolved(row_block * (row_tiles * rows) < rows_here));
  domain.where(below(first_row, rows_here));
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
  domain.where(below(row, rows_here));

  Loops loops{.domain = domain,
              .one_run = one_run,
              .column = column,
              .row = domain[2],
              .row_tile = domain[row_tile],
              .column_tile = domain[column_tile],
              .block = domain[5],
              .column_block = domain[6],
              .stripe = stripe,
              .batch = batch_of,
              .tile = domain[3],
              .row_block = row_block,
              .coordinates = {}};
  // Coordinates of each group from its linear index; the columns' last one is `lo`.
  std::vector<Expr> extents[4];
  for (const OutputDim& dim : p.output) extents[static_cast<int>(dim.group)].push_back(dim.extent);
  if (!extents[2].empty()) extents[2].pop_back();
  const auto [batch, dealt] = p.apart(batch_of);
  std::vector<Expr> coordinates[] = {decode_index(batch, extents[0]),
                                     decode_index(p.row_at(matrix, row), extents[1]),
                                     decode_index(hi, extents[2]),
                                     {dealt}};
  coordinates[2].push_back(lo);
  size_t next[4] = {0, 0, 0, 0};
  for (const OutputDim& dim : p.output) {
    const int group = static_cast<int>(dim.group);
    loops.coordinates.push_back(in_range(coordinates[group][next[group]++], dim.extent));
  }
  return loops;
}

// Rows that are in no group have no sums.
void ContractionScheduler::leave_out() {
  Halide::Region ranges;
  for (const OutputDim& dim : problem_.output) ranges.push_back({0, dim.extent});
  std::ranges::reverse(ranges);
  RDom at(ranges, "hidden");
  std::vector<Expr> places, coordinates;
  for (size_t k = 0; k < ranges.size(); ++k) places.push_back(at[static_cast<int>(k)]);
  coordinates.assign(places.rbegin(), places.rend());
  Expr linear[4] = {0, 0, 0, 0};
  for (size_t k = 0; k < coordinates.size(); ++k) {
    Expr& of_group = linear[static_cast<int>(problem_.output[k].group)];
    of_group = of_group * problem_.output[k].extent + coordinates[k];
  }
  at.where(unsolved(problem_.leaves_out(linear[static_cast<int>(Group::kBatch)],
                                        linear[static_cast<int>(Group::kRow)])));
  std::vector<Expr> values = problem_.epilogue(coordinates, cast(problem_.type, 0));
  if (problem_.groups->hides_results)
    for (Expr& value : values) value = make_zero(value.type());
  out_(places) = Tuple(values);
  Stage stage = out_.update(0);
  stage.allow_race_conditions();
  // Of the dimension before the last a thread takes so many at a time.
  constexpr int kTogether = 64;
  if (ranges.size() > 1 && !problem_.one_block) {
    RVar outer("hidden_outer"), inner("hidden_inner");
    stage.split(at[1], outer, inner, kTogether, TailStrategy::GuardWithIf).parallel(outer);
    if (ranges.size() > 2) stage.parallel(at[static_cast<int>(ranges.size()) - 1]);
  }
  stage.vectorize(at[0], problem_.lanes, TailStrategy::GuardWithIf);
}

Stage ContractionScheduler::store(const Loops& loops, const Expr& sum) {
  std::vector<Expr> at(loops.coordinates.rbegin(), loops.coordinates.rend());
  std::vector<Expr> values = problem_.epilogue(loops.coordinates, sum);
  if (loops.is_fallback) {
    const FuncRef before = out_(at);
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = select(has_finite_bits(sum),
                         Expr(values.size() == 1 ? Expr(before) : Expr(before[k])), values[k]);
  }
  out_(at) = Tuple(values);
  Stage stage = out_.update(out_.num_update_definitions() - 1);
  RVar outer("lo_outer"), inner("lo_inner");
  if (loops.one_run) {
    stage.allow_race_conditions().vectorize(loops.domain[0]);
  } else {
    stage.allow_race_conditions()
        .split(loops.domain[0], outer, inner, problem_.lanes, TailStrategy::GuardWithIf)
        .vectorize(inner);
  }
  stage.parallel(loops.batch)
      .never_partition({loops.row_tile, loops.column_tile, loops.block, loops.column_block,
                        loops.stripe, loops.batch});
  if (!problem_.one_block)
    stage.parallel(loops.block).parallel(loops.column_block).parallel(loops.stripe);
  return stage;
}

// A group may have few rows, some or many.
ContractionScheduler::OfMatrix ContractionScheduler::suits(Strategy strategy) const {
  if (!problem_.deals_rows()) return {};
  return [this, strategy](const Expr& matrix) {
    const Expr rows = problem_.rows_of(matrix);
    const Expr few = rows <= problem_.costs.direct_rows;
    if (strategy == Strategy::direct) return few;
    if (!problem_.with_in_place) return !few;
    const Expr some = problem_.wants_in_place(rows);
    return !few && (strategy == Strategy::in_place ? some : !some);
  };
}

void ContractionScheduler::direct(const Expr& condition) {
  Loops loops = open(condition, problem_.costs.direct_rows, tiles_.block_columns, 1, 1, 1,
                     suits(Strategy::direct));
  Expr total;
  for (const ContractionTerm& term : problem_.terms) {
    Func sum = direct_sum(problem_, term);
    sum.compute_at(out_, loops.block);
    Expr value = sum(loops.column, loops.row, loops.column_block, loops.batch);
    total = total.defined() ? total + value : value;
  }
  store(loops, total);
}

// Results that see something that is not finite, as they are written.
void ContractionScheduler::fallback(const Func& where) {
  const int rows = problem_.costs.direct_rows;
  const int together = problem_.deals_few_rows() ? problem_.costs.rows_together / rows : 1;
  Loops loops = open(const_true(), rows, tiles_.block_columns, 1, 1, together,
                     [&](const Expr& matrix) { return where(matrix) != 0; });
  loops.is_fallback = true;
  Func sum = sum_as_written(problem_);
  sum.compute_at(out_, loops.block);
  store(loops,
        sum(loops.column, loops.row_block * rows + loops.row, loops.column_block, loops.batch));
}

Funcs cpu::schedule(const plan::ContractionForm& form, const Scope& scope, const Target& target) {
  const auto shown = shown_members(scope.g, target::costs(target.arch), form);
  const plan::ContractionForm scheduled = shown ? of_shown(form, *shown) : form;
  const ContractionSpec spec = contraction_spec(scope, scheduled, shown ? &*shown : nullptr);
  return {ContractionScheduler(spec, target).schedule()};
}

}  // namespace attn::lower
