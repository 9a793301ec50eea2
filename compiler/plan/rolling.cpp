#include "compiler/plan/rolling.h"

#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/members.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/segments.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {

using namespace ir;

namespace {

// Which of a definition's dimensions may be the step: kernels write what is dense.
enum class Layout { step_by_step, any };

// A recurrence and what is joined to it, which stand side by side.
using Group = std::set<TensorId>;

// Finds what one recurrence can compute at each of its steps.
class Joiner {
 public:
  // `others`: recurrences for which that is known.
  Joiner(const Graph& g, const Recurrence& r, const std::vector<Group>& others,
         const std::set<TensorId>& wanted, const Costs& costs, Layout layout)
      : g_(g),
        others_(others),
        first_(r.first),
        end_(r.end()),
        wanted_(wanted),
        costs_(costs),
        layout_(layout),
        recurrences_(g),
        count_(steps_of(g, r)) {
    for (size_t k = first_; k < end_; ++k)
      step_.emplace(g.definitions[k].target, r.step[k - first_]);
    for (size_t k = end_; k < g.definitions.size(); ++k) {
      const Definition& d = g.definitions[k];
      if (needs_any(d, dependent_, step_)) dependent_.insert(d.target);
      if (g.updated_by(d.target).valid()) updates_.insert(d.target);
    }
  }

  void run() {
    // All that there are may be no more than are kept.
    if (const auto count = g_.known(count_); count && *count <= kRolled) return;
    for (size_t k = first_; k < end_; ++k) {
      const TensorId whole = g_.definitions[k].target;
      if (is_stored(whole) || step_elements(whole) < costs_.least_rolled) continue;
      std::map<TensorId, size_t> more;
      if (!join_readers(whole, whole, more)) continue;
      joined.merge(more);
      rolled.insert(whole);
    }
    find_before();
    // Of another recurrence all is needed with a part of it; a state changes in its turn.
    const auto stays = [&](TensorId t) { return dependent_.count(t) || updates_.count(t); };
    if (std::ranges::none_of(before, stays)) return;
    joined.clear();
    rolled.clear();
  }

  Group group() const {
    Group result;
    for (const auto* list : {&step_, &joined})
      for (const auto& [t, step] : *list) result.insert(t);
    return result;
  }

  std::map<TensorId, size_t> joined;
  std::set<TensorId> rolled;
  std::set<TensorId> before;  // what `joined` needs, of what stands after the recurrence

 private:
  template <class A, class B>
  static bool needs_any(const Definition& d, const A& a, const B& b) {
    const std::set<TensorId> read = reads(d);
    return std::ranges::any_of(read, [&](TensorId t) { return a.count(t) || b.count(t); });
  }

  const Group* other_with(TensorId t) const {
    const auto of = std::ranges::find_if(others_, [&](const Group& g) { return g.count(t) > 0; });
    return of == others_.end() ? nullptr : &*of;
  }

  void find_before() {
    std::set<TensorId> open;
    for (size_t k = end_; k < g_.definitions.size(); ++k)
      if (joined.count(g_.definitions[k].target)) open.merge(reads(g_.definitions[k]));
    while (!open.empty()) {
      const TensorId t = *open.begin();
      open.erase(open.begin());
      const Definition* d = g_.definition_of(t);
      if (!d || step_.count(t) || joined.count(t) || !before.insert(t).second) continue;
      open.merge(reads(*d));
      if (const Group* other = other_with(t)) open.insert(other->begin(), other->end());
    }
  }

  bool is_stored(TensorId t) const { return g_.is_output(t) || wanted_.count(t) > 0; }
  double elements_of(TensorId t) const { return estimate(g_, elements(g_, t)); }
  double step_elements(TensorId whole) const {
    return elements_of(whole) / std::max(estimate(g_, count_), 1.0);
  }

  // Adds to `more` all that reads `t` from outside, and what reads that where it is as large as the
  // tensor that is to be rolled.
  bool join_readers(TensorId t, TensorId whole, std::map<TensorId, size_t>& more) const {
    for (size_t k = end_; k < g_.definitions.size(); ++k) {
      const Definition& d = g_.definitions[k];
      if (!reads(d, t) || joined.count(d.target) || more.count(d.target)) continue;
      const auto step = step_at(d, more);
      if (!step) return false;
      more.emplace(d.target, *step);
      if (kLeastShare * elements_of(d.target) <= elements_of(whole)) continue;
      if (is_stored(d.target) || !join_readers(d.target, whole, more)) return false;
    }
    return true;
  }

