#include "compiler/plan/kinds.h"

#include <fmt/format.h>

#include "compiler/plan/estimate.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {

const KernelKind kStreaming{"streaming", "sums over scores that exist in tiles only", 20};
const KernelKind kTileSums{"tiles", "sums over rows and columns of what exists in tiles only", 40};
const KernelKind kContraction{"contraction", "sum of products of two packed factors", 10};
const KernelKind kRow{"row", "reductions and maps over rows held in cache", 5};
const KernelKind kLoops{"loops", "the definition as written", 2};

std::span<const KernelKind* const> kinds() {
  static constexpr const KernelKind* kInOrder[] = {&kStreaming, &kTileSums, &kContraction, &kRow,
                                                   &kLoops};
  return kInOrder;
}

std::string why_slow(const ir::Graph& g, const ir::Definition& d) {
  if (d.reduced.empty()) return {};
  if (solve::find_landing(d)) return {};  // each point is visited once
  double work =
      points(g, {d.reduced.begin(), d.reduced.end()}) * points(g, {d.free.begin(), d.free.end()});
  constexpr double kSmall = 1 << 24;
  if (work < kSmall) return {};
  return fmt::format("its {} is a plain loop{}", name_of(d.combine),
                     d.combine == ir::Combine::sum ? ": no two factors of it can be packed apart"
                                                   : " over all its points");
}

}  // namespace attn::plan
