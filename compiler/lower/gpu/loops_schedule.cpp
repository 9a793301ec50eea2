// How loops are computed on a GPU.
#include "compiler/lower/forms/loops.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/gpu/threads.h"

namespace attn::lower {

Scheduled gpu::schedule(const plan::LoopsForm& form, const Scope& scope, const target::Target&) {
  // Each element of a scatter is one thread's, which visits all that may be added to it.
  const LoopsSpec spec = loops_spec(scope, form.definition, Scatter::by_owner);
  Func out = spec.out;
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