  // The free index of `d` at which it reads all that the recurrence computes, or nothing.
  std::optional<size_t> step_at(const Definition& d, const std::map<TensorId, size_t>& more) const {
    if (!d.position.empty() || d.combine == Combine::logsumexp || recurrences_.steps(d.target) ||
        g_.updated_by(d.target).valid() || other_with(d.target))
      return std::nullopt;
    const size_t end = layout_ == Layout::any ? d.free.size() : std::min<size_t>(d.free.size(), 1);
    for (size_t k = 0; k < end; ++k)
      if (g_.same(g_[d.free[k]].extent, count_) && reads_at(d, d.free[k], more)) return k;
    return std::nullopt;
  }

  bool reads_at(const Definition& d, IndexId step, const std::map<TensorId, size_t>& more) const {
    const Expr here = index_value(step);
    return std::ranges::all_of(read_sites(d), [&](const Expr& site) {
      for (const auto* list : {&step_, &joined, &more})
        if (const auto at = list->find(site->tensor); at != list->end())
          return site.args()[at->second] == here;
      // With a factor that is the same at all steps, one product over all of them is faster.
      const bool is_same = !uses(site, step) &&
                           std::ranges::any_of(d.reduced, [&](IndexId i) { return uses(site, i); });
      return !is_same && !dependent_.count(site->tensor);
    });
  }

  // What is kept instead of a tensor has at most one of so many parts of its elements.
  static constexpr double kLeastShare = 4;

  const Graph& g_;
  const std::vector<Group>& others_;
  const size_t first_, end_;
  const std::set<TensorId>& wanted_;
  const Costs& costs_;
  const Layout layout_;
  const Needs recurrences_;
  const Poly count_;
  std::map<TensorId, size_t> step_;
  // Of what stands after the recurrence: what depends on it, and what a state becomes.
  std::set<TensorId> dependent_, updates_;
};

Rolling rolled(Graph& g, const std::set<TensorId>& wanted, const Costs& costs, Layout layout) {
  Rolling result;
  std::vector<Group> groups;
  each_recurrence(g, [&](const Recurrence& r) {
    Joiner joiner(g, r, groups, wanted, costs, layout);
    joiner.run();
    if (joiner.rolled.empty()) return;
    Group following;
    for (const auto& [t, step] : joiner.joined) following.insert(t);
    reorder(g, r, joiner.before, following);
    groups.push_back(joiner.group());
    result.joined.merge(joiner.joined);
    result.rolled.merge(joiner.rolled);
  });
  return result;
}

}  // namespace

Rolling roll(Graph& g, const std::set<TensorId>& wanted, const Costs& costs) {
  return rolled(g, wanted, costs, Layout::step_by_step);
}

std::map<TensorId, size_t> joined_in(Graph g, const Costs& costs) {
  return rolled(g, {}, costs, Layout::any).joined;
}

Rolling roll_twice(const Graph& forward, const Graph& gradient, size_t shared, const Costs& costs) {
  const solve::Unmaterialised unmaterialised(forward);
  Graph copy = forward;
  std::set<TensorId> open = rolled(copy, {}, costs, Layout::any).rolled;
  for (;;) {
    Graph g = gradient;
    // Forward keeps the others that it has in memory.
    std::erase_if(g.definitions, [&](const Definition& d) {
      const bool is_given = static_cast<size_t>(d.target.value) < shared && !open.count(d.target) &&
                            !unmaterialised(d.target);
      if (is_given) g[d.target].role = Role::input;
      return is_given;
    });
    g = drop_unused(g);
    Rolling again = rolled(g, {}, costs, Layout::any);
    const size_t before = open.size();
    std::erase_if(open, [&](TensorId t) { return g.definition_of(t) && !again.rolled.count(t); });
    if (open.size() < before) continue;
    again.rolled = std::move(open);
    return again;
  }
}

}  // namespace attn::plan
