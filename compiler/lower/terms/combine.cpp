#include "compiler/lower/terms/combine.h"

namespace attn::lower {

using Halide::Expr;
using ir::Combine;

Expr neutral(Combine combine, const Halide::Type& type) {
  switch (combine) {
    case Combine::max:
    case Combine::logsumexp:
      return type.is_float() ? cast(type, Expr(kLowest)) : type.min();
    case Combine::min:
      return type.is_float() ? cast(type, Expr(kHighest)) : type.max();
    case Combine::prod:
      return Halide::Internal::make_one(type);
    default:
      return Halide::Internal::make_zero(type);
  }
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
    default:
      return a + b;
  }
}

}  // namespace attn::lower
