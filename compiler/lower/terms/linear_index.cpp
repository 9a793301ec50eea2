#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

Expr blocks_of(const Expr& extent, int size) { return (extent + (size - 1)) / size; }

int64_t constant(const Expr& extent) {
  auto value = Halide::Internal::as_const_int(simplify(extent));
  return value ? *value : -1;
}

Expr below(const Expr& index, const Expr& extent) {
  if (constant(extent) <= 0) return index < extent;
  return cast<uint32_t>(index) < cast<uint32_t>(extent);
}

Expr in_range(Expr index, Expr extent) {
  return Halide::unsafe_promise_clamped(std::move(index), 0, std::move(extent) - 1);
}

Expr clamped(const Expr& index, const Expr& extent) {
  return in_range(min(index, extent - 1), extent);
}

Expr hidden(Expr offset) {
  constexpr int kFar = 1 << 30;
  return Halide::unsafe_promise_clamped(std::move(offset), -kFar, kFar);
}

Expr unsolved(Expr condition) { return cast<uint8_t>(std::move(condition)) != cast<uint8_t>(0); }

Expr opaque(Expr index) { return std::move(index) ^ Expr(0); }

Expr beside(const Expr& other, const Expr& value) {
  constexpr int64_t kFar = 1 << 30;
  const auto known = Halide::Internal::as_const_int(other);
  return known && (*known > kFar || *known < -kFar) ? opaque(value) : value;
}

std::vector<Expr> decode_index(Expr linear, const std::vector<Expr>& extents) {
  std::vector<Expr> coordinates(extents.size());
  for (size_t i = extents.size(); i-- > 1;) {
    const Expr& extent = extents[i];
    Expr quotient;
    if (constant(extent) > 0) {
      quotient = linear / extent;
    } else {
      // The half keeps the quotient at least 1/2 extent away from the next integer, which is more
      // than the error of the product.
      Expr inverse = cast<double>(1) / cast<double>(max(extent, 1));
      Expr exact = (cast<double>(linear) + cast<double>(0.5f)) * inverse;
      Expr rest = 1;
      for (size_t j = 0; j < i; ++j) rest = rest * extents[j];
      quotient = in_range(opaque(cast<int32_t>(exact)), rest);
    }
    Expr remainder = linear - quotient * extent;
    coordinates[i] = in_range(constant(extent) > 0 ? remainder : opaque(remainder), extent);
    linear = quotient;
  }
  if (!extents.empty()) coordinates[0] = in_range(linear, extents[0]);
  return coordinates;
}

}  // namespace attn::lower
