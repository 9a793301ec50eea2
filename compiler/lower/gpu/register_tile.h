// Tiles of results that a block of threads keeps in registers, and chunks of their factors in the
// memory that the block shares.
#pragma once

#include "compiler/lower/terms/halide.h"
#include "compiler/target/target.h"

namespace attn::lower::gpu {

// Elements of what is summed that are staged together.
constexpr int kStaged = 16;

// And multiplied in one round of a loop. OpenCL's compilers unroll loops themselves, from less
// text.
inline int unrolled(const target::Target& target) { return target.device == ATTN_CUDA ? 4 : 1; }

// Threads t across and w down a tile, each with `across` x `down` results (u, v). Neighbouring
// results of a thread are neighbours, so that their factors are one load.
struct RegisterTile {
  int threads_across, threads_down, across, down;

  int threads() const { return threads_across * threads_down; }
  int columns() const { return threads_across * across; }
  int rows() const { return threads_down * down; }
  Expr column(const Expr& u, const Expr& t) const { return t * across + u; }
  Expr row(const Expr& v, const Expr& w) const { return w * down + v; }
};

// `f(m, k, ...)`, `size` x kStaged elements, is copied to shared memory by all threads of a block;
// neighbouring threads copy neighbours along k, or else along m. Other dimensions are single.
void stage(Func f, int size, bool along_k, const RegisterTile& tile);

}  // namespace attn::lower::gpu
