// Transcendental functions that stay in vector registers, for f32 and f64. Halide's own tanh, sin
// and cos are scalar calls of libm. No form produces an infinity or a subnormal result.
#pragma once

#include <Halide.h>

namespace attn::lower {

// f32: 2 ulp; 0 below -86.6, 3.4e38 from 88.72 on. f64: libm's, scalar.
Halide::Expr vector_exp(const Halide::Expr& x);

// f32: 2 ulp for positive normal x; -3.4e38 at 0 and below.
Halide::Expr vector_log(const Halide::Expr& x);

// f32: 3 ulp, also near 0.
Halide::Expr vector_tanh(const Halide::Expr& x);

// f32: 7 ulp.
Halide::Expr vector_erf(const Halide::Expr& x);

}  // namespace attn::lower
