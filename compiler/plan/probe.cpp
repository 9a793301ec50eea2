// Plans a probe: what forward leaves is read, the rest computed again.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compiler/ir/key.h"
#include "compiler/ir/recurrence.h"
#include "compiler/plan/function.h"
#include "compiler/plan/sets.h"
#include "compiler/plan/step_major.h"

namespace attn::plan {
namespace {

using namespace ir;

// Finds the shared tensors that both graphs compute by the same definitions, all the way from what
// is given. Where simplifying has made different definitions, tensors count as different.
class Same {
 public:
  explicit Same(const Shared& shared)
      : shared_(shared), g_(shared.later.graph), other_(shared.forward.graph) {
    if (!same_sizes()) return;
    for (TensorId t : g_.tensor_ids())
      if (is_argument(g_[t].role)) take(t);
    const std::vector<Recurrence> all = recurrences(g_);
    auto recurrence = all.begin();
    for (size_t k = 0; k < g_.definitions.size();) {
      const bool begins = recurrence != all.end() && recurrence->first == k;
      const size_t end = begins ? (recurrence++)->end() : k + 1;
      take_all(std::span(g_.definitions).subspan(k, end - k));
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
    if (const auto found = shared_.find(t)) take(t, *found);
  }

  void take(TensorId t, TensorId theirs) {
    if (g_[t].storage == other_[theirs].storage && g_[t].extents == other_[theirs].extents)
      same_[t] = theirs;
  }

  // Definitions that need each other are the same if they are where their targets are taken to be.
  void take_all(std::span<const Definition> definitions) {
    if (definitions.size() == 1 && !reads(definitions[0]).count(definitions[0].target)) {
      if (const Definition* theirs = counterpart(definitions[0]))
        take(definitions[0].target, theirs->target);
      return;
    }
    const std::map<TensorId, TensorId> before = same_;
    for (const Definition& d : definitions) take(d.target);
    const bool same = std::ranges::all_of(definitions, [&](const Definition& d) {
      const auto found = shared_.find(d.target);
      const Definition* theirs = found ? other_.definition_of(*found) : nullptr;
      return theirs && same_definition(d, *theirs);
    });
    if (!same) same_ = before;
  }

  // What is not shared may have been made twice, by simplifying either graph.
  const Definition* counterpart(const Definition& d) const {
    if (const auto found = shared_.find(d.target)) {
      const Definition* theirs = other_.definition_of(*found);
      return theirs && same_definition(d, *theirs) ? theirs : nullptr;
    }
    const auto equal = std::ranges::find_if(
        other_.definitions, [&](const Definition& o) { return same_definition(d, o); });
    return equal == other_.definitions.end() ? nullptr : &*equal;
  }

  // Keys are of one graph. Sizes are the same in both, and `ours` reads tensors of the other here.
  bool same_definition(const Definition& ours, const Definition& theirs) const {
    if (ours.combine != theirs.combine || !has_all(same_, reads(ours))) return false;
    Definition translated = ours;
    map_exprs(translated, [&](const Expr& e) {
      return rewrite(e, [&](const Expr& x) {
        return x.is(Kind::read) ? read(*find(x->tensor), x.type(), x.args()) : x;
      });
    });
    return key(g_, translated) == key(other_, theirs);
  }

  const Shared& shared_;
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

Function plan_probe(const Graph& probe, size_t shared_tensors, const Plan& plan, const Costs& costs,
                    Diagnostics& diagnostics) {
  const Function& forward = plan.forward;
  const Shared shared(probe, plan.forward_graph, shared_tensors, {}, costs);
  const Same same(shared);
  Graph g = shared.later.graph;
  std::map<TensorId, TensorId> given;
  for (const Definition& d : g.definitions) {
    const auto found = same.find(d.target);
    if (!found) continue;
    const TensorId t = planned(shared.forward.graph, forward, *found);
    const Place place = forward.places[t.value];
    if (place == Place::result || place == Place::saved) given.emplace(d.target, t);
  }
  TensorId& result = g.outputs.at(0).tensor;
  if (given.count(result)) result = copy(g, result);
  Request request = cut_given(forward, std::move(g), given);
  request.kind = FunctionKind::probe;
  request.name = fmt::format("probe{}", plan.probes.size());
  std::ranges::stable_sort(request.saved, {}, [&](TensorId t) {
    return std::ranges::find(forward.saved, given.at(t)) - forward.saved.begin();
  });
  return plan_function(plan.model, std::move(request), costs, diagnostics);
}

}  // namespace attn::plan
