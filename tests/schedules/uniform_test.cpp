// Random numbers in kernels.
#include <gtest/gtest.h>

#include "compiler/lower/terms/translate.h"
#include "compiler/ops/table.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

// Of an expression, as what goes through it without a memory of shared parts sees it.
class NodeCount : public IRVisitor {
 public:
  int64_t of(const Expr& e) {
    e.accept(this);
    return count_;
  }

 private:
  void visit(const Cast* op) override { add(op); }
  void visit(const Add* op) override { add(op); }
  void visit(const Mul* op) override { add(op); }
  void visit(const Call* op) override { add(op); }
  void visit(const Let* op) override { add(op); }
  template <typename Node>
  void add(const Node* op) {
    ++count_;
    IRVisitor::visit(op);
  }
  int64_t count_ = 0;
};

// Each step of the generator reads the step before it twice. Of more than four counters, for which
// it runs twice, the steps as a tree would be 166,000 nodes, each of which Halide's passes visit.
TEST(Uniform, NamesItsSteps) {
  for (const int counters : {1, 4, 5, 9}) {
    std::vector<Expr> args;
    for (int k = 0; k <= counters; ++k)
      args.push_back(Variable::make(Halide::Int(32), "a" + std::to_string(k)));
    const Expr e = primitive(*ops::find("uniform"), args, Halide::Float(32), unbounded_exp);
    EXPECT_LT(NodeCount().of(e), 300 * ((counters + 3) / 4)) << counters;
  }
}

}  // namespace
}  // namespace attn::lower
