// How loops are computed on a GPU.
#include <algorithm>
#include <string>

#include "compiler/lower/forms/loops.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/gpu/threads.h"

namespace attn::lower {

namespace {

// So many threads, about, run at once. With more results than that, each looking for what is added
// to it, the points are visited again and again: 8,192 rows of 768 numbers that are added to a
// table of 50,257 took 158 ms on an H100.
constexpr double kResultsAtOnce = 1 << 18;

bool has_many_results(const Scope& scope, const ir::Definition& d) {
  double results = 1;
  for (ir::IndexId i : d.free) {
    const int typical = scope.typical_count({i});
    if (typical == 0) return true;  // nothing is known of it
    results *= typical;
  }
  return results > kResultsAtOnce;
}

// The planes of a point are one thread's, in registers; `points` are left without them.
void hold_planes(const LoopsSpec& spec, const Scope& scope, const plan::LoopsForm& form,
                 std::vector<Var>& points) {
  const std::vector<ir::IndexId>& free = form.definition.free;
  const auto k = std::ranges::find(free, form.together) - free.begin();
  const Var plane = spec.vars.at(free.size() - 1 - static_cast<size_t>(k));
  const int planes = static_cast<int>(constant(scope.extent(form.together)));
  std::erase_if(points, [&](const Var& v) { return v.same_as(plane); });
  std::vector<VarOrRVar> order = {plane};
  order.insert(order.end(), points.begin(), points.end());
  Func out = spec.out;
  out.reorder(order).unroll(plane);
  for (Func sum : spec.reductions) {
    sum.bound_extent(plane, planes).unroll(plane);
    Stage terms = sum.update();
    std::vector<VarOrRVar> innermost = {plane};
    for (const Halide::Internal::ReductionVariable& r : terms.get_schedule().rvars())
      innermost.emplace_back(RVar(r.var));
    terms.reorder(innermost).unroll(plane);
  }
}

}  // namespace

Scheduled gpu::schedule(const plan::LoopsForm& form, const Scope& scope, const target::Target&) {
  const ir::Definition& d = form.definition;
  const LoopsSpec spec =
      loops_spec(scope, form, has_many_results(scope, d) ? Scatter::in_classes : Scatter::by_owner);
  Func out = spec.out;
  if (spec.classes) {
    one_thread_a_point(out);
    Stage sums = out.update();
    std::vector<VarOrRVar> order;
    for (const Halide::Internal::ReductionVariable& r : sums.get_schedule().rvars())
      if (r.var != spec.classes->name()) order.emplace_back(RVar(r.var));
    order.insert(order.end(), spec.placed_vars.begin(), spec.placed_vars.end());
    order.emplace_back(*spec.classes);
    sums.allow_race_conditions().reorder(order);
    one_thread_a_point(out, sums, spec.placed_vars);
    sums.gpu_blocks(*spec.classes);
    return {{out},
            "a thread adds, in order, to every " + std::to_string(kScatterClasses) +
                "th element that data chooses"};
  }
  // Each element of a scatter is one thread's, which visits all that may be added to it.
  if (spec.is_placed) {
    one_thread_a_point(out);  // it is nothing, but Halide must not look for it on the host
    one_thread_a_point(out, out.update(), spec.placed_vars);
    return {{out}, "a thread for each element that is written"};
  }
  if (spec.has_planes) {
    std::vector<VarOrRVar> order(spec.vars.begin(), spec.vars.end());
    order.insert(order.begin(), spec.plane);
    out.bound(spec.plane, 0, 2).reorder(order).unroll(spec.plane);
  }
  std::vector<Var> points = spec.vars;
  if (form.together.valid()) hold_planes(spec, scope, form, points);
  const LoopLevel thread = one_thread_a_point(out, out, points);
  for (Func f : spec.reductions) f.compute_at(thread);
  return {
      {out},
      form.together.valid() ? "a thread for each point of the planes" : "a thread for each result"};
}

}  // namespace attn::lower
