// Tiles of results that a block of threads keeps in registers, and chunks of their factors in the
// memory that the block shares.
#pragma once

#include <string>

#include "compiler/lower/terms/halide.h"
#include "compiler/plan/plan.h"
#include "compiler/target/target.h"

namespace attn::lower::gpu {

// Elements of what is summed that are staged together; and of halves.
constexpr int kStaged = 16, kStagedHalves = 64;

// And multiplied in one round of a loop. OpenCL's compilers unroll loops themselves, from less
// text.
inline int unrolled(const target::Target& target) { return target.device == ATTN_CUDA ? 4 : 1; }

// Threads t across and w down a tile, each with `across` x `down` results (u, v).
struct RegisterTile {
  int threads_across, threads_down, across, down;
  // As the matrix units have them: four threads across, eight of a warp down, and of a thread 2 x 2
  // results of each 8 x 16 (matrix_units.h). Else neighbouring results of a thread are neighbours,
  // so that their factors are one load.
  bool in_fragments = false;

  int threads() const { return threads_across * threads_down; }
  int columns() const { return threads_across * across; }
  int rows() const { return threads_down * down; }
  // The same of blocks of 8 x 16.
  RegisterTile fragments() const { return {threads_across, threads_down, across / 2, down / 2}; }
  Expr column(const Expr& u, const Expr& t) const {
    return in_fragments ? u / 2 * 8 + t * 2 + u % 2 : t * across + u;
  }
  // In fragments: the first row of block `v` of the thread's warp.
  Expr first_row(const Expr& v, const Expr& w) const { return w / 8 * (8 * down) + v * 16; }
  Expr row(const Expr& v, const Expr& w) const {
    return in_fragments ? w / 8 * (8 * down) + v / 2 * 16 + v % 2 * 8 + w % 8 : w * down + v;
  }
};

// What matrix units multiply, in tiles of 64 x 64. docs/gpu.md says what an H100 measured.
constexpr RegisterTile kFragments{4, 32, 16, 2, true};
inline bool uses_matrix_units(const target::Target& target, plan::Precision precision) {
  return target.capability >= 80 && precision != plan::Precision::highest;
}

// How products are computed, as the end of a schedule's description: ", products of f32".
inline std::string units_text(const target::Target& target, plan::Precision precision) {
  if (!uses_matrix_units(target, precision)) return ", products of f32";
  return ", products of " + std::string(name_of(precision)) + " precision by tensor cores";
}

// `f(m, k, ...)`, `size` x `summed` elements, is copied to shared memory by all threads of a block;
// neighbouring threads copy neighbours along k, or else along m. Other dimensions are single. A row
// along m is longer by `padding`, which keeps threads out of each other's banks.
void stage(Func f, int size, bool along_k, const RegisterTile& tile, int summed = kStaged,
           int padding = 4);

}  // namespace attn::lower::gpu
