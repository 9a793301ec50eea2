#include "compiler/plan/step_major.h"

#include <algorithm>

#include "compiler/ir/recurrence.h"
#include "compiler/plan/rolling.h"

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
  const std::vector<Expr> at = first(index_values(from.free), moved.dimension);
  return with_fresh_indices(g, {.target = from.target,
                                .free = from.free,
                                .body = g.read(moved.steps, at),
                                .where = from.where})
      .definition;
}

}  // namespace

StepDimensions steps_after_others(const Graph& g, const StepDimensions& joined) {
  StepDimensions result = joined;
  std::erase_if(result, [](const auto& of) { return of.second == 0; });
  for (const Recurrence& r : recurrences(g))
    for (size_t k = r.first; k < r.end(); ++k)
      if (const size_t step = r.step[k - r.first]) result.emplace(g.definitions[k].target, step);
  return result;
}

StepMajor step_major(Graph g, const StepDimensions& dimensions) {
  std::map<TensorId, Moved> moved;
  for (const Definition& d : g.definitions) {
    auto found = dimensions.find(d.target);
    if (found == dimensions.end()) continue;
    const size_t dimension = found->second;
    const Tensor& t = g[d.target];
    moved.emplace(
        d.target,
        Moved{g.new_part(d.target, ".steps", t.storage, first(t.extents, dimension)), dimension});
  }
  if (moved.empty()) return {std::move(g), {}};
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
    map_exprs(d, there);
    auto found = moved.find(d.target);
    if (found == moved.end()) continue;
    const bool is_output = g.is_output(d.target);
    if (is_output) copies.push_back(copy_of(g, d, found->second));
    d.target = found->second.steps;
    d.free = first(d.free, found->second.dimension);
  }
  g.definitions.insert(g.definitions.end(), copies.begin(), copies.end());
  StepMajor result{std::move(g), {}};
  for (const auto& [t, to] : moved) result.steps.emplace(t, to.steps);
  return result;
}

namespace {

// The dimensions of a graph, and those of the tensors that it shares with another.
StepDimensions with_shared(StepDimensions own, const StepDimensions& others, size_t shared) {
  for (const auto& [t, dimension] : others)
    if (static_cast<size_t>(t.value) < shared) own.emplace(t, dimension);
  return own;
}

}  // namespace

// Forward is planned before anything is known of what comes later.
Shared::Shared(const Graph& own, const Graph& of, size_t shared, const StepDimensions& joined,
               const target::Costs& costs)
    : later(step_major(own, with_shared(steps_after_others(own, joined),
                                        steps_after_others(of, joined_in(of, costs)), shared))),
      forward(step_major(of, steps_after_others(of, joined_in(of, costs)))),
      shared_(shared) {
  for (const auto& [t, steps] : later.steps) of_steps_.emplace(steps, t);
}

std::optional<TensorId> Shared::find(TensorId t) const {
  const auto stands_for = of_steps_.find(t);
  const TensorId original = stands_for == of_steps_.end() ? t : stands_for->second;
  if (static_cast<size_t>(original.value) >= shared_) return std::nullopt;
  if (stands_for == of_steps_.end()) return original;
  const auto steps = forward.steps.find(original);
  return steps == forward.steps.end() ? std::nullopt : std::optional(steps->second);
}

}  // namespace attn::plan
