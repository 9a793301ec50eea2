// One streaming kernel in the making. Rows in tiles, some tiles a block; columns in chunks, read
// from packed panels. Scores and weights of one tile and chunk stay in the first-level cache; both
// products are register tiles. What a tile cannot see, its guards' bounds leave out of the loops.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/lower/cpu/tiles_scheduler.h"

namespace attn::lower {

class StreamScheduler : TilesScheduler {
 public:
  StreamScheduler(const TilesSpec& spec, const Target& target);
  std::vector<Func> schedule();

 private:
  // What is computed: stream_funcs.cpp.
  Func left(int pack);
  Func right(int pack);
  void pack_panel();
  void score();
  void add_tile(int index);
  void sum_chunks();
  void sum_panel();
  void merge();
  Func output(const Result& r);
  // Where and in what order: stream_schedule.cpp.
  void schedule_all();
  void schedule_result(Func f, const Var* inner);
  void schedule_results();
  void schedule_tile(int index, const LoopLevel& of_tile);

  Expr row_of(const Expr& tile, const Expr& within) const {
    return row_at(tile * tiles_.rows + within);
  }
  Expr feature() const { return clamped(dp_ * panel_features_ + dd_, features_); }
  Expr first_row() const { return t_ * tiles_.rows; }
  Expr last_row() const { return t_ * tiles_.rows + (tiles_.rows - 1); }
  Expr column(const Expr& in_chunk) const { return c_ * tiles_.chunk + in_chunk; }
  // Of the columns that the row tile may see by its guards.
  Expr first_column() const;
  Expr end_column() const;
  // They take columns that the row tile does not see out of a loop over the chunk. By guards:
  // `position` counts units of some columns. By data: the `size` columns at `from`, all or none.
  // By both, `block` being where the position lies.
  void limit(RDom& domain, const Expr& position, int unit) const;
  void limit_to_seen(RDom& domain, const Expr& from, int size) const;
  void limit(RDom& domain, const Expr& position, int unit, const Expr& block) const;
  // Rows that a sweep over elements takes at once.
  int rows_together() const { return std::min(tiles_.rows, 6); }

  const Result* const sum_;  // beside the log-sum-exp, or null
  const bool writes_planes_;
  const StreamTiles tiles_;
  const int panel_columns_;   // of the right factors' panels
  const int seen_columns_;    // of a block that data lets a row tile see or not: whole panels
  const int panel_features_;  // of the sum's panels
  const Expr features_;
  const Expr padded_;  // features in whole vectors
  struct Right {
    Func func;
    RDom columns;  // of a panel: some at a time, and which of these
  };
  std::map<int, Func> left_;  // by pack
  std::map<int, Right> right_;
  std::vector<Func> tile_funcs_;
  std::vector<Func> dots_;  // of each tile
  NonFinite non_finite_;    // in the chunks of the panel's columns
  Func scores_;
  Func panel_{"out_panel"}, largest_lanes_{"out_largest_lanes"}, largest_{"out_largest"},
      weights_{"out_weights"}, contributions_{"out_contributions"}, total_lanes_{"out_total_lanes"},
      partial_{"out_partial"}, fallback_{"out_fallback"}, packed_{"out_packed"};
  Func top_{"out_top"}, factor_{"out_factor"}, merged_{"out_merged"}, total_{"out_total"},
      finished_{"out_finished"};
  std::vector<Func> results_;
  // Rows: ii in tile t, some tiles a block. Columns: j in chunk c, or jj in panel jp. Features: d,
  // or dd in panel dp. x: what is packed side by side. l: a lane. h: the batch.
  Var x_{"x"}, ii_{"ii"}, block_{"block"}, t_{"t"}, c_{"c"}, jj_{"jj"}, jp_{"jp"}, dd_{"dd"},
      dp_{"dp"}, plane_{"plane"};
  RDom rm_, rw_, rs_, rj_, rn_, over_lanes_, rc_max_, rc_;
  std::vector<RDom> tile_domains_;
};

}  // namespace attn::lower
