// Functions for vectors that give what the evaluator gives at NaN, at infinities and at the edges
// of their domains, though kernels are computed without regard to those.
#pragma once

#include <Halide.h>

namespace attn::lower {

// The value, or x where that is NaN.
Halide::Expr or_nan(const Halide::Expr& x, const Halide::Expr& value);

// Without infinities from numbers and without subnormals. f32: within 2 ulp; exactly 0 below
// `flush` (a subnormal result would slow what multiplies by it tenfold), 3.4e38 from 88.72 on.
// f64: Halide's exp.
Halide::Expr vector_exp(const Halide::Expr& x, float flush = -86.6f);
// The same with infinity from 88.7228 on.
Halide::Expr unbounded_exp(const Halide::Expr& x);

// f32: Halide's log, within 2 ulp. f64: libm's.
Halide::Expr vector_log(const Halide::Expr& x);
// Loses nothing where x is small.
Halide::Expr vector_log1p(const Halide::Expr& x);

// f32: by exp and log, within 1e-7 (1 + |y log x|) of the value. f64: libm's. Of a negative number
// by a fraction it is NaN, -inf among them.
Halide::Expr vector_pow(const Halide::Expr& x, const Halide::Expr& y);

// f32: a quotient of polynomials, within 4e-7 of the value. f64: by Halide's exp, 1e-15.
Halide::Expr vector_tanh(const Halide::Expr& x);

// f32: a quotient of polynomials, within 4e-7 of the value. f64: libm's.
Halide::Expr vector_erf(const Halide::Expr& x);

}  // namespace attn::lower
