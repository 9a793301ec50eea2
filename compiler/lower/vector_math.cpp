#include "compiler/lower/vector_math.h"

namespace attn::lower {

using Halide::Expr;

namespace {

// The value, or x where that is no number. Decided from the bits: comparisons would be folded away.
Expr or_nan(const Expr& x, const Expr& value) {
  const int bits = x.type().bits();
  Halide::Type word = Halide::Int(bits);
  Expr magnitude = Halide::Internal::make_const(word, bits == 64 ? INT64_MAX : INT32_MAX);
  Expr infinity =
      Halide::Internal::make_const(word, bits == 64 ? 0x7ff0000000000000 : int64_t{0x7f800000});
  return select((reinterpret(word, x) & magnitude) > infinity, x, value);
}

}  // namespace

// exp(x) = 2^n exp(r), n the nearest integer to x log2(e), |r| <= ln(2) / 2. ln(2) is taken off in
// two parts, the first with few bits so that n times it is exact. The polynomial is Cephes' expf.
Expr vector_exp(const Expr& x, float flush) {
  if (x.type().bits() != 32) return or_nan(x, Halide::exp(x));
  Expr v = clamp(x, -87.0f, 88.72f);
  Expr n = floor(v * 1.44269504f + 0.5f);
  Expr r = v - n * 0.693359375f + n * 2.12194440e-4f;
  Expr p = 1.9875691500e-4f;
  for (float c :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) {
    p = p * r + c;
  }
  Expr e = p * (r * r) + r + 1.0f;
  Expr scaled = Halide::reinterpret<float>(Halide::reinterpret<int32_t>(e) +
                                           (Halide::cast<int32_t>(n) << 23));
  return or_nan(x, select(x < flush, 0.0f, scaled));
}

}  // namespace attn::lower
