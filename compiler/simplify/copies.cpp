// What a recurrence carries may be a copy of another tensor of it: the gradient of a sum with a
// tensor that is carried is. Readers one step back, which stand before it, read that tensor as
// well.
#include <algorithm>

#include "compiler/ir/recurrence.h"
#include "compiler/simplify/passes.h"

namespace attn::simplify {

using namespace ir;

namespace {

// x where d[i,j] = x[i,j], and nothing but their names tells them apart.
std::optional<TensorId> copied(const Graph& g, const Definition& d) {
  if (d.combine != Combine::set || !d.guard.empty() || !d.body.is(Kind::read)) return std::nullopt;
  std::vector<Expr> own = index_values(d.free);
  const TensorId from = d.body->tensor;
  if (d.body.args() != own || g[from].storage != g[d.target].storage) return std::nullopt;
  return from;
}

}  // namespace

Graph merge_copies(const Graph& g) {
  std::set<TensorId> candidates = carried(g);
  for (const Output& o : g.outputs) candidates.erase(o.tensor);
  std::map<TensorId, TensorId> by;
  for (const Definition& d : g.definitions)
    if (candidates.count(d.target))
      if (auto from = copied(g, d)) by.emplace(d.target, by.count(*from) ? by.at(*from) : *from);
  if (by.empty()) return g;
  Graph result = g;
  std::erase_if(result.definitions, [&](const Definition& d) { return by.count(d.target) > 0; });
  auto rename = [&](const Expr& x) {
    if (!x.is(Kind::read) || !by.count(x->tensor)) return x;
    return read(by.at(x->tensor), x.type(), x.args());
  };
  for (Definition& d : result.definitions) {
    d.body = rewrite(d.body, rename);
    Conditions guard;
    for (const Expr& c : d.guard) guard.merge(conjuncts(rewrite(c, rename)));
    d.guard = std::move(guard);
    d = normal_form(std::move(d));
  }
  return result;
}

}  // namespace attn::simplify
