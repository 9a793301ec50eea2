// Arithmetic on linear indices, extents and blocks, as Halide's bounds inference needs it written.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <vector>

namespace attn::lower {

// `index`, which the caller knows to lie in [0, extent): costs nothing and tells bounds inference.
Halide::Expr in_range(Halide::Expr index, Halide::Expr extent);

// `index`, which may lie beyond the extent, at the last place there.
Halide::Expr clamped(const Halide::Expr& index, const Halide::Expr& extent);

// Halide solves the conditions of a loop for every variable in them, and carries what it finds
// through all regions: with many nested loops, most of its time. What comes from outer loops is
// `hidden` from it, and a condition that need not bound a loop is `unsolved`; both keep their
// value.
Halide::Expr hidden(Halide::Expr offset);
Halide::Expr unsolved(Halide::Expr condition);

// The same value, of which Halide knows nothing at all; it keeps the operation, LLVM drops it.
Halide::Expr opaque(Halide::Expr index);

// The coordinates, outermost first, of a linear index into row-major extents. Division by a
// run-time extent goes through doubles (exact below 2^31), since vectors have no division.
std::vector<Halide::Expr> decode_index(Halide::Expr linear,
                                       const std::vector<Halide::Expr>& extents);

// index < extent. Against a constant it is written so that the simplifier does not use it to drop
// the promise that a place is in range: bounds inference sees the promise, not the condition.
Halide::Expr below(const Halide::Expr& index, const Halide::Expr& extent);

// How many blocks of `size` cover the extent.
Halide::Expr blocks_of(const Halide::Expr& extent, int size);

// What is known of an extent: its value, or -1.
int64_t constant(const Halide::Expr& extent);

}  // namespace attn::lower
