#include "compiler/ir/key.h"

#include <algorithm>
#include <numeric>

namespace attn::ir {
namespace {

// Numbers that no graph gives to its indices.
constexpr int32_t kFirstFree = 1 << 28;
constexpr int32_t kFirstReduced = kFirstFree + (1 << 20);
// More reduced indices than this are compared in the order in which they stand.
constexpr size_t kMostPermuted = 4;

}  // namespace

QuickKey quick_key(const Graph& g, const Definition& d) {
  QuickKey k{d.combine, d.body.type(), {}, {}, reads(d), d.body->weight};
  for (IndexId i : d.free) k.free.push_back(g.expand(g[i].extent));
  for (IndexId r : d.reduced) k.reduced.push_back(g.expand(g[r].extent));
  std::sort(k.reduced.begin(), k.reduced.end());
  return k;
}

Key key(const Graph& g, const Definition& d) {
  const QuickKey quick = quick_key(g, d);
  std::map<IndexId, Expr> names;
  for (size_t k = 0; k < d.free.size(); ++k)
    names[d.free[k]] = index_value({kFirstFree + static_cast<int32_t>(k)});
  std::vector<size_t> order(d.reduced.size());
  std::iota(order.begin(), order.end(), 0);
  std::optional<Key> best;
  do {
    Key c{.quick = quick};
    for (size_t k = 0; k < order.size(); ++k) {
      const IndexId r = d.reduced[order[k]];
      names[r] = index_value({kFirstReduced + static_cast<int32_t>(k)});
      c.reduced.push_back(g.expand(g[r].extent));
    }
    // Only orders with the extents sorted can be the least.
    if (order.size() <= kMostPermuted && !std::is_sorted(c.reduced.begin(), c.reduced.end()))
      continue;
    c.body = substitute(d.body, names);
    c.guard = substitute(d.guard, names);
    for (const Expr& p : d.position) c.position.push_back(substitute(p, names));
    if (!best || c < *best) best = std::move(c);
  } while (order.size() <= kMostPermuted && std::next_permutation(order.begin(), order.end()));
  return *best;
}

}  // namespace attn::ir
