#include <algorithm>

#include "compiler/lower/cpu/contraction_problem.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

namespace {

constexpr int kPanelsTogether = 8;

Expr padded(const Expr& length) {
  return (length + (kStepReduced - 1)) / kStepReduced * kStepReduced;
}

}  // namespace

Func pack_panels(const Problem& problem, const char* name, const ContractionTerm& term,
                 bool is_left, int width) {
  Var y("y"), k_("k"), panel("panel"), chunk("chunk"), batch("batch");
  Func packed(std::string("out") + name);
  const Factor& factor = is_left ? term.left : term.right;
  const int length = problem.tiles.block_reduced;
  const Expr extent = is_left ? problem.rows_of(batch) : problem.columns;
  const Expr most = is_left ? problem.rows : problem.columns;
  Expr last = is_left && problem.deals_rows() ? max(extent - 1, 0) : extent - 1;
  Expr outer = in_range(min(likely(panel * width + y), last), most);
  // Of the reduction, in this chunk.
  Expr left = clamp(problem.reduced_of(term, batch) - chunk * length, 0, length);
  packed(y, k_, panel, chunk, batch) = undef(problem.type);
  packed.bound_extent(y, width);
  auto fill = [&](const Expr& k, bool pads) {
    Expr at = pads ? Expr(min(likely(k), left - 1)) : k;
    Expr value = problem.multiplied(factor, in_range(batch, problem.batch), outer,
                                    in_range(chunk * length + at, term.reduced));
    if (pads) value = select(likely(k < left), value, make_zero(problem.type));
    packed(y, k, panel, chunk, batch) = value;
    return packed.update(packed.num_update_definitions() - 1);
  };
  int lanes = problem.lanes;
  // Loops may go on for whole blocks of rows; panels beyond the last row are not packed.
  const auto has = [&](RDom& k) {
    if (is_left) k.where(unsolved(panel * width < extent));
  };
  if (factor.contiguous == Factor::Along::kOuter) {
    while (width % lanes != 0) lanes /= 2;
    RDom k(0, length, "k");
    k.where(k < padded(left));
    has(k);
    // Of a row of the operand, which may be a page from the next one, some panels are filled at
    // once.
    Var together("panel_inner");
    fill(k, true)
        .split(panel, panel, together, kPanelsTogether, TailStrategy::GuardWithIf)
        .reorder(y, together, k, panel, chunk, batch)
        .vectorize(y, lanes)
        .unroll(y)
        .never_partition({panel, chunk, batch});  // only the last panel clamps its rows
    return packed;
  }
  // Squares are transposed in registers: from each row comes a cache line, whole and once.
  constexpr int kSquare = 16;
  lanes = std::min(lanes, kSquare / 2);
  while (width % lanes != 0) lanes /= 2;
  RDom k({{0, kSquare}, {0, length / kSquare}}, "k");
  k.where(k[1] < left / kSquare);
  has(k);
  RDom rest(0, kSquare, "rest");
  rest.where(rest < padded(left % kSquare));
  has(rest);
  Var outside("y_outer"), inside("y_inner");
  fill(k[1] * kSquare + k[0], false)
      .split(y, outside, inside, lanes, TailStrategy::RoundUp)
      .reorder(inside, k[0], outside, k[1], panel, chunk, batch)
      .vectorize(inside)
      .unroll(k[0]);
  fill(left / kSquare * kSquare + rest, true).reorder(rest, y, panel, chunk, batch);
  return packed;
}

}  // namespace attn::lower
