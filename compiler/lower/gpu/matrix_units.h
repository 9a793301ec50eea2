// Products by the matrix units of a GPU (tensor cores of CUDA devices of compute capability 8.0 and
// later): instructions that the 32 threads of a warp execute together, in calls that the pass
// write_instructions replaces. Layouts are those of the PTX ISA 7.0, section "Warp Level Matrix
// Multiply-Accumulate Instructions", for m16n8k8 of f32 and m16n8k16 of halves.
#pragma once

#include <array>

#include "compiler/lower/terms/halide.h"
#include "compiler/plan/plan.h"

namespace attn::lower::gpu {

// How the units multiply two factors.
struct Products {
  // As both factors are staged: halves, or f32, of which the units read the upper 19 bits.
  Type number = Halide::Float(32);
  // Of f32: the factor is the sum of two numbers of 11 bits. The product of the smaller ones is
  // left out; of an infinity it is NaN.
  bool splits_left = false, splits_right = false;

  bool in_halves() const { return number.bits() == 16; }
  // Numbers in 16 bytes, and numbers that one instruction sums.
  int in_piece() const { return 16 / number.bytes(); }
  int depth() const { return 2 * in_piece(); }
};

// `left`, `right`: a half if all numbers of the factor are such halves, else f32. Products of equal
// halves are exact. Of high precision are the others, too, but for the last two bits or so. Medium
// precision rounds both factors to bf16.
Products products_of(const Type& left, const Type& right, plan::Precision precision);

// 16 x 8 sums, of which a thread has four: g = lane / 4, t = lane % 4; element e is at row
// g + 8 * (e / 2), column 2 * t + e % 2. All 0. `lane`: anything that varies between threads; a
// call of constants would be moved to the host.
Expr no_sums(const Expr& lane);

// sums + a * b. The thread has of a the rows g, g + 8 at word t of a piece of what is summed, then
// the same of the next piece; of b the column g at word t of both pieces. A word is an f32, or two
// halves, the first the lower.
Expr multiply_add(const Expr& sums, const std::array<Expr, 4>& a, const std::array<Expr, 2>& b,
                  const Products& products);

// Element e, 0..3, of the thread's; a number after loops are unrolled.
Expr element(const Expr& sums, const Expr& e);

// A word of two numbers that are rounded to halves; `lane` as above.
Expr pair(const Expr& low, const Expr& high, const Type& half, const Expr& lane);

}  // namespace attn::lower::gpu
