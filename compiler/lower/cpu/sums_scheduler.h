// One kernel of tiles in the making. Chunks of columns outside, blocks of rows inside. All results
// are updates over the same loops of (block, chunk), fused by compute_with, so that a tile is
// computed once and read by all of them while it is in the cache. Rules that make this work for
// every size: what is packed or tiled starts as `undef` and is set by one update over an explicit
// domain whose conditions are on blocks only; rows and columns beyond the end are clamped, and add
// the 0 that tiles hold there.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/lower/cpu/tiles_scheduler.h"

namespace attn::lower {

class SumsScheduler : TilesScheduler {
 public:
  SumsScheduler(const TilesSpec& spec, const Target& target);
  std::vector<Func> schedule();

 private:
  // Rows or columns.
  struct Side {
    Expr extent, true_extent;  // the first at least 1
    int block, unit;           // of a tile; of a register tile
    Var within, at_block;
    Expr first() const { return at_block * block; }
  };
  // The register tile of a result: vectors of features, and rows that fit beside them.
  struct SumTile {
    int vectors = 0, rows = 1;
  };
  struct Packed {
    Func func;
    RDom domain;
    bool of_rows, transposed;
  };
  // Where a pack has something that is not finite.
  struct NonFinitePack {
    NonFinite of_row;  // or column
    Func of_all;
  };
  struct Sum {
    Func sums, part;  // all of it; of one tile in registers
    RDom domain;
    SumTile tile;
    bool in_parts = false;    // `sums` has the part as a last dimension
    std::vector<RVar> batch;  // outermost first
    Func fallback;            // what the sums begin with, where a panel has one
    Func start;               // the same, summed over the batch, where the result is
    std::vector<Func> fallback_dots;
  };

  // What is computed: sums_funcs.cpp.
  const Side& side(bool of_rows) const { return of_rows ? row_side_ : column_side_; }
  // Loops over blocks of rows, chunks of columns and the batch, around two of a result's own; alike
  // in name and number, so that compute_with can fuse the results.
  RDom loops_of(Sum& result, const Expr& first, const Expr& second) const;
  Expr chunk_of(const RDom& loops) const { return loops[3] * parts_ + loops[4]; }
  SumTile sum_tile(const Result& r) const;
  Expr number_of_parts() const;
  RVar batch_loop(const RDom& loops, size_t k) const;
  Expr batch_at(const RDom& loops) const;
  Expr needed(const Expr& batch, const Expr& i0, const Expr& i1, const Expr& j0, const Expr& j1,
              int slack) const;
  const Packed& pack(int index, bool transposed);
  void add_tile(int index);
  void add_result(int index);
  void add_sums(const Result& s, Sum& result, const std::string& name);
  std::vector<Expr> coordinates(const Result& s, const RDom& loops,
                                const std::vector<Expr>& kept) const;
  struct Point {
    TilesSpec::Point at;
    TilesSpec::Values tile;
  };
  Point point(const Result& s, const SumTile& tile, const Expr& within) const;
  void limit_to_seen(const Result& s, const SumTile& tile, RDom& r, int together) const;
  Expr times_panel_at(const Result& s, const Point& here, const Expr& value) const;
  Func output(int index);
  // Points that are added where they say: sums_scatter.cpp.
  struct Scatter {
    RDom loops;
    Expr row, column, within_i, within_j;  // of the tensor; of the block
    Expr line, in_line;                    // the column's digits, where loops are over these
  };
  Scatter points_of(const Result& s, Sum& result) const;
  Expr sum_of_line(const Result& s, Sum& result, const Scatter& at) const;
  Expr are_seen(const Expr& row, const Expr& column, const Expr& batch) const;
  void add_scatter(const Result& s, Sum& result);
  void schedule_scatter(Sum& r, const Result& s);
  // What hidden panels hold that is not finite: sums_fallback.cpp.
  const NonFinitePack& non_finite(int index);
  std::vector<Func> tiles_as_written(std::vector<Func>& dots) const;
  void add_fallback(const Result& s, Sum& result);
  Expr start_of(const Result& s, Sum& result);
  void schedule_fallbacks();
  // Where and in what order: sums_schedule.cpp.
  std::vector<VarOrRVar> loop_order(Sum& r, std::vector<VarOrRVar> inner) const;
  void schedule_sums(Sum& r, const Result& s);
  Expr features_stored(int index) const;
  void schedule_packs(const LoopLevel& chunk, const LoopLevel& tile);
  void schedule_tiles(const LoopLevel& tile);
  void schedule_result(int index);
  void keep_for_a_part(Func f) const;
  void add_in_order(Func out, const RDom& part) const;

  // Rows: i in block ib. Columns: j in chunk jb. What a result keeps: n, or u in register tile b of
  // a block. Features: d, dy counting register tiles. h: the batch.
  Var ib_{"ib"}, jb_{"jb"}, n_{"n"}, b_{"b"}, dy_{"dy"}, part_{"part"};
  const Side row_side_, column_side_;
  int slack_ = 0;  // rows that a register tile of a result may lie beyond a tile's
  // Loops of a result before those over the batch: two of its own, the row block, the chunk within
  // the part, the part.
  static constexpr int kOwnLoops = 5;
  Expr chunks_, parts_;  // of all columns; see number_of_parts
  std::map<std::pair<int, bool>, Packed> packs_;
  std::map<int, NonFinitePack> non_finite_;  // by pack
  std::vector<Func> dots_, tiles_;
  std::vector<RDom> tile_domains_;
  std::vector<Sum> sums_;  // of each result
  RVar row_block_{"row_block"}, column_chunk_{"column_chunk"}, column_part_{"column_part"};
  std::vector<RVar> batch_loops_;
  std::set<int> serial_;  // indices of the batch that some result sums
};

}  // namespace attn::lower
