// Four strategies, chosen at run time where extents do not settle it at compile time; each is one
// update of the output over its own blocks, switched on by a condition that empties its loops:
//
//   blocked  packed panels of both factors, register tiles; blocks of C in the second-level cache
//            hold what a reduction of several chunks has summed so far;
//   split    the same, the reduction cut into parts that are summed at the end (small C, long K);
//   in_place up to some rows of a right factor that is a tensor as it lies: tiles of dot products;
//            of groups of rows, each that has so few;
//   direct   up to four rows: the right factor is read once and never packed.
//
// After it, where conditions of one factor hide what is not finite of the other, results that see
// some of it are computed again (contraction_fallback.cpp).
//
// Panels and blocks are `undef` and one update over an explicit domain, so that nothing outside the
// operands is ever read; tails repeat the last row or column and are cut off by the store.
#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/cpu/contraction_problem.h"

namespace attn::lower {

class ContractionScheduler {
 public:
  ContractionScheduler(const ContractionSpec& spec, const Target& target)
      : problem_(spec, target), tuning_(tuning(target)), tiles_(problem_.tiles) {}
  Func schedule();

 private:
  // One strategy's loops over the output: lo and hi walk a block's columns, see `open`.
  struct Loops {
    RDom domain;
    bool one_run = false, is_fallback = false;
    Expr column;  // within the tile
    RVar row;     // the same
    // `block`: of rows, in a stripe, which is the rows that share a block of columns.
    RVar row_tile, column_tile, block, column_block, stripe, batch;
    RVar tile;                      // the inner one of row_tile and column_tile
    Expr row_block;                 // in the matrix
    std::vector<Expr> coordinates;  // of the output, outermost first
  };
  struct Panels {
    Func left, right;
    const ContractionTerm* term;
    int together;  // blocks of rows that share a block of columns; 0: all columns are packed first
  };

  // Rows that are multiplied in place.
  struct RowsInPlace {
    DotTile tile;
    Expr row;       // y_ of the row tile tile_; beyond the last one it repeats
    Expr is_there;  // whether that tile has rows; undefined: it has
    Expr row_tile;  // of y_ in the row block row_block_
    Expr tiles;     // how many share the fetching, and the turn of one of them
    Expr turn;
    int ahead;  // so many columns before what it fetches
  };

  // Whether something holds of a matrix.
  using OfMatrix = std::function<Expr(const Expr& matrix)>;

  Loops open(const Expr& condition, int rows, int columns, int row_tiles, int column_tiles,
             int together = 1, const OfMatrix& where = {});
  // Of groups of rows: which the strategy takes.
  enum class Strategy { direct, in_place, blocked };
  OfMatrix suits(Strategy strategy) const;
  void leave_out();
  Stage store(const Loops& loops, const Expr& sum);
  // Chunks of a term's reduction, in a matrix and at most.
  Expr chunks_of(const Panels& term, const Expr& matrix) const;
  Expr most_chunks(const Panels& term) const;
  Expr last_chunk(const Panels& term) const;
  std::optional<Func> next_columns(const Panels& term, const Expr& chunk) const;
  Func tile(const Panels& term, bool last);
  Func block(const Loops& loops, const std::vector<Panels>& panels, const Expr& splits,
             bool packs_inside);
  Func finished_tile(const Loops& loops, const std::vector<Panels>& panels);
  std::vector<Panels> pack_terms(int together);
  void blocked(const Expr& condition);
  void split(const Expr& condition);
  RowsInPlace whole_rows() const;
  RowsInPlace group_rows() const;
  RowsInPlace shown_rows() const;
  Func rows_by_vectors(const ContractionTerm& term, const RowsInPlace& given);
  Func dots(const ContractionTerm& term, const RowsInPlace& rows, const Func& left);
  void in_place(const Expr& condition);
  void direct(const Expr& condition);
  void fallback(const Func& where);

  const Problem problem_;
  const Tuning& tuning_;
  ContractionTiles tiles_;
  Func out_{"out"};
  Var x_{"x"}, y_{"y"}, k_{"k"}, tile_{"tile"}, panel_{"panel"}, chunk_{"chunk"}, part_{"part"};
  Var row_block_{"row_block"}, column_block_{"column_block"}, batch_{"batch"};
};

}  // namespace attn::lower
