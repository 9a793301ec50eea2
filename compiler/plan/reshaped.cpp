#include "compiler/plan/reshaped.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/uses.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

// Which element of a tensor, counted in memory, these subscripts say.
Expr position(const std::vector<Poly>& extents, const std::vector<Expr>& subscripts) {
  Expr at = size_value(0);
  for (size_t k = 0; k < extents.size(); ++k) at = at * size_value(extents[k]) + subscripts[k];
  return at;
}

Poly product(const std::vector<Poly>& extents) {
  Poly result = 1;
  for (const Poly& e : extents) result = result * e;
  return result;
}

// What `d` copies with all its elements in order; invalid where it is no such copy.
TensorId copied(const Graph& g, const Definition& d) {
  if (d.combine != Combine::set || !d.guard.empty() || !d.position.empty() ||
      !d.body.is(Kind::read))
    return {};
  const Tensor &to = g[d.target], &from = g[d.body->tensor];
  if (from.role != Role::interior || from.storage != to.storage || from.split ||
      !g.same(product(from.extents), product(to.extents)))
    return {};
  std::vector<Expr> own;
  for (IndexId i : d.free) own.push_back(index_value(i));
  const Expr there = position(from.extents, d.body.args()), here = position(to.extents, own);
  return solve::proves(g, {}, equal(there, here)) ? d.body->tensor : TensorId{};
}

}  // namespace

Graph reshape_outputs(Graph g) {
  const Uses uses(g);
  const Needs needs(g);
  std::set<TensorId> gone;
  for (Output& o : g.outputs) {
    const auto at = uses.definition(o.tensor);
    if (!at || !g[o.tensor].companion_of.valid() || !uses.readers(o.tensor).empty()) continue;
    const TensorId from = copied(g, g.definitions[*at]);
    const bool is_free = from.valid() && uses.definition(from) && !g.is_output(from) &&
                         uses.readers(from).size() == 1 && !needs.steps(from) &&
                         g.definitions[*uses.definition(from)].combine != Combine::logsumexp;
    if (!is_free) continue;
    gone.insert(o.tensor);
    std::swap(g[o.tensor].name, g[from].name);
    std::swap(g[o.tensor].companion_of, g[from].companion_of);
    std::swap(g[o.tensor].role, g[from].role);
    o.tensor = from;
  }
  std::erase_if(g.definitions, [&](const Definition& d) { return gone.count(d.target) > 0; });
  return g;
}

bool is_reshaped(const Graph& g, TensorId output) {
  const TensorId of = g[output].companion_of;
  const auto is_same = [&](const Poly& a, const Poly& b) { return g.same(a, b); };
  return of.valid() && g.is_output(output) &&
         !std::ranges::equal(g[output].extents, g[of].extents, is_same);
}

}  // namespace attn::plan
