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
  std::vector<Func> schedule();

 private:
  // A point inside a group: row u of the group, or any row where the index is not relative.
  struct At {
    Expr u, group, block, column;
  };
  using Term = std::function<Expr(const At&)>;

  // Stages: row_schedule.cpp.
  void count_readers();
  RowCell cell(const At& at);
  Expr value(int stage, const At& at);
  Expr body(int stage, const At& at) { return spec_.stages[stage].body(cell(at)); }
  Expr row_of(const At& at) const { return (at.block * groups_ + at.group) * height_ + at.u; }
  void add_map(int stage);
  void add_row_map(int stage);
  void add_reduction(int stage);
  static std::string name_of(int stage) { return "out_s" + std::to_string(stage); }
  Func vectors(const std::string& name, const Term& term, const Type& type, int width,
               const Expr& first, const Expr& count);
  Func reduce(const std::string& name, ir::Combine combine, const Term& term, const Type& type);
  void hold(Func func);
  // Storage is of whole vectors.
  void vectorize_columns(Func func, const Type& type) {
    const int lanes = lanes_of(target_, type);
    func.vectorize(column_, lanes, TailStrategy::GuardWithIf).align_storage(column_, lanes);
  }

  // Outputs: row_outputs.cpp.
  void add_output(int stage);
  Func add_column_sum(int stage, Func out, const At& at);
  void store_rows(Func out, int stage, const At& at, const Expr& row);
  void store_columns(Func out, const RowStage& stage, const Func& total);

  const RowSpec& spec_;
  const Target& target_;
  int height_ = 1;        // rows in a group
  Expr groups_, blocks_;  // groups in a block, blocks
  std::vector<int> readers_;
  std::vector<Type> types_;
  std::map<int, Func> stored_;  // by stage; of a log-sum-exp the high plane
  std::map<int, Func> low_;
  LoopLevel of_group_, of_block_;  // of the first output, which is known last
  std::vector<Func> fused_, results_;
  Var u_{"u"}, group_{"group"}, block_{"block"}, column_{"column"}, lane_{"lane"}, chunk_{"chunk"},
      plane_{"plane"};
  RVar fused_group_{"row_group"}, fused_block_{"row_block"};
};

}  // namespace attn::lower
