// The schedule of kernels that sum over tiles, in Halide terms only: tensors over (batch, row,
// column) that exist in tiles only, and sums of them with panels over the columns or the rows.
//
//   t_k[b,i,j] = value_k(sum over dots d, e: left_d(b,i,e) * right_d(b,j,e);  t_0 .. t_{k-1} there)
//   r[b,i,f]   = scale(b,i,f) * (sum over j of t_k[b,i,j] * panel(b,j,f))        of rows
//   c[b,j,f]   = scale(b,j,f) * (sum over i of t_k[b,i,j] * panel(b,i,f))        of columns
//
// Rows and columns may be run-time Exprs, and 0. Results do not depend on threads.
#pragma once

#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

#include "compiler/lower/target.h"
#include "compiler/lower/tile_cells.h"

namespace attn::lower {

struct TileSpec {
  // A factor of a dot, or a panel, kept packed: over (batch, row or column, feature).
  struct Pack {
    bool of_rows = true;
    std::function<Halide::Expr(Halide::Expr batch, Halide::Expr place, Halide::Expr feature)> at;
    Halide::Expr length;  // features
  };
  struct Dot {
    int left, right;  // packs of rows and of columns
  };
  struct Tile {
    std::vector<Dot> dots;
    // 0 where it is hidden, whatever `dot` and the earlier tiles are there.
    std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column,
                               Halide::Expr dot, std::function<Halide::Expr(int tile)> earlier)>
        value;
    std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column)>
        visible;  // empty: everywhere; asked by careful kernels only
  };
  struct Result {
    bool of_rows = true;
    int tile = 0;
    int panel = 0;     // a pack, where there are features
    int features = 0;  // 0: the tile itself is summed, and there is no such dimension
    std::function<Halide::Expr(Halide::Expr batch, Halide::Expr kept, Halide::Expr feature,
                               Halide::Expr sum)>
        scaled;                   // linear in the sum
    std::vector<int> dimensions;  // outermost first: of batch_extents, then the kept, the feature
    // Of careful kernels: what is stored for a sum. Over the dimensions, innermost first.
    std::function<Halide::Expr(std::vector<Halide::Expr> place, Halide::Expr value)> repaired;
  };

  std::string name;
  std::vector<Halide::Expr> batch_extents;  // outermost first
  Halide::Expr rows, columns;
  std::vector<Pack> packs;
  std::vector<Tile> tiles;
  std::vector<Result> results;
  // Outside these every tile is 0; empty functions where nothing is known. Both or none.
  TileCells::Edges columns_of_rows, rows_of_columns;
  bool careful = false;  // tests `visible` at every product: for what is not finite
};

// The results in order, each over its dimensions innermost first.
std::vector<Halide::Func> schedule_tiles(const TileSpec& spec, const TargetInfo& target);

}  // namespace attn::lower
