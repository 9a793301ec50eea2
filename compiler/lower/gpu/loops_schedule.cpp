// How loops are computed on a GPU.
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
  const LoopLevel thread = one_thread_a_point(out, out, spec.vars);
  for (Func f : spec.reductions) f.compute_at(thread);
  return {{out}, "a thread for each result"};
}

}  // namespace attn::lower
