// Takes conditions on what a kernel has computed out of its loops.
#pragma once

#include <Halide.h>

namespace attn::lower {

// Halide leaves a condition of a reduction that reads a Func in the innermost loop, and computes
// what the loops around it need in any case. Where everything that a loop, or the scope of an
// allocation, stores for others is under such a condition, the condition is tested before it.
void hoist_conditions(Halide::Pipeline& pipeline);

}  // namespace attn::lower
