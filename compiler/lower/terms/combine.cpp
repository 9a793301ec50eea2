#include "compiler/lower/terms/combine.h"

namespace attn::lower {

using ir::Combine;

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

}  // namespace attn::lower
