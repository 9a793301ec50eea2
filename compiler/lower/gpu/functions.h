// Functions for which a device has an instruction.
#pragma once

#include "compiler/lower/terms/halide.h"
#include "compiler/target/target.h"

namespace attn::lower::gpu {

// exp(x) of f32 for x <= 0, a distance to the maximum; below -60 it may be 0. Relative error
// 2e-7 (1 + |x|).
Expr exponential(const Expr& x, const target::Target& target);

// The greater of two f32. Of a number and NaN either.
Expr greatest(const Expr& a, const Expr& b, const target::Target& target);

// On CUDA: what the thread of the warp has whose number differs in the bit `distance`. All threads
// of the warp come to it.
Expr of_lane(const Expr& value, int distance);

}  // namespace attn::lower::gpu
