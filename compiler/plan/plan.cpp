#include "compiler/plan/plan.h"

#include <algorithm>

#include "compiler/plan/function.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/step_major.h"
#include "compiler/plan/verify.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {
namespace {

using namespace ir;

// The gradient graph as backward computes it: tensors that forward leaves become inputs.
struct Backward {
  Graph graph;
  std::vector<TensorId> forwarded, saved;  // ids of the gradient graph
  std::vector<TensorId> saved_by_forward;  // what forward calls those that are saved
};

Backward cut_saved(const Shared& shared, const Function& forward) {
  const Graph& gradient = shared.later.graph;
  Backward b{gradient, {}, {}, {}};
  // What is unmaterialised for forward would be too large to keep; it is computed again.
  const solve::Unmaterialised unmaterialised(forward.graph);
  std::map<TensorId, TensorId> given, of_forward;
  std::vector<Definition> kept;
  for (const Definition& d : gradient.definitions) {
    const auto same = shared.find(d.target);
    if (!same || !shared.forward.graph.definition_of(*same)) {
      kept.push_back(d);
      continue;
    }
    const TensorId in_forward = planned(shared.forward.graph, forward, *same);
    const Place place = forward.places[in_forward.value];
    const bool gradient_output = std::any_of(gradient.outputs.begin(), gradient.outputs.end(),
                                             [&](const Output& o) { return o.tensor == d.target; });
    const bool kept_by_forward =
        place == Place::result || (place == Place::workspace && !unmaterialised(in_forward));
    if (!kept_by_forward || gradient_output) {
      kept.push_back(d);
      continue;
    }
    b.graph[d.target].role = Role::input;
    b.graph[d.target].split = forward.graph[in_forward].split;
    given.emplace(d.target, in_forward);
  }
  b.graph.definitions = std::move(kept);
  b.graph = drop_unused(b.graph);
  std::set<TensorId> used;
  for (const Definition& d : b.graph.definitions) used.merge(reads(d));
  for (const auto& [t, in_forward] : given) {
    if (!used.count(t)) {
      b.graph[t].role = Role::interior;
      continue;
    }
    const bool is_output = forward.places[in_forward.value] == Place::result;
    (is_output ? b.forwarded : b.saved).push_back(t);
    if (!is_output) b.saved_by_forward.push_back(in_forward);
  }
  return b;
}

// What the gradient reads of forward, where it reads what forward keeps in any case.
std::set<TensorId> wanted_by(const Shared& shared, const std::vector<TensorId>& kept_maps) {
  std::set<TensorId> kept, wanted;
  for (TensorId t : kept_maps) {
    const auto steps = shared.forward.steps.find(t);
    kept.insert(steps == shared.forward.steps.end() ? t : steps->second);
  }
  Graph g = shared.later.graph;
  std::erase_if(g.definitions, [&](const Definition& d) {
    const auto same = shared.find(d.target);
    const bool given = same && kept.count(*same);
    if (given) g[d.target].role = Role::input;
    return given;
  });
  for (const Definition& d : drop_unused(g).definitions)
    for (TensorId t : reads(d))
      if (const auto same = shared.find(t)) wanted.insert(*same);
  return wanted;
}

}  // namespace

Plan make_plan(const Graph& forward, const Gradient* gradient, const Costs& costs,
               Diagnostics& diagnostics) {
  Plan plan{.model = forward.name, .forward_graph = forward};
  if (!gradient) {
    plan.forward = plan_function(forward.name, FunctionKind::forward, "forward",
                                 step_major(forward, steps_after_others(forward)).graph, {}, {}, {},
                                 costs, diagnostics);
    return plan;
  }
  plan.gradient_graph = gradient->graph;
  const Shared shared(gradient->graph, forward, gradient->shared);
  plan.forward = plan_function(forward.name, FunctionKind::forward, "forward", shared.forward.graph,
                               {}, {}, wanted_by(shared, gradient->kept), costs, diagnostics);
  Backward b = cut_saved(shared, plan.forward);
  plan.backward = plan_function(forward.name, FunctionKind::backward, "backward",
                                std::move(b.graph), b.forwarded, b.saved, {}, costs, diagnostics);
  // What backward wants saved moves out of forward's workspace.
  Function& f = plan.forward;
  for (TensorId t : b.saved_by_forward) {
    f.places[t.value] = Place::saved;
    f.saved.push_back(t);
  }
  f.workspace = assign_slots(f);
  verify(f);
  verify(plan);
  return plan;
}

TensorId planned(const Graph& from, const Function& forward, TensorId t) {
  for (size_t k = 0; k < from.outputs.size(); ++k)
    if (from.outputs[k].tensor == t) return forward.graph.outputs[k].tensor;
  return t;
}

std::vector<TensorId> kept_maps(const Graph& forward, const Costs& costs) {
  const solve::Unmaterialised unmaterialised(forward);
  Graph g = forward;
  std::vector<TensorId> result;
  for (Segment& s : segments_of(g)) {
    std::map<TensorId, TensorId> wholes;
    for (const Slice& slice : s.slices) wholes.emplace(slice.tensor, slice.whole);
    const std::set<TensorId> inlined = choose_inlined(graph_of(g, s), costs);
    for (const Definition& d : s.definitions) {
      if (d.combine != Combine::set || inlined.count(d.target)) continue;
      // A tensor of a recurrence is stored as a whole, however large it is.
      if (auto slice = wholes.find(d.target); slice != wholes.end())
        result.push_back(slice->second);
      else if (!unmaterialised(d.target))
        result.push_back(d.target);
    }
  }
  return result;
}

Function plan_derivative(FunctionKind kind, const Graph& g, const Costs& costs,
                         Diagnostics& diagnostics) {
  return plan_function(g.name, kind, std::string(name_of(kind)),
                       step_major(g, steps_after_others(g)).graph, {}, {}, {}, costs, diagnostics);
}

std::string_view name_of(FunctionKind kind) {
  constexpr std::string_view names[] = {"forward", "backward", "jvp", "hvp", "probe", "update"};
  return names[static_cast<size_t>(kind)];
}

std::vector<Function*> functions(Plan& plan) {
  std::vector<Function*> result{&plan.forward};
  for (auto* f : {&plan.backward, &plan.jvp, &plan.hvp})
    if (*f) result.push_back(&**f);
  for (Function& f : plan.probes) result.push_back(&f);
  return result;
}

std::vector<const Function*> functions(const Plan& plan) {
  const std::vector<Function*> all = functions(const_cast<Plan&>(plan));
  return {all.begin(), all.end()};
}

}  // namespace attn::plan
