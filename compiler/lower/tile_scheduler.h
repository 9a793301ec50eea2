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

#include "compiler/lower/linear_index.h"
#include "compiler/lower/tile_schedule.h"
#include "compiler/lower/tuning.h"

namespace attn::lower {

// The register tile of a result: vectors of features, and rows that fit beside them.
struct SumTile {
  int vectors = 0, rows = 1;
};

class TileScheduler {
 public:
  TileScheduler(const TileSpec& spec, const Target& target);
  std::vector<Halide::Func> schedule();

 private:
  struct Packed {
    Halide::Func func;
    Halide::RDom domain;
    bool of_rows, transposed;
  };
  // Where a pack has something that is not finite.
  struct Met {
    Halide::Func lanes, of_place, of_all;
    Halide::RDom features, over, places;
  };
  struct Result {
    Halide::Func sums, part;  // all of it; of one tile in registers
    Halide::RDom domain;
    SumTile tile;
    bool in_parts = false;            // `sums` has the part as a last dimension
    std::vector<Halide::RVar> batch;  // outermost first
    Halide::Func fallback;            // what the sums begin with, where a panel has one
    std::vector<Halide::Func> plain_dots;
  };

  Halide::Expr batch_of(const Halide::Expr& h) const { return in_range(h, batches_); }
  // What is computed: tile_form.cpp.
  // Loops over blocks of rows, chunks of columns and the batch, around two of a result's own; alike
  // in name and number, so that compute_with can fuse the results.
  Halide::RDom loops_of(Result& result, int first, const Halide::Expr& second) const;
  Halide::Expr chunk_of(const Halide::RDom& loops) const { return loops[3] * parts_ + loops[4]; }
  Halide::Expr number_of_parts() const;
  Halide::Expr linear_batch(const Halide::RDom& loops) const;
  Halide::Expr batch_place(const Halide::RDom& loops, int at) const;
  Halide::Expr needed(const Halide::Expr& batch, const Halide::Expr& i0, const Halide::Expr& i1,
                      const Halide::Expr& j0, const Halide::Expr& j1, int slack) const;
  const Packed& pack(int index, bool transposed);
  const Met& met(int index);
  void add_tile(int index);
  void add_result(int index);
  void add_sums(const TileSpec::Result& s, Result& result, const std::string& name);
  std::vector<Halide::Func> plain_tiles(std::vector<Halide::Func>& dots) const;
  void add_fallback(const TileSpec::Result& s, Result& result);
  struct Point {
    Halide::Expr row, column;
    std::function<Halide::Expr(int tile)> value;
  };
  Point point(const TileSpec::Result& s, const SumTile& tile, const Halide::Expr& within) const;
  void limit_to_seen(const TileSpec::Result& s, const SumTile& tile, Halide::RDom& r,
                     const Halide::Expr& within) const;
  void add_places(const TileSpec::Result& s, Result& result);
  // Where and in what order: tile_schedule.cpp.
  std::vector<Halide::VarOrRVar> loop_order(Result& r, std::vector<Halide::VarOrRVar> inner) const;
  void place_sums(Result& r, const TileSpec::Result& s);
  void place_places(Result& r, const TileSpec::Result& s);
  Halide::Func output(int index);
  Halide::Expr features_stored(int index) const;
  void place_fallbacks();
  void place_packs(const Halide::LoopLevel& chunk, const Halide::LoopLevel& tile);
  void place_tiles(const Halide::LoopLevel& tile);
  void place_result(int index);
  void keep_for_a_part(Halide::Func f) const;
  void add_in_order(Halide::Func out, const Halide::RDom& part) const;

  const TileSpec& spec_;
  const Target& target_;
  const target::Costs& costs_;
  const int lanes_;
  const TileSizes sizes_;
  const int panel_;  // columns of a register tile
  int slack_ = 0;    // rows that a register tile of a result may lie beyond a tile's
  // Loops of a result before those over the batch: two of its own, the row block, the chunk within
  // the part, the part.
  static constexpr int kOwnLoops = 5;
  Halide::Expr rows_, columns_, batches_ = 1;  // at least 1
  Halide::Expr chunks_, parts_;                // of all columns; see number_of_parts
  std::vector<Halide::Var> batch_vars_;
  std::map<std::pair<int, bool>, Packed> packs_;
  std::map<int, Met> met_;  // by pack
  std::vector<Halide::Func> dots_, tiles_;
  std::vector<Halide::RDom> tile_domains_;
  std::vector<Result> results_;
  Halide::Var d_{"d"}, i_{"i"}, j_{"j"}, ib_{"ib"}, jb_{"jb"}, h_{"h"}, n_{"n"}, u_{"u"}, b_{"b"};
  Halide::Var dy_{"dy"}, part_{"part"};
  Halide::RVar row_block_{"row_block"}, column_chunk_{"column_chunk"}, column_part_{"column_part"};
  std::vector<Halide::RVar> batch_loops_;
  std::set<int> serial_;  // positions in the batch that some result sums
};

}  // namespace attn::lower
