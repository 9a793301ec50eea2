#include "compiler/lower/gpu/matrix_units.h"

namespace attn::lower::gpu {

using Halide::Internal::Call;

namespace {

const Type kSums = Halide::UInt(128), kWord = Halide::UInt(32);

struct Parts {
  Expr large, small;  // no small one: it is 0
};

// The units read the upper 19 bits of a number.
Parts parts_of(const Expr& bits, bool splits) {
  if (!splits) return {bits, {}};
  const Expr large = bits & make_const(kWord, 0xffffe000);
  return {large, reinterpret(kWord, reinterpret<float>(bits) - reinterpret<float>(large))};
}

Expr product(const char* name, const Expr& sums, const std::array<Expr, 4>& a,
             const std::array<Expr, 2>& b) {
  return Call::make(kSums, name, {sums, a[0], a[1], a[2], a[3], b[0], b[1]}, Call::PureExtern);
}

}  // namespace

Products products_of(const Type& left, const Type& right, plan::Precision precision) {
  if (left == right && left.bits() == 16) return {left};
  if (precision == plan::Precision::medium) return {Halide::BFloat(16)};
  return {Halide::Float(32), left.bits() == 32, right.bits() == 32};
}

Expr no_sums(const Expr& lane) {
  return Call::make(kSums, "attn_no_sums", {lane}, Call::PureExtern);
}

Expr multiply_add(const Expr& sums, const std::array<Expr, 4>& a, const std::array<Expr, 2>& b,
                  const Products& products) {
  if (products.in_halves())
    return product(products.number.is_bfloat() ? "attn_mma_bf16" : "attn_mma_f16", sums, a, b);
  std::array<Parts, 4> pa;
  std::array<Parts, 2> pb;
  for (size_t k = 0; k < a.size(); ++k) pa[k] = parts_of(a[k], products.splits_left);
  for (size_t k = 0; k < b.size(); ++k) pb[k] = parts_of(b[k], products.splits_right);
  Expr result = sums;
  const auto add = [&](Expr Parts::*of_a, Expr Parts::*of_b) {
    result = product("attn_mma_tf32", result, {pa[0].*of_a, pa[1].*of_a, pa[2].*of_a, pa[3].*of_a},
                     {pb[0].*of_b, pb[1].*of_b});
  };
  if (products.splits_left) add(&Parts::small, &Parts::large);
  if (products.splits_right) add(&Parts::large, &Parts::small);
  add(&Parts::large, &Parts::large);
  return result;
}

Expr element(const Expr& sums, const Expr& e) {
  return Call::make(Halide::Float(32), "attn_element", {sums, e}, Call::PureExtern);
}

Expr pair(const Expr& low, const Expr& high, const Type& half, const Expr& lane) {
  return Call::make(kWord, half.is_bfloat() ? "attn_pair_bf16" : "attn_pair_f16", {low, high, lane},
                    Call::PureExtern);
}

}  // namespace attn::lower::gpu
