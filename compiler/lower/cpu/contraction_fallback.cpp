#include "compiler/lower/cpu/contraction_problem.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {

namespace {

// Adds what it finds in one factor, over `extent` rows or columns, to found(batch).
void look_at(const Problem& problem, const ContractionTerm& term, bool is_left, Func& found) {
  Var lane("lane"), batch("batch");
  const Factor& factor = is_left ? term.left : term.right;
  const Expr matrix = in_range(batch, problem.batch);
  struct Axis {
    Expr here, most;
  };
  const Axis reduced = {problem.reduced_of(term, matrix), term.reduced};
  const Axis extent = is_left ? Axis{problem.rows_of(matrix), problem.rows}
                              : Axis{problem.columns, problem.columns};
  Func partial("out_not_finite");
  const bool along_outer = factor.contiguous == Factor::Along::kOuter;
  const int lanes = problem.lanes;
  const Axis &inner = along_outer ? extent : reduced, &other = along_outer ? reduced : extent;
  RDom r({{0, blocks_of(inner.most, lanes)}, {0, other.most}}, "r"), over(0, lanes, "over");
  // Data says how long the axis of the groups is, and whether anything is multiplied.
  const bool along_groups = problem.deals_terms() || (problem.deals_rows() && is_left);
  if (along_groups)
    r.where(unsolved(along_outer == problem.deals_rows() ? r[0] * lanes < inner.here
                                                         : r[1] < other.here));
  else if (problem.groups)
    r.where(unsolved(problem.rows_of(matrix) > 0));
  Expr within = in_range(min(r[0] * lanes + lane, inner.here - 1), inner.most);
  Expr at = in_range(r[1], other.most);
  Expr value = factor.at(matrix, along_outer ? within : at, along_outer ? at : within);
  partial(lane, batch) = 0;
  partial(lane, batch) = max(partial(lane, batch), cast<int32_t>(!has_finite_bits(value)));
  found(batch) = max(found(batch), partial(over, batch));
  found.update(found.num_update_definitions() - 1).atomic().vectorize(over);
  partial.compute_at(found, batch).vectorize(lane, lanes).update().vectorize(lane, lanes);
}

}  // namespace

std::optional<Func> find_non_finite(const Problem& problem) {
  Func found("out_non_finite");
  found(Var("batch")) = 0;
  for (const ContractionTerm& term : problem.terms) {
    if (term.left.fallback) look_at(problem, term, true, found);
    if (term.right.fallback) look_at(problem, term, false, found);
  }
  if (!found.has_update_definition()) return std::nullopt;
  return found.compute_root().bound(Var("batch"), 0, problem.batch);
}

Func sum_as_written(const Problem& problem) {
  Var x("x"), y("y"), column_block("column_block"), batch("batch");
  Func sum("out_as_written");
  const Expr zero = make_zero(problem.type);
  Expr matrix = in_range(batch, problem.batch);
  Expr row = in_range(min(y, problem.rows_of(matrix) - 1), problem.rows);
  Expr column = clamped(column_block * problem.tiles.block_columns + x, problem.columns);
  sum(x, y, column_block, batch) = zero;
  for (const ContractionTerm& term : problem.terms) {
    RDom r(0, term.reduced, "k");
    if (problem.deals_terms()) r.where(unsolved(r < problem.reduced_of(term, matrix)));
    Expr k = in_range(r, term.reduced), counts = const_true();
    if (term.left.visible) counts = counts && term.left.visible(matrix, row, k);
    if (term.right.visible) counts = counts && term.right.visible(matrix, column, k);
    sum(x, y, column_block, batch) +=
        masked(counts,
               cast(problem.type, term.left.at(matrix, row, k)) *
                   cast(problem.type, term.right.at(matrix, column, k)),
               zero);
    sum.update(sum.num_update_definitions() - 1).reorder(x, r, y).vectorize(x, problem.lanes);
  }
  return sum.vectorize(x, problem.lanes);
}

}  // namespace attn::lower
