#include "compiler/solve/running.h"

#include <algorithm>

namespace attn::solve {

using namespace ir;

std::optional<Running> find_running(const Graph& g, const Definition& d) {
  const bool adds = d.combine == Combine::sum || d.combine == Combine::prod ||
                    d.combine == Combine::max || d.combine == Combine::min;
  if (!adds || d.reduced.size() != 1 || !d.position.empty()) return {};
  const IndexId term = d.reduced[0];
  for (const IndexId i : d.free) {
    if (uses(d.body, i) || !g.same(g[i].extent, g[term].extent)) continue;
    const auto uses_it = [&](const Expr& c) { return uses(c, i); };
    if (std::ranges::count_if(d.guard, uses_it) != 1) continue;
    const Expr& condition = *std::ranges::find_if(d.guard, uses_it);
    if (!condition.is(Kind::at_least_zero)) continue;
    const Expr apart = index_value(i) - index_value(term);
    for (const bool down : {false, true}) {
      // The condition is i - term + c >= 0, or term - i + c >= 0.
      const auto c = as_size(condition.args()[0] + (down ? apart : -apart));
      const auto number = c ? g.known(*c) : std::nullopt;
      if (number && *number <= 0)
        return Running{i, term, down, down ? -*number : *number, condition};
    }
  }
  return {};
}

}  // namespace attn::solve
