// Loops whose values stay in registers.
#pragma once

#include <vector>

#include "compiler/lower/terms/halide.h"

namespace attn::lower {

// Loops in this order, from the innermost: the first in vectors, and the first `unrolled` of them
// unrolled.
Stage unroll_in_vectors(Stage stage, const std::vector<VarOrRVar>& order, size_t unrolled,
                        int lanes);

// Of `f` and its updates these variables, reductions outside.
void register_tile(Func f, const std::vector<Var>& vars, int lanes);

}  // namespace attn::lower
