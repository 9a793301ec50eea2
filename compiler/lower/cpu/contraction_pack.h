// The factors of a contraction as the innermost loop wants them.
#pragma once

#include "compiler/lower/cpu/contraction_problem.h"

namespace attn::lower {

// Values of k in one step of the innermost loop.
constexpr int kStepReduced = 2;

// Panels of `width` neighbouring rows or columns: panel(within, k in chunk, panel, chunk, batch),
// chunks of `block_reduced` values of k. Beyond `extent` the last row repeats; beyond `reduced` a
// chunk goes on with zeros to a multiple of the step.
Halide::Func pack_panels(const Problem& problem, const char* name, const Factor& factor,
                         const Halide::Expr& reduced, const Halide::Expr& extent, int width);

}  // namespace attn::lower
