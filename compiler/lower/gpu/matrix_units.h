// Products by the matrix units of a GPU (tensor cores of CUDA devices of compute capability 8.0 and
// later): instructions that the 32 threads of a warp execute together, in calls that the pass
// write_instructions replaces. Layouts are those of the PTX ISA 7.0, section "Warp Level Matrix
// Multiply-Accumulate Instructions", for m16n8k8.
#pragma once

#include <array>

#include "compiler/lower/terms/halide.h"
#include "compiler/plan/plan.h"

namespace attn::lower::gpu {

// Elements that one instruction sums.
constexpr int kMultiplied = 8;

// 16 x 8 sums, of which a thread has four: g = lane / 4, t = lane % 4; element e is at row
// g + 8 * (e / 2), column 2 * t + e % 2. All 0. `lane`: anything that varies between threads; a
// call of constants would be moved to the host.
Expr no_sums(const Expr& lane);

// sums + a * b. The thread has of a the rows g, g + 8 at what is summed t, then the same at t + 4;
// of b the column g at t, t + 4. Of high precision: each factor is the sum of two numbers with
// fewer bits, of whose products the smallest is left out; of an infinity it is NaN. Of medium
// precision: the factors' upper 11 bits.
Expr multiply_add(const Expr& sums, const std::array<Expr, 4>& a, const std::array<Expr, 2>& b,
                  plan::Precision precision);

// Element e, 0..3, of the thread's; a number after loops are unrolled.
Expr element(const Expr& sums, const Expr& e);

}  // namespace attn::lower::gpu
