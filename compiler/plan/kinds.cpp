#include "compiler/plan/kinds.h"

#include <fmt/format.h>

#include "compiler/plan/estimate.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {

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
