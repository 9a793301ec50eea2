#include "compiler/plan/kinds.h"

namespace attn::plan {

namespace {

// In the order of the forms, from the last.
constexpr KernelKind kKinds[] = {
    {"tiles", "sums over rows and columns of what exists in tiles only", 40, claim_tiles},
    {"streaming", "sums over scores that exist in tiles only", 20, nullptr},
    {"contraction", "sum of products of two packed factors", 10, claim_contraction},
    {"row", "reductions and maps over rows held in cache", 5, claim_row},
    {"loops", "the definition as written", 2, claim_loops},
};

}  // namespace

std::span<const KernelKind> kernel_kinds() { return kKinds; }

const KernelKind& kind_of(const Form& form) {
  struct Row {
    size_t operator()(const TilesForm& f) const { return f.streams() ? 1 : 0; }
    size_t operator()(const ContractionForm&) const { return 2; }
    size_t operator()(const RowForm&) const { return 3; }
    size_t operator()(const LoopsForm&) const { return 4; }
  };
  return kKinds[std::visit(Row{}, form)];
}

}  // namespace attn::plan
