// How loops are computed.
#include <algorithm>

#include "compiler/lower/cpu/schedules.h"
#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/forms/loops.h"

namespace attn::lower {

namespace {

// Computed whole, before the output.
void place_scatter(const LoopsSpec& spec, const Target& target) {
  Func sums = spec.scatter;
  const int lanes = lanes_of(target, spec.computed);
  sums.compute_root();
  if (spec.scattered != 0 && spec.same_condition_in_lanes)
    sums.update().allow_race_conditions().vectorize(spec.vars[0], lanes, TailStrategy::GuardWithIf);
  else
    sums.update().unscheduled();
  if (!spec.vars.empty()) sums.vectorize(spec.vars[0], lanes, TailStrategy::GuardWithIf);
}

// Rows of the innermost dimension are dealt out to threads in blocks of enough points.
void deal_out(const LoopsSpec& spec, const Target& target, Func out) {
  Var fused = spec.vars[1], block("block"), in_block("in_block");
  for (size_t k = 2; k < spec.vars.size(); ++k) {
    Var next("f" + std::to_string(k));
    out.fuse(fused, spec.vars[k], next);
    fused = next;
  }
  const Expr rows = max(target::costs(target.arch).task_points / max(spec.row_points, 1), 1);
  out.split(fused, block, in_block, rows, TailStrategy::GuardWithIf).parallel(block);
}

}  // namespace

Funcs cpu::schedule(const plan::LoopsForm& form, const Scope& scope, const Target& target) {
  const LoopsSpec spec = loops_spec(scope, form.definition);
  Func out = spec.out;
  if (spec.is_placed) {
    const int lanes = std::min(lanes_of(target, spec.stored), lanes_of(target, Halide::Float(32)));
    if (spec.is_innermost_plain)
      out.update().vectorize(spec.vars[0], lanes, TailStrategy::GuardWithIf);
    else
      out.update().unscheduled();
    return {out};
  }
  if (spec.has_planes) {
    std::vector<VarOrRVar> order(spec.vars.begin(), spec.vars.end());
    order.insert(order.begin(), spec.plane);
    out.bound(spec.plane, 0, 2).unroll(spec.plane);
    if (!spec.vars.empty()) out.reorder_storage(out.args()).reorder(order);
  }
  if (spec.scatter.defined()) place_scatter(spec, target);
  if (spec.vars.empty()) {
    for (Func f : spec.reductions) f.compute_root();
    return {out};
  }
  if (spec.vars.size() > 1) deal_out(spec, target, out);
  const int lanes = std::min(lanes_of(target, spec.stored), lanes_of(target, Halide::Float(32)));
  Var inner = spec.vars[0], outer("outer"), lane("lane");
  out.split(inner, outer, lane, lanes, TailStrategy::GuardWithIf).vectorize(lane);
  for (Func f : spec.reductions) {
    f.compute_at(out, outer).bound_storage(inner, lanes);
    f.vectorize(inner, lanes, TailStrategy::GuardWithIf);
    if (spec.same_condition_in_lanes)
      f.update().vectorize(inner, lanes, TailStrategy::GuardWithIf);
    else
      f.update().unscheduled();
  }
  return {out};
}

}  // namespace attn::lower
