#include "compiler/plan/plan.h"

#include <algorithm>

#include "compiler/plan/function.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/step_major.h"
#include "compiler/plan/verify.h"
#include "compiler/solve/wide.h"

namespace attn::plan {
namespace {

using namespace ir;

// The gradient graph as backward computes it: tensors that forward leaves behind become inputs.
struct Backward {
  Graph graph;
  std::vector<TensorId> forwarded, saved;  // ids of the gradient graph
};

// The gradient has the tensors of the graph that forward computes by their names; those that
// planning forward has added have names that may be others' in the gradient.
Backward cut_saved(const Graph& gradient, const Graph& computed, const Function& forward) {
  Backward b{gradient, {}, {}};
  // What is wide for forward would be too large to keep; it is computed again.
  const solve::Wide wide(forward.graph);
  std::set<std::string> outputs;
  for (const Output& o : forward.graph.outputs) outputs.insert(forward.graph[o.tensor].name);
  std::set<TensorId> given;
  std::vector<Definition> kept;
  for (const Definition& d : gradient.definitions) {
    const Tensor& t = gradient[d.target];
    const auto in_forward = forward.graph.find(t.name);
    if (!in_forward || !computed.find(t.name)) {
      kept.push_back(d);
      continue;
    }
    const Place place = forward.places[in_forward->value];
    bool output = outputs.count(t.name) > 0;
    bool gradient_output = std::any_of(gradient.outputs.begin(), gradient.outputs.end(),
                                       [&](const Output& o) { return o.tensor == d.target; });
    bool kept_by_forward = output || (place == Place::workspace && !wide(*in_forward));
    if (!kept_by_forward || gradient_output) {
      kept.push_back(d);
      continue;
    }
    b.graph[d.target].role = Role::input;
    b.graph[d.target].split = forward.graph[*in_forward].split;
    given.insert(d.target);
  }
  b.graph.definitions = std::move(kept);
  b.graph = drop_unused(b.graph);
  std::set<TensorId> used;
  for (const Definition& d : b.graph.definitions) used.merge(reads(d));
  for (TensorId t : given) {
    if (!used.count(t)) continue;
    (outputs.count(gradient[t].name) ? b.forwarded : b.saved).push_back(t);
  }
  return b;
}

// What the gradient reads of forward, where it reads what forward keeps in any case.
std::set<std::string> wanted_by(const Graph& gradient, const Graph& forward) {
  std::set<std::string> kept, wanted;
  for (TensorId t : kept_maps(forward)) kept.insert(forward[t].name);
  Graph g = gradient;
  std::erase_if(g.definitions, [&](const Definition& d) {
    const bool given = kept.count(g[d.target].name) > 0;
    if (given) g[d.target].role = Role::input;
    return given;
  });
  for (const Definition& d : drop_unused(g).definitions)
    for (TensorId t : reads(d)) wanted.insert(g[t].name);
  return wanted;
}

}  // namespace

Plan make_plan(const Graph& forward, const Graph* gradient, Diagnostics& diagnostics) {
  Plan plan{.model = forward.name, .forward_graph = forward};
  StepDimensions dimensions = steps_behind_others(forward);
  const Graph stepped = step_major(forward, dimensions);
  if (!gradient) {
    plan.forward = plan_function(forward.name, FunctionKind::forward, "forward", stepped, {}, {},
                                 {}, diagnostics);
    return plan;
  }
  plan.gradient_graph = *gradient;
  dimensions.merge(steps_behind_others(*gradient));
  const Graph derived = step_major(*gradient, dimensions);
  plan.forward = plan_function(forward.name, FunctionKind::forward, "forward", stepped, {}, {},
                               wanted_by(derived, stepped), diagnostics);
  Backward b = cut_saved(derived, stepped, plan.forward);
  plan.backward = plan_function(forward.name, FunctionKind::backward, "backward",
                                std::move(b.graph), b.forwarded, b.saved, {}, diagnostics);
  // What backward wants saved moves out of forward's workspace.
  Function& f = plan.forward;
  for (TensorId t : b.saved) {
    TensorId in_forward = *f.graph.find(derived[t].name);
    f.places[in_forward.value] = Place::saved;
    f.saved.push_back(in_forward);
  }
  f.workspace = assign_slots(f);
  verify(f);
  verify(plan);
  return plan;
}

std::vector<TensorId> kept_maps(const Graph& forward) {
  const solve::Wide wide(forward);
  Graph g = forward;
  std::vector<TensorId> result;
  for (Segment& s : segments_of(g)) {
    std::map<TensorId, TensorId> wholes;
    for (const Slice& slice : s.slices) wholes.emplace(slice.tensor, slice.whole);
    g.definitions = s.definitions;
    g.outputs = s.outputs;
    const std::set<TensorId> inlined = choose_inlined(g);
    for (const Definition& d : s.definitions) {
      if (d.combine != Combine::set || inlined.count(d.target)) continue;
      // Of a recurrence whole tensors are stored however wide they are.
      if (auto slice = wholes.find(d.target); slice != wholes.end())
        result.push_back(slice->second);
      else if (!wide(d.target))
        result.push_back(d.target);
    }
  }
  return result;
}

Function plan_derivative(FunctionKind kind, const Graph& g, Diagnostics& diagnostics) {
  return plan_function(g.name, kind, std::string(name_of(kind)),
                       step_major(g, steps_behind_others(g)), {}, {}, {}, diagnostics);
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
