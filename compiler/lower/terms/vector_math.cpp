#include "compiler/lower/terms/vector_math.h"

#include <limits>

#include "compiler/lower/terms/translate.h"

namespace attn::lower {

Expr magnitude_bits(const Expr& x) {
  const Type word = Halide::Int(x.type().bits());
  return reinterpret(word, x) & make_const(word, x.type().bits() == 64 ? INT64_MAX : INT32_MAX);
}

Expr infinity_bits(const Type& type) {
  return make_const(Halide::Int(type.bits()),
                    type.bits() == 64 ? 0x7ff0000000000000 : int64_t{0x7f800000});
}

// Decided from the bits: comparisons would be folded away.
Expr or_nan(const Expr& x, const Expr& value) {
  return select(magnitude_bits(x) > infinity_bits(x.type()), x, value);
}

// exp(x) = 2^n exp(r), n the nearest integer to x log2(e), |r| <= ln(2) / 2. ln(2) is taken off in
// two parts, the first with few bits so that n times it is exact. The polynomial is Cephes' expf.
Expr vector_exp(const Expr& x, float flush) {
  if (x.type().bits() != 32) return or_nan(x, Halide::exp(x));
  Expr v = clamp(x, -87.0f, 88.72f);
  Expr n = floor(v * 1.44269504f + 0.5f);
  Expr r = v - n * 0.693359375f + n * 2.12194440e-4f;
  Expr p = 1.9875691500e-4f;
  for (float c :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
    p = p * r + c;
  Expr e = p * (r * r) + r + 1.0f;
  Expr scaled =
      Halide::reinterpret<float>(Halide::reinterpret<int32_t>(e) + (cast<int32_t>(n) << 23));
  return or_nan(x, select(x < flush, 0.0f, scaled));
}

Expr unbounded_exp(const Expr& x) {
  if (x.type().bits() != 32) return vector_exp(x);
  return select(x > 88.7228f, std::numeric_limits<float>::infinity(), vector_exp(x));
}

namespace {

Expr instruction(const char* name, const std::vector<Expr>& args) {
  using Halide::Internal::Call;
  return Call::make(Halide::Float(32), name, args, Call::PureExtern);
}

}  // namespace

// exp(x) = 2^t (1 + r ln(2)), t the rounded x log2(e) and r what it lacks. The constant has two
// parts; of the clamped x both are finite.
Expr cuda_exp(const Expr& x) {
  if (x.type().bits() != 32) return unbounded_exp(x);
  const Expr log2e = 1.44269502f, rest = 1.92596303e-8f;
  const Expr v = instruction("llvm.nvvm.fmin.nan.f",
                             {instruction("llvm.nvvm.fmax.nan.f", {x, -200.0f}), 200.0f});
  const Expr t = v * log2e;
  const Expr r =
      instruction("llvm.fma.f32", {v, rest, instruction("llvm.fma.f32", {v, log2e, -t})});
  return instruction("llvm.nvvm.ex2.approx.ftz.f", {t}) *
         instruction("llvm.fma.f32", {r, 0.693147182f, 1.0f});
}

Expr short_cuda_exp(const Expr& x) {
  if (x.type().bits() != 32) return unbounded_exp(x);
  return instruction("llvm.nvvm.ex2.approx.ftz.f", {x * 1.44269502f});
}

Expr vector_log(const Expr& x) {
  if (x.type().bits() != 32) return or_nan(x, log(x));
  const Expr is_infinite = Halide::reinterpret<int32_t>(x) >= 0x7f800000;
  return or_nan(x, select(is_infinite, x, log(x)));
}

// log(u) x / (u - 1) with u = 1 + x: the error of rounding u is divided out again. Beyond 1e10 u
// is x.
Expr vector_log1p(const Expr& x) {
  auto number = [&](double v) { return make_const(x.type(), v); };
  const Expr u = strict_float(1 + x);
  const Expr rest = strict_float(u - 1);
  const Expr is_small = rest == 0, is_large = x > number(1e10);
  const Expr correction = select(is_large, number(1), x / select(is_small, number(1), rest));
  return select(is_small, x, vector_log(u) * correction);
}

// |x|^y = exp(y log|x|), with the sign of x where y is odd.
Expr vector_pow(const Expr& x, const Expr& y) {
  const Type word = Halide::Int(x.type().bits());
  auto number = [&](double v) { return make_const(x.type(), v); };
  const Expr nan = reinterpret(x.type(), word.max());
  const Expr fraction = floor(y) != y;
  if (x.type().bits() != 32) return or_nan(y, or_nan(x, masked(x < 0 && fraction, nan, pow(x, y))));
  const Expr size = select(abs(x) == 1 || y == 0, number(1), unbounded_exp(y * vector_log(abs(x))));
  const Expr odd = !fraction && floor(y * 0.5f) != y * 0.5f;
  const Expr value = select(reinterpret(word, x) < 0 && odd, -size, size);
  return or_nan(y, or_nan(x, masked(x < 0 && fraction, nan, value)));
}

namespace {

Expr polynomial(const Expr& x, std::initializer_list<double> from_the_highest) {
  Expr result;
  for (double c : from_the_highest) {
    Expr k = make_const(x.type(), c);
    result = result.defined() ? result * x + k : k;
  }
  return result;
}

// x P(x^2) / Q(x^2), the fraction of these degrees with the smallest relative error on [0, 9], 2e-8
// (found by weighted least squares, the weights raised where the error is). Beyond 9 tanh is 1.
Expr tanh_of_floats(const Expr& x) {
  Expr v = clamp(x, -9.0f, 9.0f), u = v * v;
  Expr p = polynomial(u, {1.3354680334316418e-08, 2.0609096133004462e-05, 3.4955889585306177e-03,
                          1.3381026327815501e-01, 9.9999997944933494e-01});
  Expr q = polynomial(u, {7.7765661029568991e-07, 3.2856361880307175e-04, 2.5876985331721326e-02,
                          4.6714341919215285e-01, 1.0});
  return clamp(v * p / q, -1.0f, 1.0f);
}

// Found in the same way, on [0, 4], within 3e-8. Beyond 4 erf is 1.
Expr erf_of_floats(const Expr& x) {
  Expr v = clamp(x, -4.0f, 4.0f), u = v * v;
  Expr p = polynomial(u, {1.9868077014898535e-06, 2.8455884822411931e-04, 3.8830914734403256e-03,
                          5.3100951213938679e-02, 1.9353938997771807e-01, 1.1283791393734357});
  Expr q = polynomial(u, {3.7420066998048545e-05, 1.1855075212257444e-03, 1.5206742572919813e-02,
                          1.1534761633078467e-01, 5.0485237525887029e-01, 1.0});
  return clamp(v * p / q, -1.0f, 1.0f);
}

// (1 - exp(-2x)) / (1 + exp(-2x)), odd in x, near 0 by its series.
Expr tanh_of_doubles(const Expr& x) {
  Expr a = min(abs(x), make_const(x.type(), 20));
  Expr e = exp(-2 * a);
  Expr series =
      a * polynomial(a * a, {-1382. / 155925, 62. / 2835, -17. / 315, 2. / 15, -1. / 3, 1.0});
  Expr y = select(a < make_const(x.type(), 0.02), series, (1 - e) / (1 + e));
  return select(x < 0, -y, y);
}

}  // namespace

Expr vector_erf(const Expr& x) {
  if (x.type().bits() == 32) return or_nan(x, erf_of_floats(x));
  return Halide::Internal::Call::make(x.type(), "erf", {x}, Halide::Internal::Call::PureExtern);
}

Expr vector_tanh(const Expr& x) {
  return or_nan(x, x.type().bits() == 32 ? tanh_of_floats(x) : tanh_of_doubles(x));
}

}  // namespace attn::lower
