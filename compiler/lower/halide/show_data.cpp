#include "compiler/lower/halide/passes.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {
namespace {

class ShowData : public Halide::Internal::IRMutator {
  using IRMutator::visit;

  Expr visit(const Halide::Internal::Call* op) override {
    const bool hides = op->name == kDataCall || op->name == kIndexCall;
    return hides ? mutate(op->args[0]) : IRMutator::visit(op);
  }
};

}  // namespace

void show_data(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new ShowData); }

}  // namespace attn::lower
