// Functions for vectors that give what the evaluator gives at NaN, at infinities and at the edges
// of their domains, though kernels are computed without regard to those.
#pragma once

#include "compiler/lower/terms/halide.h"

namespace attn::lower {

// The bits of |x| and of infinity as integers, which compare as the numbers do.
Expr magnitude_bits(const Expr& x);
Expr infinity_bits(const Type& type);

// The value, or x where that is NaN.
Expr or_nan(const Expr& x, const Expr& value);

// Without infinities from numbers and without subnormals. f32: within 2 ulp; exactly 0 below
// `flush` (a subnormal result would slow what multiplies by it tenfold), 3.4e38 from 88.72 on.
// f64: Halide's exp.
Expr vector_exp(const Expr& x, float flush = -86.6f);
// The same with infinity from 88.7228 on.
Expr unbounded_exp(const Expr& x);
// The same on CUDA, whose devices have an instruction for powers of two. f32: within 4e-7 of the
// value, 0 below -87.3.
Expr cuda_exp(const Expr& x);
// The same within 2e-7 (1 + |x|) of the value: an error of x of 2 ulp makes as much.
Expr short_cuda_exp(const Expr& x);

// f32: Halide's log, within 2 ulp. f64: libm's.
Expr vector_log(const Expr& x);
// Loses nothing where x is small.
Expr vector_log1p(const Expr& x);

// f32: by exp and log, within 1e-7 (1 + |y log x|) of the value. f64: libm's. Of a negative number
// by a fraction it is NaN, -inf among them.
Expr vector_pow(const Expr& x, const Expr& y);

// f32: a quotient of polynomials, within 4e-7 of the value. f64: by Halide's exp, 1e-15.
Expr vector_tanh(const Expr& x);

// f32: a quotient of polynomials, within 4e-7 of the value. f64: libm's.
Expr vector_erf(const Expr& x);

}  // namespace attn::lower
