#include "compiler/plan/step_major.h"

#include <algorithm>

#include "compiler/ir/recurrence.h"

namespace attn::plan {

using namespace ir;

namespace {

template <class T>
std::vector<T> first(std::vector<T> list, size_t k) {
  std::rotate(list.begin(), list.begin() + k, list.begin() + k + 1);
  return list;
}

struct Moved {
  TensorId steps;
  size_t dimension;
};

// h[b,t,n] = h.steps[t,b,n].
Definition copy_of(Graph& g, const Definition& from, const Moved& moved) {
  Definition d{.target = from.target, .where = from.where};
  std::vector<Expr> at;
  for (IndexId i : from.free) {
    const Index index = g[i];
    d.free.push_back(g.new_index(index.name, index.extent));
    at.push_back(index_value(d.free.back()));
  }
  d.body = g.read(moved.steps, first(at, moved.dimension));
  return d;
}

}  // namespace

StepDimensions steps_behind_others(const Graph& g) {
  StepDimensions result;
  for (const Recurrence& r : recurrences(g))
    for (size_t k = r.first; k < r.end(); ++k)
      if (const size_t step = r.step[k - r.first])
        result.emplace(g[g.definitions[k].target].name, step);
  return result;
}

Graph step_major(Graph g, const StepDimensions& dimensions) {
  std::map<TensorId, Moved> moved;
  for (const Definition& d : g.definitions) {
    auto found = dimensions.find(g[d.target].name);
    if (found == dimensions.end()) continue;
    Tensor t = g[d.target];
    t.name += ".steps";
    t.role = Role::interior;
    t.extents = first(t.extents, found->second);
    moved.emplace(d.target, Moved{g.new_tensor(t), found->second});
  }
  if (moved.empty()) return g;
  auto there = [&](const Expr& e) {
    return rewrite(e, [&](const Expr& x) {
      if (!x.is(Kind::read)) return x;
      auto found = moved.find(x->tensor);
      if (found == moved.end()) return x;
      return g.read(found->second.steps, first(x.args(), found->second.dimension));
    });
  };
  std::vector<Definition> copies;
  for (Definition& d : g.definitions) {
    Conditions guard;
    for (const Expr& c : d.guard) guard.merge(conjuncts(there(c)));
    d.guard = guard;
    d.body = there(d.body);
    auto found = moved.find(d.target);
    if (found == moved.end()) continue;
    const bool is_output = std::any_of(g.outputs.begin(), g.outputs.end(),
                                       [&](const Output& o) { return o.tensor == d.target; });
    if (is_output) copies.push_back(copy_of(g, d, found->second));
    d.target = found->second.steps;
    d.free = first(d.free, found->second.dimension);
  }
  g.definitions.insert(g.definitions.end(), copies.begin(), copies.end());
  return g;
}

}  // namespace attn::plan
