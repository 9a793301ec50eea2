#include "compiler/lower/cpu/contraction_problem.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

namespace {

// The right factor's rows are dense: eight of them at a time are added to a block of sums.
Func columns_sum(const Problem& problem, const ContractionTerm& term) {
  Var x("x"), y("y"), column_block("column_block"), batch("batch");
  constexpr int kTogether = 8;
  Func sum("out_sum");
  Expr matrix = in_range(batch, problem.batch);
  Expr row = in_range(min(y, problem.rows_of(matrix) - 1), problem.rows);
  Expr column = clamped(likely(column_block * problem.tiles.block_columns + x), problem.columns);
  auto product = [&](const Expr& k) { return problem.product(term, matrix, row, column, k); };
  RDom k({{0, kTogether}, {0, term.reduced / kTogether}}, "k");
  RDom rest(term.reduced / kTogether * kTogether, term.reduced % kTogether, "rest");
  sum(x, y, column_block, batch) = cast(problem.type, 0);
  sum(x, y, column_block, batch) += product(in_range(k[1] * kTogether + k[0], term.reduced));
  sum(x, y, column_block, batch) += product(in_range(rest, term.reduced));
  sum.vectorize(x, problem.lanes);
  sum.update(0).reorder(k[0], x, y, k[1]).vectorize(x, problem.lanes).unroll(k[0]);
  sum.update(1).reorder(x, y, rest).vectorize(x, problem.lanes);
  return sum;
}

// The right factor is dense along k: dot products, lanes along k, four columns at a time.
Func dots_sum(const Problem& problem, const ContractionTerm& term) {
  Var x("x"), y("y"), column_block("column_block"), batch("batch"), lane("lane");
  constexpr int kTogether = 4;
  const int lanes = problem.lanes;
  Func sum("out_sum"), dot("out_dot");
  Expr matrix = in_range(batch, problem.batch);
  Expr row = in_range(min(y, problem.rows_of(matrix) - 1), problem.rows);
  Expr column = clamped(column_block * problem.tiles.block_columns + x, problem.columns);
  auto product = [&](const Expr& k) { return problem.product(term, matrix, row, column, k); };
  RDom k(0, term.reduced / lanes, "k"), along(0, lanes, "along");
  RDom rest(term.reduced / lanes * lanes, term.reduced % lanes, "rest");
  dot(lane, x, y, column_block, batch) = cast(problem.type, 0);
  dot(lane, x, y, column_block, batch) += product(in_range(k * lanes + lane, term.reduced));
  sum(x, y, column_block, batch) = cast(problem.type, 0);
  sum(x, y, column_block, batch) += dot(along, x, y, column_block, batch);
  sum(x, y, column_block, batch) += product(in_range(rest, term.reduced));

  Var outer("x_outer"), inner("x_inner");
  sum.update(0)
      .atomic()
      .vectorize(along)
      .split(x, outer, inner, kTogether, TailStrategy::RoundUp)
      .reorder(along, inner, outer, y)
      .unroll(inner);
  sum.update(1).reorder(rest, x, y);
  dot.compute_at(sum, outer).vectorize(lane).unroll(x);
  dot.update().reorder(lane, x, k).vectorize(lane).unroll(x);
  return sum;
}

}  // namespace

Func direct_sum(const Problem& problem, const ContractionTerm& term) {
  return term.right.contiguous == Factor::Along::kReduced ? dots_sum(problem, term)
                                                          : columns_sum(problem, term);
}

}  // namespace attn::lower
