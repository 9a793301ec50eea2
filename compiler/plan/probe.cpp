// Plans a probe: what forward has left behind is read, the rest computed again.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compiler/ir/recurrence.h"
#include "compiler/plan/function.h"
#include "compiler/plan/step_major.h"

namespace attn::plan {
namespace {

using namespace ir;

// Finds the tensors of a graph that another graph has under the same name and computes by the same
// definitions, all the way from what is given. Both were elaborated together, and then simplified
// each on its own; where that has made different definitions, the tensors count as different.
class Shared {
 public:
  Shared(const Graph& g, const Graph& other) : g_(g), other_(other) {
    if (!same_sizes()) return;
    for (size_t k = 0; k < g.tensors.size(); ++k)
      if (is_argument(g.tensors[k].role)) take({static_cast<int32_t>(k)});
    const std::vector<Recurrence> all = recurrences(g);
    auto recurrence = all.begin();
    for (size_t k = 0; k < g.definitions.size();) {
      const bool begins = recurrence != all.end() && recurrence->first == k;
      const size_t end = begins ? (recurrence++)->end() : k + 1;
      take_all(std::span(g.definitions).subspan(k, end - k));
      k = end;
    }
  }

  // The tensor of the other graph, where it is the same.
  std::optional<TensorId> find(TensorId t) const {
    const auto found = same_.find(t);
    return found == same_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  // Sizes have one number in both graphs then.
  bool same_sizes() const {
    return std::equal(g_.sizes.begin(), g_.sizes.end(), other_.sizes.begin(), other_.sizes.end(),
                      [](const Size& a, const Size& b) { return a.name == b.name; });
  }

  void take(TensorId t) {
    const auto found = other_.find(g_[t].name);
    if (!found) return;
    const Tensor &ours = g_[t], &theirs = other_[*found];
    if (ours.storage == theirs.storage && ours.extents == theirs.extents) same_[t] = *found;
  }

  // Definitions that need each other are the same if they are where their targets are taken to be.
  void take_all(std::span<const Definition> definitions) {
    const std::map<TensorId, TensorId> before = same_;
    if (definitions.size() > 1 || reads(definitions[0]).count(definitions[0].target))
      for (const Definition& d : definitions) take(d.target);
    const bool same = std::all_of(definitions.begin(), definitions.end(), [&](const Definition& d) {
      const auto found = other_.find(g_[d.target].name);
      const Definition* theirs = found ? other_.definition_of(*found) : nullptr;
      return theirs && same_definition(d, *theirs);
    });
    if (!same) same_ = before;
    if (same && definitions.size() == 1) take(definitions[0].target);
  }

  bool same_definition(const Definition& ours, const Definition& theirs) const {
    if (ours.combine != theirs.combine) return false;
    std::map<IndexId, Expr> renamed;
    auto rename = [&](const std::vector<IndexId>& from, const std::vector<IndexId>& to) {
      return std::equal(from.begin(), from.end(), to.begin(), to.end(), [&](IndexId a, IndexId b) {
        renamed[a] = index_value(b);
        return g_[a].extent == other_[b].extent;
      });
    };
    if (!rename(ours.free, theirs.free) || !rename(ours.reduced, theirs.reduced)) return false;
    for (TensorId t : reads(ours))
      if (!find(t)) return false;
    auto translated = [&](const Expr& e) {
      return rewrite(substitute(e, renamed), [&](const Expr& x) {
        return x.is(Kind::read) ? read(*find(x->tensor), x.type(), x.args()) : x;
      });
    };
    Conditions guard;
    for (const Expr& c : ours.guard) guard.merge(conjuncts(translated(c)));
    return guard == theirs.guard && translated(ours.body) == theirs.body;
  }

  const Graph &g_, &other_;
  std::map<TensorId, TensorId> same_;
};

// A tensor of its own with the values of another.
TensorId copy(Graph& g, TensorId of) {
  Tensor tensor = g[of];
  tensor.role = Role::output;
  tensor.split = false;
  const TensorId copied = g.new_tensor(tensor);
  g.definitions.push_back(copying(g, of, copied));
  return copied;
}

}  // namespace

std::string title(const Function& f) {
  return f.kind == FunctionKind::probe ? "probe " + f.graph.outputs.at(0).name : f.name;
}

Function plan_probe(const Graph& probe, const Plan& plan, Diagnostics& diagnostics) {
  const Function& forward = plan.forward;
  StepDimensions dimensions = steps_behind_others(plan.forward_graph);
  const Graph planned_from = step_major(plan.forward_graph, dimensions);
  dimensions.merge(steps_behind_others(probe));
  const Graph g = step_major(probe, dimensions);
  const Shared shared(g, planned_from);
  Graph rest = g;
  std::vector<TensorId> forwarded, saved;
  std::erase_if(rest.definitions, [&](const Definition& d) {
    const auto same = shared.find(d.target);
    const auto planned = forward.graph.find(g[d.target].name);
    if (!same || !planned) return false;
    const bool is_output = planned_from[*same].role == Role::output;
    if (!is_output && forward.places[planned->value] != Place::saved) return false;
    (is_output ? forwarded : saved).push_back(d.target);
    rest[d.target].role = Role::input;
    rest[d.target].split = forward.graph[*planned].split;
    return true;
  });
  TensorId& result = rest.outputs.at(0).tensor;
  if (rest[result].role == Role::input) result = copy(rest, result);
  rest = drop_unused(rest);
  std::set<TensorId> used;
  for (const Definition& d : rest.definitions) used.merge(reads(d));
  for (auto* left : {&forwarded, &saved})
    std::erase_if(*left, [&](TensorId t) { return !used.count(t); });
  return plan_function(plan.model, FunctionKind::probe, fmt::format("probe{}", plan.probes.size()),
                       std::move(rest), forwarded, saved, {}, diagnostics);
}

}  // namespace attn::plan
