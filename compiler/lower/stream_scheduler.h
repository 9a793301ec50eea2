// One streaming kernel in the making. Rows in tiles, some tiles a block; columns in chunks, read
// from packed panels. Scores and weights of one tile and chunk stay in the first-level cache; both
// products are register tiles. What a tile cannot see, its guards' bounds leave out of the loops.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/lower/linear_index.h"
#include "compiler/lower/stream_schedule.h"
#include "compiler/lower/tuning.h"

namespace attn::lower {

class StreamScheduler {
 public:
  StreamScheduler(const StreamSpec& spec, const Target& target);
  std::vector<Halide::Func> schedule();

 private:
  // What is computed: stream_form.cpp.
  void pack(const StreamDot& dot);
  void pack_panel();
  void find_non_finite();
  void score();
  void add_tile(int index);
  void sum_chunks();
  void sum_panel();
  void merge();
  void write();
  // Where and in what order: stream_schedule.cpp.
  void place();
  void place_result(Halide::Func f, const Halide::Var* inner);
  void place_results();
  void place_tile(int index, const Halide::LoopLevel& of_tile);

  Halide::Expr row_of(const Halide::Expr& tile, const Halide::Expr& within) const {
    return in_range(min(tile * tiles_.rows + within, rows_ - 1), rows_);
  }
  Halide::Expr column_or_last(const Halide::Expr& column) const {
    return in_range(min(likely(column), some_columns_ - 1), some_columns_);
  }
  Halide::Expr batch_of(const Halide::Expr& batch) const { return in_range(batch, batches_); }
  // Of the columns that the row tile may see.
  Halide::Expr first_column(const Halide::Expr& tile) const;
  Halide::Expr end_column(const Halide::Expr& tile) const;
  // The same where data has a say too.
  Halide::Expr first_seen(const Halide::Expr& tile) const;
  Halide::Expr end_seen(const Halide::Expr& tile) const;
  // Leaves of the chunk's columns, in units of some, those that the row tile may see by its guards;
  // and of blocks of some columns those that data lets it see.
  void limit(Halide::RDom& domain, const Halide::Expr& position, int unit) const;
  void limit_to_seen(Halide::RDom& domain, const Halide::Expr& from, int size) const;
  // In flight in the passes over elements.
  int rows_together() const { return std::min(tiles_.rows, 6); }
  Halide::Func output(const std::string& name, const std::vector<int>& dimensions, bool planes);

  const StreamSpec& spec_;
  const int lanes_;
  const StreamTiles tiles_;
  const int panel_columns_;   // of the right factors' panels
  const int together_;        // columns that data lets a row tile see or not: whole panels
  const bool sums_;           // whether there is a sum beside the log-sum-exp
  const int panel_features_;  // of the sum's panels
  const Halide::Expr features_;
  const Halide::Expr padded_;         // features in whole vectors
  Halide::Expr rows_, some_columns_;  // at least 1: what is clamped to the last is there
  Halide::Expr batches_ = 1;
  struct Dots {
    Halide::Func sum;
    std::vector<Halide::RVar> reduced;
  };
  struct Right {
    Halide::Func func;
    Halide::RDom columns;  // of a panel: some at a time, and which of these
  };
  std::vector<Halide::Func> left_, tile_funcs_;
  std::vector<Right> right_;
  std::vector<Dots> dots_;        // of each tile
  Halide::Func met_lanes_, met_;  // of a chunk of the panel's columns: whether all is finite
  Halide::RDom rf_, met_over_;
  Halide::Func panel_, scores_, largest_lanes_, largest_, weights_, shares_, total_lanes_, partial_,
      fallback_, packed_;
  Halide::Func top_, factor_, merged_, total_, finished_;
  std::vector<Halide::Func> results_;
  std::vector<Halide::Var> batch_vars_;
  Halide::Var d_{"d"}, i_{"i"}, j_{"j"}, h_{"h"}, x_{"x"}, ii_{"ii"}, block_{"block"}, t_{"t"},
      c_{"c"};
  Halide::Var jj_{"jj"}, jp_{"jp"}, dd_{"dd"}, dp_{"dp"}, l_{"l"}, plane_{"plane"};
  Halide::RDom rm_, rw_, rs_, rj_, rn_, some_, over_lanes_, rc_max_, rc_;
  std::vector<Halide::RDom> tile_domains_;
};

}  // namespace attn::lower
