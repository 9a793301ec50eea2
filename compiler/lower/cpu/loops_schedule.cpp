// How loops are computed.
#include <algorithm>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/forms/loops.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

namespace {

// Computed whole, before the output where it is another.
void place_scatter(const LoopsSpec& spec, const Target& target) {
  Func sums = spec.scatter;
  const int lanes = lanes_of(target, spec.computed);
  if (!spec.in_place) sums.compute_root();
  if (spec.scattered != 0 && spec.same_condition_in_lanes)
    sums.update().allow_race_conditions().vectorize(spec.vars[0], lanes, TailStrategy::GuardWithIf);
  else
    sums.update().unscheduled();
  if (!spec.in_place && !spec.vars.empty())
    sums.vectorize(spec.vars[0], lanes, TailStrategy::GuardWithIf);
}

// Rows of the innermost dimension are dealt out to threads in blocks of enough points; the variable
// of the rows of a block.
Var deal_out(const LoopsSpec& spec, const Target& target, Func out) {
  Var fused = spec.vars[1], block("block"), in_block("in_block");
  for (size_t k = 2; k < spec.vars.size(); ++k) {
    Var next("f" + std::to_string(k));
    out.fuse(fused, spec.vars[k], next);
    fused = next;
  }
  const Expr rows = max(target::costs(target.arch).task_points / max(spec.row_points, 1), 1);
  out.split(fused, block, in_block, rows, TailStrategy::GuardWithIf).parallel(block);
  return in_block;
}

// At most so many vectors of the last index: with two of 32 bytes all of a line of memory is used
// at once. Not measured apart.
constexpr int kVectors = 2;

// The register tile of a sum: one of the free indices but the last, and the last.
struct PlaneTile {
  Var plane;        // along which results share what they read
  int all = 0;      // planes
  int planes = 0;   // of a tile, which divide all
  int vectors = 0;  // of the last index
};

// The tile of a sum of products of planes and numbers, r[b,g,i,j] = sum[h] a[g,h] s[b,h,i,j]: each
// vector of s is loaded for all g of a tile. Nothing where the results share no vectors.
std::optional<PlaneTile> plane_tile(const LoopsSpec& spec, const Scope& scope,
                                    const ir::Definition& d, const Target& target) {
  if (d.combine != ir::Combine::sum || d.free.size() < 2 || spec.reductions.size() != 1 ||
      spec.scatter.defined() || !spec.same_condition_in_lanes)
    return {};
  const ir::IndexId along = d.free.back();
  std::set<ir::IndexId> used;  // by what lies along the last index
  for (const ir::Expr& f : ir::factors_of(d.body)) {
    if (!f.is(ir::Kind::read) && !ir::tensors(f).empty()) return {};
    if (!ir::uses(f, along)) continue;
    if (!f.is(ir::Kind::read) || !(f.args().back() == ir::index_value(along))) return {};
    ir::insert_all(used, ir::indices(f));
  }
  if (used.empty()) return {};
  // Beside the sums: a vector of a plane and, where it is no operand in memory, a number.
  const int most = target.registers - 3;
  std::optional<PlaneTile> best;
  for (size_t k = 0; k + 1 < d.free.size(); ++k) {
    const int64_t extent = constant(scope.extent(d.free[k]));
    if (used.count(d.free[k]) || extent < 2) continue;
    int planes = static_cast<int>(std::min<int64_t>(extent, most));
    while (extent % planes != 0) --planes;
    if (planes < 2 || (best && planes <= best->planes)) continue;
    best = {spec.vars[d.free.size() - 1 - k], static_cast<int>(extent), planes,
            std::clamp(most / planes, 1, kVectors)};
  }
  return best;
}

// The planes of a tile innermost, in registers. `together`: all planes are summed before one of
// them is written, however many tiles they are.
void sum_planes(const LoopsSpec& spec, const Target& target, const PlaneTile& tile, int lanes,
                bool together) {
  Func out = spec.out, sum = spec.reductions[0];
  LoopsSpec rows = spec;
  std::erase_if(rows.vars, [&](const Var& v) { return v.same_as(tile.plane); });
  rows.row_points = spec.row_points * tile.planes;
  Var inner = spec.vars[0], outer("outer"), lane("lane"), block("planes"), plane("plane_inner");
  const int width = lanes * tile.vectors;
  out.split(inner, outer, lane, width, TailStrategy::GuardWithIf)
      .split(tile.plane, block, plane, tile.planes, TailStrategy::RoundUp);
  std::vector<VarOrRVar> order = {lane, plane, block, outer};
  order.insert(order.end(), rows.vars.begin() + 1, rows.vars.end());
  out.reorder(order).vectorize(lane).unroll(plane);
  if (rows.vars.size() > 1) {
    deal_out(rows, target, out);
  } else {
    Var task("task");
    const int vectors = std::max(target::costs(target.arch).task_points / (width * tile.planes), 1);
    out.split(outer, task, outer, vectors, TailStrategy::GuardWithIf).parallel(task);
  }
  const int planes = together ? tile.all : tile.planes;
  sum.compute_at(out, together ? outer : block)
      .bound_storage(inner, width)
      .bound_storage(tile.plane, planes)
      .bound_extent(tile.plane, planes)
      .vectorize(inner, width, TailStrategy::GuardWithIf)
      .split(tile.plane, block, plane, tile.planes, TailStrategy::RoundUp)
      .unroll(plane);
  Stage terms = sum.update();
  terms.split(tile.plane, block, plane, tile.planes, TailStrategy::GuardWithIf);
  std::vector<VarOrRVar> innermost = {inner, plane};
  for (const Halide::Internal::ReductionVariable& r : terms.get_schedule().rvars())
    innermost.emplace_back(RVar(r.var));
  innermost.emplace_back(block);
  terms.reorder(innermost).vectorize(inner, width, TailStrategy::GuardWithIf).unroll(plane);
}

// A block of results for which one copy of a window is made: so many rows of so many vectors. With
// floats and a few terms along each index it fits the first-level cache. Not measured apart.
constexpr int kWindowRows = 8, kWindowVectors = 32;

// Vectors of results from the copy of a window.
void sum_window(const LoopsSpec& spec, const Target& target, int lanes) {
  Func out = spec.out, sum = spec.reductions[0], window = spec.window;
  LoopsSpec blocks = spec;
  Var inner = spec.vars[0], chunk("chunk"), in_chunk("in_chunk"), lane("lane");
  out.split(inner, chunk, lane, lanes, TailStrategy::GuardWithIf)
      .split(chunk, chunk, in_chunk, kWindowVectors, TailStrategy::GuardWithIf);
  std::vector<VarOrRVar> order = {lane, in_chunk};
  if (spec.vars.size() > 1) {
    Var row("row"), rows("rows");
    out.split(spec.vars[1], rows, row, kWindowRows, TailStrategy::GuardWithIf);
    blocks.vars[1] = rows;
    blocks.row_points = spec.row_points * kWindowRows;
    order.emplace_back(row);
  }
  order.emplace_back(chunk);
  order.insert(order.end(), blocks.vars.begin() + 1, blocks.vars.end());
  out.reorder(order).vectorize(lane);
  if (blocks.vars.size() > 1) deal_out(blocks, target, out);
  window.compute_at(out, chunk).vectorize(window.args()[0], lanes, TailStrategy::GuardWithIf);
  sum.compute_at(out, in_chunk)
      .align_bounds(inner, lanes)
      .bound_extent(inner, lanes)
      .vectorize(inner, lanes, TailStrategy::RoundUp);
  sum.update().vectorize(inner, lanes, TailStrategy::RoundUp);
}

// Sums along one dimension, one after the other: vectors of the innermost where that is another,
// else of their terms alone.
void run_along(const LoopsSpec& spec, const Target& target, int lanes) {
  Func out = spec.out, sums = spec.running, terms = spec.terms;
  const Var inner = spec.vars[0];
  Var outer("outer"), lane("lane");
  out.split(inner, outer, lane, lanes, TailStrategy::GuardWithIf).vectorize(lane);
  const size_t outside = static_cast<size_t>(spec.along) + 1;
  if (outside < spec.vars.size()) {
    LoopsSpec rows = spec;
    rows.vars.erase(rows.vars.begin() + 1, rows.vars.begin() + spec.along + 1);
    const Var row = deal_out(rows, target, out);
    sums.compute_at(out, row);
    if (spec.along == 0) terms.compute_at(out, row);
  } else {
    sums.compute_root();
    if (spec.along == 0) terms.compute_root();
  }
  if (spec.along == 0) terms.vectorize(inner, lanes, TailStrategy::GuardWithIf);
  sums.vectorize(inner, lanes, TailStrategy::GuardWithIf);
  if (spec.along != 0 && spec.same_condition_in_lanes)
    sums.update().vectorize(inner, lanes, TailStrategy::GuardWithIf);
  else
    sums.update().unscheduled();
}

}  // namespace

Funcs cpu::schedule(const plan::LoopsForm& form, const Scope& scope, const Target& target) {
  const LoopsSpec spec = loops_spec(scope, form, Scatter::in_order, Windows::copied);
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
  const int lanes = std::min(lanes_of(target, spec.stored), lanes_of(target, Halide::Float(32)));
  if (spec.running.defined()) {
    run_along(spec, target, lanes);
    return {out};
  }
  if (spec.window.defined()) {
    sum_window(spec, target, lanes);
    return {out};
  }
  if (const auto tile = plane_tile(spec, scope, form.definition, target)) {
    sum_planes(spec, target, *tile, lanes, form.together.valid());
    return {out};
  }
  ATTN_CHECK(!form.together.valid() || constant(scope.extent(form.together)) == 1,
             "planes that are no tile");
  if (spec.vars.size() > 1) deal_out(spec, target, out);
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
