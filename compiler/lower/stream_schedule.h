// The schedule of streaming kernels, in Halide terms only: scores that live in tiles, the
// log-sum-exp of each row of them, and one sum over the columns that their exponentials weigh.
//
//   t_k[b,i,j] = value_k(sum over dots d, e: left_d(b,i,e) * right_d(b,j,e);  t_0 .. t_{k-1} there)
//   Y[b,i]     = log sum over j of exp(a[b,i,j]),  a the last of the t_k
//   z[b,i,f]   = finish(sum over j of  exp(a[b,i,j] - Y[b,i]) * weight(b,i,j) * panel(b,j,f))
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
#include "compiler/lower/tile_cells.h"

namespace attn::lower {

// Indices it is given are in range. `batch` is linear over `batch_extents`.
struct StreamDot {
  using Factor =
      std::function<Halide::Expr(Halide::Expr batch, Halide::Expr place, Halide::Expr k)>;

  Factor left, right;  // of a row and of a column
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column,
                             Halide::Expr k)>
      product;  // where there are no such factors
  Halide::Expr reduced;
};

struct StreamTile {
  std::vector<StreamDot> dots;
  TileCells::Value value;  // of the last tile kLowest where it is hidden
};

struct StreamSpec {
  using Cell =
      std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column)>;

  std::string name;
  std::vector<Halide::Expr> batch_extents;  // outermost first
  Halide::Expr rows, columns;
  std::vector<StreamTile> tiles;
  TileCells::Holds visible;  // where a weight may be other than 0; empty: everywhere
  // The columns [first, end) that some of a number of rows may see, at least these; empty: all.
  Edge first_column, end_column;
  SeenByData seen_by_data;
  // z is summed where it has features; one that has no such dimension has 1.
  Halide::Expr features;
  Cell weight;  // empty: 1
  // Conditions hide elements of the panel from some rows, whatever lies there. Packing replaces
  // what is not finite by 0; a fallback adds it where it is visible.
  bool fallback = false;
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr column, Halide::Expr feature)> panel;
  // Instead of the panel, where it is not of the columns alone.
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column,
                             Halide::Expr feature)>
      panel_at;
  std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr feature,
                             Halide::Expr sum)>
      finish;
  // Dimensions of z, outermost first: positions in batch_extents, then the row, then the feature;
  // and of Y, of which it is written only where they are given, as two planes: the maximum and the
  // logarithm of the rest, along a last dimension.
  std::vector<int> dimensions;
  bool writes_planes = false;
  std::vector<int> plane_dimensions;
};

// Y where it is written, then z; each over its dimensions innermost first.
std::vector<Halide::Func> schedule_stream(const StreamSpec& spec, const Target& target);

}  // namespace attn::lower
