#include <algorithm>
#include <iterator>
#include <string_view>

#include "compiler/lower/halide/passes.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {
namespace {

bool hides(const Halide::Internal::Call& call) {
  constexpr std::string_view kHiding[] = {kDataCall, kIndexCall};
  return std::ranges::find(kHiding, call.name) != std::end(kHiding);
}

class ShowData : public Halide::Internal::IRMutator {
  using IRMutator::visit;

  Expr visit(const Halide::Internal::Call* op) override {
    return hides(*op) ? mutate(op->args[0]) : IRMutator::visit(op);
  }
};

}  // namespace

void show_data(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new ShowData); }

}  // namespace attn::lower
