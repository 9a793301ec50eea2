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
#include <set>
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
    // Conditions hide elements from some of its readers, whatever lies there. Packing replaces what
    // is not finite by 0; a fallback adds it where it is visible.
    bool fallback = false;
  };
  // A sum over features: of the products of a pack of rows and one of columns, or of `product` at
  // each point on its own.
  struct Dot {
    int left = -1, right = -1;  // packs
    std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column,
                               Halide::Expr feature)>
        product;  // where there are no packs
    Halide::Expr length;
  };
  struct Tile {
    std::vector<Dot> dots;
    TileCells::Value value;    // 0 where it is hidden, whatever the dot and earlier tiles are there
    TileCells::Holds visible;  // empty: everywhere
  };
  struct Result {
    bool of_rows = true;
    int tile = 0;
    int panel = -1;         // a pack, where there are features
    Halide::Expr features;  // undefined: the tile itself is summed, and there is no such dimension
    // Where the panel is not of the summed index alone: its value at each point, and no pack.
    std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column,
                               Halide::Expr feature)>
        panel_at;
    std::function<Halide::Expr(Halide::Expr batch, Halide::Expr kept, Halide::Expr feature,
                               Halide::Expr sum)>
        scaled;                   // linear in the sum
    std::vector<int> dimensions;  // outermost first: of batch_extents, then the kept, the feature
    // Instead of a sum, the place where the tile's value at a point is added, times `panel_at`
    // where there are features: one a dimension, used where `dimensions` says the kept; out of
    // range only where the tile is hidden.
    std::function<std::vector<Halide::Expr>(Halide::Expr batch, Halide::Expr row,
                                            Halide::Expr column)>
        place;
    std::vector<Halide::Expr> extents;  // of the places
    bool is_dense = false;              // neighbouring columns have neighbouring places
    std::set<int> summed_batch;         // positions in batch_extents that have no place
  };

  std::string name;
  std::vector<Halide::Expr> batch_extents;  // outermost first
  Halide::Expr rows, columns;
  std::vector<Pack> packs;
  std::vector<Tile> tiles;
  std::vector<Result> results;
  // Outside these every tile is 0; empty functions where nothing is known.
  TileCells::Edges columns_of_rows, rows_of_columns;
  SeenByData seen_by_data;
};

// The results in order, each over its dimensions innermost first.
std::vector<Halide::Func> schedule_tiles(const TileSpec& spec, const Target& target);

}  // namespace attn::lower
