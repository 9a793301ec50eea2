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

Func pack_panels(const Problem& problem, const char* name, const Factor& factor,
                 const Expr& reduced, const Expr& extent, int width) {
  Var y("y"), k_("k"), panel("panel"), chunk("chunk"), batch("batch");
  Func packed(std::string("out") + name);
  const int length = problem.tiles.block_reduced;
  Expr outer = clamped(likely(panel * width + y), extent);
  Expr left = clamp(reduced - chunk * length, 0, length);  // of the reduction, in this chunk
  packed(y, k_, panel, chunk, batch) = undef(problem.type);
  packed.bound_extent(y, width);
  auto fill = [&](const Expr& k, bool pads) {
    Expr at = pads ? Expr(min(likely(k), left - 1)) : k;
    Expr value = problem.multiplied(factor, in_range(batch, problem.batch), outer,
                                    in_range(chunk * length + at, reduced));
    if (pads) value = select(likely(k < left), value, make_zero(problem.type));
    packed(y, k, panel, chunk, batch) = value;
    return packed.update(packed.num_update_definitions() - 1);
  };
  int lanes = problem.lanes;
  if (factor.contiguous == Factor::Along::kOuter) {
    while (width % lanes != 0) lanes /= 2;
    RDom k(0, length, "k");
    k.where(k < padded(left));
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
  RDom rest(0, kSquare, "rest");
  rest.where(rest < padded(left % kSquare));
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
