#include "compiler/plan/plan.h"

#include <algorithm>

#include "compiler/plan/function.h"
#include "compiler/plan/kept.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/step_major.h"
#include "compiler/plan/verify.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {
namespace {

using namespace ir;

// What the gradient reads of forward, where it reads what forward keeps in any case; all but what
// rolls in both.
std::set<TensorId> wanted_by(const Shared& shared, const std::vector<TensorId>& kept_maps,
                             const std::set<TensorId>& rolled) {
  std::set<TensorId> kept, wanted, again;
  const auto planned = [&](TensorId t) {
    const auto steps = shared.forward.steps.find(t);
    return steps == shared.forward.steps.end() ? t : steps->second;
  };
  for (TensorId t : kept_maps) kept.insert(planned(t));
  for (TensorId t : rolled) again.insert(planned(t));
  Graph g = shared.later.graph;
  std::erase_if(g.definitions, [&](const Definition& d) {
    const auto same = shared.find(d.target);
    const bool given = same && kept.count(*same) && !again.count(*same);
    if (given) g[d.target].role = Role::input;
    return given;
  });
  for (const Definition& d : drop_unused(g).definitions)
    for (TensorId t : reads(d))
      if (const auto same = shared.find(t); same && !again.count(*same)) wanted.insert(*same);
  return wanted;
}

}  // namespace

Plan make_plan(const Graph& forward, const Gradient* gradient, const Costs& costs,
               Diagnostics& diagnostics) {
  Plan plan{.model = forward.name, .forward_graph = forward};
  if (!gradient) {
    plan.forward = plan_function(
        forward.name,
        {.graph =
             step_major(forward, steps_after_others(forward, joined_in(forward, costs))).graph},
        costs, diagnostics);
    return plan;
  }
  plan.gradient_graph = gradient->graph;
  const Rolling rolling = roll_twice(forward, gradient->graph, gradient->shared, costs);
  const Shared shared(gradient->graph, forward, gradient->shared, rolling.joined, costs);
  plan.forward = plan_function(
      forward.name,
      {.graph = shared.forward.graph, .wanted = wanted_by(shared, gradient->kept, rolling.rolled)},
      costs, diagnostics);
  Function& f = plan.forward;
  const auto request_of = [&](const std::map<TensorId, TensorId>& kept) {
    Request request = cut_given(f, shared.later.graph, kept);
    request.kind = FunctionKind::backward;
    request.name = "backward";
    return request;
  };
  std::map<TensorId, TensorId> kept = kept_by(f, shared, costs);
  Diagnostics of_backward;
  plan.backward = plan_function(forward.name, request_of(kept), costs, of_backward);
  const std::set<TensorId> stored = stored_again(f, *plan.backward, shared, costs);
  if (!stored.empty()) {
    kept = kept_by(f, shared, costs, stored);
    of_backward = {};
    Request request = request_of(kept);
    request.large = stored;
    plan.backward = plan_function(forward.name, std::move(request), costs, of_backward);
  }
  diagnostics.add(of_backward);
  // What backward wants saved moves out of forward's workspace.
  for (TensorId t : plan.backward->saved) {
    f.places[kept.at(t).value] = Place::saved;
    f.saved.push_back(kept.at(t));
  }
  f.lives = lives_of(f);
  f.unsaved_lives = unsaved_lives_of(f);
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
      const auto slice = wholes.find(d.target);
      const TensorId whole = slice == wholes.end() ? d.target : slice->second;
      if (!unmaterialised(whole)) result.push_back(whole);
    }
  }
  return result;
}

Function plan_derivative(FunctionKind kind, const Graph& g, const Costs& costs,
                         Diagnostics& diagnostics) {
  return plan_function(g.name,
                       {.kind = kind,
                        .name = std::string(name_of(kind)),
                        .graph = step_major(g, steps_after_others(g, joined_in(g, costs))).graph},
                       costs, diagnostics);
}

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::highest:
      return "highest";
    case Precision::high:
      return "high";
    case Precision::medium:
      return "medium";
  }
  throw InternalError("a precision without a name");
}

std::string_view name_of(FunctionKind kind) {
  constexpr std::string_view names[] = {"forward", "backward", "jvp", "hvp", "probe", "update"};
  return names[static_cast<size_t>(kind)];
}

namespace {

template <class F, class P>
std::vector<F*> all_functions(P& plan) {
  std::vector<F*> result{&plan.forward};
  for (auto* f : {&plan.backward, &plan.jvp, &plan.hvp})
    if (*f) result.push_back(&**f);
  for (F& f : plan.probes) result.push_back(&f);
  return result;
}

}  // namespace

std::vector<Function*> functions(Plan& plan) { return all_functions<Function>(plan); }

std::vector<const Function*> functions(const Plan& plan) {
  return all_functions<const Function>(plan);
}

}  // namespace attn::plan
