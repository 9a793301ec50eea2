// exp and tanh for vectors, and what keeps NaN though kernels are computed without regard to it.
#pragma once

#include <Halide.h>

namespace attn::lower {

// The value, or x where that is NaN.
Halide::Expr or_nan(const Halide::Expr& x, const Halide::Expr& value);

// Without infinities from numbers and without subnormals. f32: within 2 ulp; exactly 0 below `flush` (a subnormal result would slow what multiplies by it
// tenfold), 3.4e38 from 88.72 on. f64: Halide's exp.
// NaN stays NaN.
Halide::Expr vector_exp(const Halide::Expr& x, float flush = -86.6f);

// f32: a quotient of polynomials, within 4e-7 of the value. f64: by Halide's exp, 1e-15.
// NaN stays NaN.
Halide::Expr vector_tanh(const Halide::Expr& x);

}  // namespace attn::lower
