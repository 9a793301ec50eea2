// exp for vectors, without infinities from numbers and without subnormals.
#pragma once

#include <Halide.h>

namespace attn::lower {

// f32: within 2 ulp; exactly 0 below `flush` (a subnormal result would slow what multiplies by it
// tenfold), 3.4e38 from 88.72 on. f64: Halide's exp.
// NaN stays NaN.
Halide::Expr vector_exp(const Halide::Expr& x, float flush = -86.6f);

}  // namespace attn::lower
