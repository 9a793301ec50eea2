// CUDA starts many blocks in a row, but few down and deep.
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

class HasBlocks : public IRVisitor {
 public:
  bool found = false;

 private:
  using IRVisitor::visit;
  void visit(const For* op) override {
    found = found || op->for_type == ForType::GPUBlock;
    IRVisitor::visit(op);
  }
};

// Of the loops over blocks, which stand one in the other, the innermost is the row.
bool is_row(const For& loop) {
  HasBlocks inside;
  loop.body.accept(&inside);
  return !inside.found;
}

class SplitLaunches : public IRMutator {
 public:
  explicit SplitLaunches(int most) : most_(most) {}

 private:
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    if (op->for_type != ForType::GPUBlock) return IRMutator::visit(op);
    const bool is_outermost = !is_inside_;
    is_inside_ = true;
    const bool is_split = !is_row(*op) && may_be_too_many(op->extent);
    Stmt body = mutate(op->body);
    Expr extent = op->extent;
    if (is_split) {
      const std::string part = unique_name(op->name + ".part");
      const Expr first = Variable::make(Halide::Int(32), part) * most_;
      body = substitute(op->name, Variable::make(Halide::Int(32), op->name) + first, body);
      // Rounded up without a sum that 32 bits do not hold.
      parts_.emplace_back(part, select(extent > 0, (extent - 1) / most_ + 1, 0));
      extent = min(extent - first, most_);
    }
    Stmt launch = For::make(op->name, op->min, extent, ForType::GPUBlock, op->partition_policy,
                            op->device_api, body);
    if (!is_outermost) return launch;
    is_inside_ = false;
    for (const auto& [part, count] : parts_)
      launch = For::make(part, 0, count, ForType::Serial, Halide::Partition::Never,
                         Halide::DeviceAPI::None, launch);
    parts_.clear();
    return launch;
  }

  bool may_be_too_many(const Expr& extent) const {
    const auto count = as_const_int(extent);
    return !count || *count > most_;
  }

  bool is_inside_ = false;                           // of the outermost loop over blocks
  std::vector<std::pair<std::string, Expr>> parts_;  // loops around it, and their counts
  const int most_;
};

}  // namespace

void split_launches(Halide::Pipeline& pipeline, int most) {
  pipeline.add_custom_lowering_pass(new SplitLaunches(most));
}

}  // namespace attn::lower
