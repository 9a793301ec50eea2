// One row kernel in the making. Rows go in groups, groups in blocks, blocks in parallel. Every
// output is one update over the same domain (row in group, group, block), and compute_with fuses
// all of them over the groups; what is not an output is computed for one group at a time and stays
// in the first-level cache. A column sum is kept per block, and the blocks' sums are added at the
// end. The block's size follows from the extents alone, which fixes the order of every sum.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/forms/row.h"

namespace attn::lower {

class RowScheduler {
 public:
  RowScheduler(const RowSpec& spec, const Target& target);
  std::vector<Halide::Func> schedule();

 private:
  // A place inside a group: row u of the group, or any row where the index is not relative.
  struct At {
    Halide::Expr u, group, block, column;
  };
  using Term = std::function<Halide::Expr(const At&)>;

  // Stages: row_schedule.cpp.
  void count_readers();
  RowCell cell(const At& at);
  Halide::Expr value(int stage, const At& at);
  Halide::Expr body(int stage, const At& at) { return spec_.stages[stage].body(cell(at)); }
  Halide::Expr row_of(const At& at) const {
    return (at.block * groups_ + at.group) * height_ + at.u;
  }
  void add_map(int stage);
  void add_row_map(int stage);
  void add_reduction(int stage);
  Halide::Func reduce(const std::string& name, ir::Combine combine, const Term& term,
                      const Halide::Type& type);
  void hold(Halide::Func func);
  // Halide aligns an array of one element for a scalar, and reads it as a vector all the same; so
  // storage is of whole vectors.
  void vectorize_columns(Halide::Func func, const Halide::Type& type) {
    const int lanes = lanes_of(target_, type);
    func.vectorize(column_, lanes, Halide::TailStrategy::GuardWithIf).align_storage(column_, lanes);
  }

  // Outputs: row_outputs.cpp.
  void add_output(int stage);
  Halide::Func add_column_sum(int stage, Halide::Func out, const At& at);
  void store_rows(Halide::Func out, const RowStage& stage, const At& at, const Halide::Expr& row);
  void store_columns(Halide::Func out, const RowStage& stage, const Halide::Func& total);
  bool shaped() const { return !spec_.row_extents.empty() || !spec_.column_extents.empty(); }

  const RowSpec& spec_;
  const Target& target_;
  int height_ = 1;                // rows in a group
  Halide::Expr groups_, blocks_;  // groups in a block, blocks
  std::vector<int> readers_;
  std::vector<Halide::Type> types_;
  std::map<int, Halide::Func> stored_;  // by stage; of a log-sum-exp the high plane
  std::map<int, Halide::Func> low_;
  std::vector<std::function<void(const Halide::LoopLevel& group, const Halide::LoopLevel& block)>>
      place_;
  std::vector<Halide::Func> fused_, results_;
  Halide::Var u_{"u"}, group_{"group"}, block_{"block"}, column_{"column"}, lane_{"lane"},
      plane_{"plane"};
  Halide::RVar fused_group_{"row_group"}, fused_block_{"row_block"};
};

}  // namespace attn::lower
