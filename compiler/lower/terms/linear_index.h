// Arithmetic on linear indices, extents and blocks, as Halide's bounds inference needs it written.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/terms/halide.h"

namespace attn::lower {

// `index`, which the caller knows to lie in [0, extent): costs nothing and tells bounds inference.
Expr in_range(Expr index, Expr extent);

// `index`, which may lie beyond the extent, at the last index there.
Expr clamped(const Expr& index, const Expr& extent);

// An offset from outer loops, for which Halide solves no condition; and a condition that need not
// bound a loop. Both keep their value.
Expr hidden(Expr offset);
Expr unsolved(Expr condition);

// The same value, of which Halide knows nothing at all; it keeps the operation, LLVM drops it.
Expr opaque(Expr index);

// The value, opaque where the other is a constant far from 0: of min(x - 2, 2147483647) and
// select(c, x - 2, 2147483647) Halide computes 2147483647 + 2.
Expr beside(const Expr& other, const Expr& value);

// The coordinates, outermost first, of a linear index into row-major extents. Division by a
// run-time extent goes through doubles (exact below 2^31), since vectors have no division.
std::vector<Expr> decode_index(Expr linear, const std::vector<Expr>& extents);

// index < extent, so that the simplifier does not drop the promise that the index is in range.
Expr below(const Expr& index, const Expr& extent);

// How many blocks of `size` cover the extent.
Expr blocks_of(const Expr& extent, int size);

// What is known of an extent: its value, or -1.
int64_t constant(const Expr& extent);

}  // namespace attn::lower
