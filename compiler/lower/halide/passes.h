// Custom passes over the lowered code of a kernel.
#pragma once

#include "compiler/lower/terms/halide.h"

namespace attn::lower {

// Halide checks type, rank, bounds and strides of every argument one by one, each with a message
// that no user sees: the runtime has checked what they gave. These checks, of which there are
// dozens, were up to half of the code of a kernel and a sixth of the time of compiling it. All of
// them stay, but those that follow one another fail as one.
void join_argument_checks(Halide::Pipeline& pipeline);

// Halide takes a result that an update reads for memory of its own, aligned to a vector; the
// caller's is aligned to an element. (Of stores it knows better.)
void unalign_result_loads(Halide::Pipeline& pipeline);

// Halide leaves a condition of a reduction that reads a Func in the innermost loop, and computes
// what the loops around it need in any case. Where everything that a loop, or the scope of an
// allocation, stores for others is under such a condition, the condition is tested before it.
void hoist_conditions(Halide::Pipeline& pipeline);

}  // namespace attn::lower
