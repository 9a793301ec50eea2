#include "compiler/lower/terms/extremes.h"

#include "compiler/lower/terms/vector_math.h"

namespace attn::lower {

using ir::Combine;

namespace {

bool compares(Combine combine, const Type& type) {
  return (type.is_float() || type.is_int()) &&
         (combine == Combine::max || combine == Combine::min || combine == Combine::argmax);
}

Type whole_of(const Type& type) { return Halide::Int(type.bits()); }

// Of the bits of a number and of an integer in its order, one from the other.
Expr in_order(const Expr& bits) {
  const Type type = bits.type();
  return bits ^ ((bits >> (type.bits() - 1)) & type.max());
}

// The order begins at -infinity: the bits below are a NaN's, and come round to the other end.
Expr to_key(const Expr& bits) {
  const Type key = Halide::UInt(bits.type().bits());
  return reinterpret(key, in_order(bits)) + reinterpret(key, infinity_bits(bits.type()) + 1);
}
Expr from_key(const Expr& key) {
  const Type whole = Halide::Int(key.type().bits());
  return in_order(reinterpret(whole, key - reinterpret(key.type(), infinity_bits(whole) + 1)));
}

// An integer as an unsigned one of the same order, and back.
Expr turned(const Type& to, const Expr& value) {
  const Type key = Halide::UInt(to.bits());
  return reinterpret(to, reinterpret(key, value) ^ (key.max() / 2 + 1));
}

}  // namespace

Type accumulated(Combine combine, const Type& type) {
  return compares(combine, type) ? Halide::UInt(type.bits()) : type;
}

// The least is the greatest of the negatives, whose keys run the other way.
Expr to_accumulate(Combine combine, const Expr& value) {
  const Type type = value.type(), whole = whole_of(type);
  if (!compares(combine, type)) return value;
  if (type.is_int()) return turned(Halide::UInt(type.bits()), value);
  Expr bits = reinterpret(whole, value);
  if (combine == Combine::min) return ~to_key(bits ^ whole.min());
  // The first of equal numbers is found, -0 and 0 among them.
  if (combine == Combine::argmax) bits = select(bits == whole.min(), 0, bits);
  return to_key(bits);
}

Expr from_accumulated(Combine combine, const Type& type, const Expr& value) {
  if (!compares(combine, type)) return value;
  if (type.is_int()) return turned(type, value);
  return reinterpret(
      type, combine == Combine::min ? from_key(~value) ^ whole_of(type).min() : from_key(value));
}

}  // namespace attn::lower
