#include "compiler/lower/terms/combine.h"

#include "compiler/lower/terms/vector_math.h"

namespace attn::lower {

using ir::Combine;

namespace {

bool compares(Combine combine, const Type& type) {
  return type.is_float() &&
         (combine == Combine::max || combine == Combine::min || combine == Combine::argmax);
}

// Of the bits of a number and of an integer in its order, one from the other.
Expr in_order(const Expr& bits) {
  const Type type = bits.type();
  return bits ^ ((bits >> (type.bits() - 1)) & type.max());
}

}  // namespace

Expr neutral(Combine combine, const Type& type) {
  switch (combine) {
    case Combine::max:
    case Combine::logsumexp:
      return type.is_float() ? cast(type, Expr(kLowest)) : type.min();
    case Combine::min:
      return type.is_float() ? cast(type, Expr(kHighest)) : type.max();
    case Combine::prod:
      return make_one(type);
    case Combine::set:
    case Combine::sum:
    case Combine::argmax:
      break;
  }
  return make_zero(type);
}

Expr combined(Combine combine, const Expr& a, const Expr& b) {
  switch (combine) {
    case Combine::max:
    case Combine::logsumexp:
      return max(a, b);
    case Combine::min:
      return min(a, b);
    case Combine::prod:
      return a * b;
    case Combine::set:
    case Combine::sum:
    case Combine::argmax:
      break;
  }
  return a + b;
}

Type accumulated(Combine combine, const Type& type) {
  return compares(combine, type) ? Halide::Int(type.bits()) : type;
}

Expr to_accumulate(Combine combine, const Expr& value) {
  const Type type = value.type();
  if (!compares(combine, type)) return value;
  const Type whole = accumulated(combine, type);
  const Expr last = combine == Combine::min ? whole.min() : whole.max();
  Expr number = in_order(reinterpret(whole, value));
  // The first of equal numbers is found, -0 and 0 among them.
  if (combine == Combine::argmax) number = select(number == -1, 0, number);
  return select(magnitude_bits(value) > infinity_bits(type), last, number);
}

Expr from_accumulated(Combine combine, const Type& type, const Expr& value) {
  return compares(combine, type) ? reinterpret(type, in_order(value)) : value;
}

}  // namespace attn::lower
