// The operations that have a Halide form of their own. Everything else is expanded by its table
// row.
#include <map>

#include "compiler/base/check.h"
#include "compiler/ir/operation.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"
#include "compiler/lower/terms/vector_math.h"
#include "compiler/ops/philox.h"

namespace attn::lower {
namespace {

using ir::Combine;
using Args = const std::vector<Expr>&;

Expr constant(double value, const Type& t) { return make_const(t, value); }

// exp(-|x|) never overflows.
Expr sigmoid(const Expr& x, Exponential exp) {
  Expr e = exp(-abs(x));
  return select(x < 0, e, constant(1, x.type())) / (1 + e);
}

// The value, or NaN where one of the arguments is: the machine's extremes may return the other.
Expr kept(Args args, Expr value) {
  for (const Expr& a : args)
    if (a.type().is_float() && !is_const(a)) value = or_nan(a, value);
  return value;
}

// Steps of the generator are named: without names they are a tree of 166,000 nodes for five
// counters, and kernels take four times as long to compile.
Expr uniform(Args args, const Type& t) {
  std::vector<Expr> words;
  for (const Expr& a : args) words.push_back(cast<uint64_t>(cast<uint32_t>(a)));
  const Expr bits = Halide::Internal::common_subexpression_elimination(
      cast<int32_t>(ops::random_word(words) >> ops::kDroppedBits));
  return cast(t, bits) * constant(ops::kUniformStep, t);
}

using Form = Expr (*)(Args, Type, Exponential);
const std::map<std::string_view, Form>& forms() {
  static const std::map<std::string_view, Form> kForms = {
      {"exp", [](Args a, Type, Exponential exp) { return exp(a[0]); }},
      {"log", [](Args a, Type, Exponential) { return vector_log(a[0]); }},
      {"log1p", [](Args a, Type, Exponential) { return vector_log1p(a[0]); }},
      {"tanh", [](Args a, Type, Exponential) { return vector_tanh(a[0]); }},
      {"sigmoid", [](Args a, Type, Exponential exp) { return sigmoid(a[0], exp); }},
      {"erf", [](Args a, Type, Exponential) { return vector_erf(a[0]); }},
      {"sin", [](Args a, Type, Exponential) { return sin(a[0]); }},
      {"cos", [](Args a, Type, Exponential) { return cos(a[0]); }},
      {"atan", [](Args a, Type, Exponential) { return atan(a[0]); }},
      {"abs", [](Args a, Type t, Exponential) { return cast(t, abs(a[0])); }},
      {"min",
       [](Args a, Type, Exponential) { return kept(a, combined(Combine::min, a[0], a[1])); }},
      {"max",
       [](Args a, Type, Exponential) { return kept(a, combined(Combine::max, a[0], a[1])); }},
      {"floor", [](Args a, Type, Exponential) { return floor(a[0]); }},
      {"float", [](Args a, Type t, Exponential) { return cast(t, a[0]); }},
      {"int", [](Args a, Type t, Exponential) { return cast(t, a[0]); }},
      {"finite", [](Args a, Type, Exponential) { return has_finite_bits(a[0]); }},
      {"uniform", [](Args a, Type t, Exponential) { return uniform(a, t); }},
  };
  return kForms;
}

}  // namespace

bool is_primitive(const ir::Operation& op) { return forms().count(op.name) > 0; }

Expr primitive(const ir::Operation& op, Args args, Type type, Exponential exp) {
  return forms().at(op.name)(args, type, exp);
}

// floor(a / b); Halide's rounds so that the remainder is not negative, which differs for b < 0.
Expr floor_divide(const Expr& a, const Expr& b) {
  if (Halide::Internal::is_positive_const(b)) return a / b;
  Expr q = a / b, r = a - q * b;
  return q - cast<int>(b < 0 && r != 0);
}

// By a constant it is Halide's own; see `opaque` in WORKAROUNDS.md.
Expr floor_remainder(const Expr& a, const Expr& b) {
  if (Halide::Internal::is_positive_const(b)) return a % b;
  return a - b * floor_divide(a, b);
}

Expr neutral(Combine combine, const Type& type) {
  if (combine == Combine::max || combine == Combine::logsumexp)
    return type.is_float() ? cast(type, Expr(kLowest)) : type.min();
  if (combine == Combine::min) return type.is_float() ? cast(type, Expr(kHighest)) : type.max();
  return combine == Combine::prod ? make_one(type) : make_zero(type);
}

Expr combined(Combine combine, const Expr& a, const Expr& b) {
  if (combine == Combine::max || combine == Combine::logsumexp)
    return max(beside(b, a), beside(a, b));
  if (combine == Combine::min) return min(beside(b, a), beside(a, b));
  return combine == Combine::prod ? a * b : a + b;
}

Expr masked(const Expr& condition, const Expr& a, const Expr& b) {
  Type word = Halide::UInt(a.type().bits());
  Expr mask = select(condition, word.max(), make_zero(word));
  return reinterpret(a.type(), (reinterpret(word, a) & mask) | (reinterpret(word, b) & ~mask));
}

namespace {

// All ones where the value is not finite, else 0: adding one to the exponent of such a magnitude
// reaches the sign. (Of a comparison with infinity LLVM makes one that reads its constant twice,
// and keeps that in a register across the loops around, where the sums of tiles need them all.)
Expr not_finite_mask(const Expr& value) {
  const int bits = value.type().bits();
  const Type word = Halide::UInt(bits), whole = Halide::Int(bits);
  const Expr one = reinterpret(word, make_const(whole, bits == 64 ? int64_t{1} << 52 : 1 << 23));
  return reinterpret(whole, reinterpret(word, magnitude_bits(value)) + one) >> (bits - 1);
}

Expr bits_of(const Expr& value) { return reinterpret(Halide::Int(value.type().bits()), value); }

}  // namespace

Expr finite_or_zero(const Expr& value) {
  return reinterpret(value.type(), bits_of(value) & ~not_finite_mask(value));
}

Expr zero_or_not_finite(const Expr& value) {
  return reinterpret(value.type(), bits_of(value) & not_finite_mask(value));
}

// As a comparison of magnitudes: LLVM takes the bits of the exponent, tested for equality, for a
// test of a class, which what is computed without regard to NaN never fails.
Expr has_finite_bits(const Expr& value) {
  return magnitude_bits(value) < infinity_bits(value.type());
}

}  // namespace attn::lower
