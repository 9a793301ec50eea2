// The schedule of streaming kernels, in Halide terms only: scores that live in tiles, the
// log-sum-exp of each row of them, and one sum over the columns that their exponentials weigh.
//
//   a[b,i,j] = score(sum over dots d, k:  left_d(b,i,k) * right_d(b,j,k))         where visible
//   Y[b,i]   = log sum over j of exp(a[b,i,j])
//   z[b,i,f] = finish(sum over j of  exp(a[b,i,j] - Y[b,i]) * weight(b,i,j) * panel(b,j,f))
//
// Columns go in chunks. A chunk is summed relative to a maximum of its own, so that none depends on
// another, and the chunks are merged at the end, in order. Rows and columns may be run-time Exprs,
// and 0. Results do not depend on threads.
#pragma once

#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

#include "compiler/lower/target.h"

namespace attn::lower {

// Indices it is given are in range. `batch` is linear over `batch_extents`.
struct StreamDot {
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr k)> left;
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr column, Halide::Expr k)> right;
  Halide::Expr reduced;
};

struct StreamSpec {
  using Cell =
      std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column)>;

  std::string name;
  std::vector<Halide::Expr> batch_extents;  // outermost first
  Halide::Expr rows, columns;
  int features = 1;
  std::vector<StreamDot> dots;
  // kLowest where it is not visible.
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column,
                             Halide::Expr dot)>
      score;
  Cell visible;  // empty: everywhere; asked by careful kernels only
  // The columns [first, end) that a row of [row, last] may see, at least these; empty: all.
  std::function<Halide::Expr(Halide::Expr row, Halide::Expr last)> first_column, end_column;
  Cell weight;  // empty: 1
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr column, Halide::Expr feature)> panel;
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr feature,
                             Halide::Expr sum)>
      finish;
  // Dimensions of z, outermost first: positions in batch_extents, then the row, then the feature;
  // and of Y, of which it is written only where they are given, as two planes: the maximum and the
  // logarithm of the rest, along a last dimension.
  std::vector<int> dimensions;
  bool writes_planes = false;
  std::vector<int> plane_dimensions;
  // Tests `visible` at every product instead of relying on weights of 0: for what is not finite.
  bool careful = false;
};

// Y where it is written, then z; each over its dimensions innermost first.
std::vector<Halide::Func> schedule_stream(const StreamSpec& spec, const TargetInfo& target);

}  // namespace attn::lower
