#include "compiler/lower/gpu/matrix_units.h"

namespace attn::lower::gpu {

using Halide::Internal::Call;

namespace {

const Type kSums = Halide::UInt(128), kWord = Halide::UInt(32);

struct Parts {
  Expr large, small;
};

// The units read the upper 19 bits of a number.
Parts parts_of(const Expr& x) {
  const Expr bits = reinterpret(kWord, x);
  const Expr large = bits & make_const(kWord, 0xffffe000);
  return {large, reinterpret(kWord, x - reinterpret<float>(large))};
}

}  // namespace

Expr no_sums(const Expr& lane) {
  return Call::make(kSums, "attn_no_sums", {lane}, Call::PureExtern);
}

Expr multiply_add(const Expr& sums, const std::array<Expr, 4>& a, const std::array<Expr, 2>& b,
                  plan::Precision precision) {
  const Parts pa[] = {parts_of(a[0]), parts_of(a[1]), parts_of(a[2]), parts_of(a[3])};
  const Parts pb[] = {parts_of(b[0]), parts_of(b[1])};
  Expr result = sums;
  const auto add = [&](Expr Parts::*of_a, Expr Parts::*of_b) {
    result = Call::make(
        kSums, "attn_mma_tf32",
        {result, pa[0].*of_a, pa[1].*of_a, pa[2].*of_a, pa[3].*of_a, pb[0].*of_b, pb[1].*of_b},
        Call::PureExtern);
  };
  if (precision == plan::Precision::high) {
    add(&Parts::small, &Parts::large);
    add(&Parts::large, &Parts::small);
  }
  add(&Parts::large, &Parts::large);
  return result;
}

Expr element(const Expr& sums, const Expr& e) {
  return Call::make(Halide::Float(32), "attn_element", {sums, e}, Call::PureExtern);
}

}  // namespace attn::lower::gpu
