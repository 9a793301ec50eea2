#include "compiler/plan/summed_steps.h"

#include <algorithm>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/uses.h"
#include "compiler/plan/estimate.h"
#include "compiler/plan/members.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/preceding.h"

namespace attn::plan {

using namespace ir;

namespace {

class StepSums {
 public:
  StepSums(const Graph& g, const Recurrence& r, const Rolling& rolling,
           const std::set<TensorId>& wanted, const Costs& costs)
      : g_(g),
        rolling_(rolling),
        wanted_(wanted),
        costs_(costs),
        recurrences_(g),
        uses_(g),
        count_(steps_of(g, r)),
        last_(r.down ? Poly() : count_ - 1) {
    const Members members = members_of(g, r, rolling);
    for (size_t k = members.first; k < members.end(); ++k)
      if (const auto step = members.dimension[k - members.first]) member_.emplace(target(k), *step);
    end_ = members.end();
  }

  // Of an unknown number of steps there may be none, which would leave a sum that is not written.
  void run() {
    const auto count = g_.known(count_);
    if (!count || *count < 2) return;
    step_ = member_;
    for (size_t k = end_; k < g_.definitions.size(); ++k) classify(g_.definitions[k]);
    while (drop()) {
    }
    if (find_needed()) return;
    joined.clear();
    summed.clear();
    needed.clear();
  }

  // Whether a step of it is.
  bool is_large(TensorId t) const {
    const double count = std::max(estimate(g_, count_), 1.0);
    return estimate(g_, elements(g_, t)) >= costs_.least_rolled * count;
  }

  // Of the recurrence, what has to be in memory, but not all steps of it.
  std::set<TensorId> rolled() const {
    std::set<TensorId> result;
    if (const auto count = g_.known(count_); !count || *count <= kRolled) return result;
    const std::set<TensorId> one_back = carried(g_);
    for (const auto& [t, step] : member_) {
      const bool is_needed =
          one_back.count(t) || std::ranges::any_of(uses_.readers(t), [&](size_t k) {
            return reads_last(g_.definitions[k], t);
          });
      if (is_needed && is_large(t) && ends(t)) result.insert(t);
    }
    return result;
  }

  // All that is computed after the recurrence, at each of its steps.
  std::set<TensorId> following() const {
    std::set<TensorId> result;
    for (const auto& [t, step] : member_)
      if (rolling_.joined.count(t)) result.insert(t);
    for (const auto& [t, step] : joined) result.insert(t);
    for (const auto& [t, step] : summed) result.insert(t);
    return result;
  }

  std::map<TensorId, size_t> joined;   // what is computed of a step for sums alone
  std::map<TensorId, IndexId> summed;  // the index that is the step
  std::set<TensorId> needed;           // what these need, of what stands after the recurrence

 private:
  TensorId target(size_t k) const { return g_.definitions[k].target; }
  bool is_taken(TensorId t) const { return joined.count(t) || summed.count(t); }
  bool is_stored(TensorId t) const { return g_.is_output(t) || wanted_.count(t) > 0; }

  // Whether only the steps need it, if these sums are taken at them, and what reads the last step.
  bool ends(TensorId t) const {
    return !is_stored(t) && std::ranges::all_of(uses_.readers(t), [&](size_t k) {
      return member_.count(target(k)) || is_taken(target(k)) || reads_last(g_.definitions[k], t);
    });
  }

  bool reads_last(const Definition& d, TensorId t) const {
    return recurrences_.steps(t) && !recurrences_.steps(d.target) &&
           std::ranges::all_of(read_sites(d, {t}), [&](const Expr& site) {
             const std::optional<Poly> at = as_size(site.args()[member_.at(t)]);
             return at && g_.same(*at, last_);
           });
  }

  void classify(const Definition& d) {
    const std::set<TensorId> read = reads(d);
    if (std::ranges::none_of(read,
                             [&](TensorId t) { return step_.count(t) || dependent_.count(t); }))
      return;
    dependent_.insert(d.target);
    if (!d.position.empty() || d.combine == Combine::logsumexp || recurrences_.steps(d.target) ||
        g_.updated_by(d.target).valid())
      return;
    for (size_t k = 0; k < d.free.size(); ++k) {
      if (!reads_at(d, d.free[k])) continue;
      dependent_.erase(d.target);
      step_.emplace(d.target, k);
      joined.emplace(d.target, k);
      return;
    }
    for (IndexId i : d.reduced)
      if (is_light(d, i) && reads_at(d, i)) {
        summed.emplace(d.target, i);
        return;
      }
  }

  // Whether all that depends on the recurrence is read at this step.
  bool reads_at(const Definition& d, IndexId step) const {
    return g_.same(g_[step].extent, count_) &&
           std::ranges::all_of(read_sites(d), [&](const Expr& site) {
             const auto at = step_.find(site->tensor);
             return at == step_.end() ? dependent_.count(site->tensor) == 0
                                      : site.args()[at->second] == index_value(step);
           });
  }

  // Whether it does not count that each step reads and writes what those before it have left, in 32
  // bits at least: it adds many terms to each element, or reads as many elements of another tensor.
  bool is_light(const Definition& d, IndexId step) const {
    const Storage storage = g_[d.target].storage;
    if (d.combine != Combine::sum || (storage != Storage::f32 && storage != Storage::f64))
      return false;
    double terms = 1;
    for (IndexId i : d.reduced)
      if (const auto n = g_.known(g_[i].extent); n && i != step) terms *= static_cast<double>(*n);
    return terms >= costs_.least_summed || std::ranges::any_of(reads(d), [&](TensorId t) {
             return has_step_as_large(t, d.target);
           });
  }

  bool has_step_as_large(TensorId t, TensorId as) const {
    const auto step = step_.find(t);
    if (step == step_.end()) return false;
    std::vector<Poly> extents = g_[t].extents;
    extents.erase(extents.begin() + static_cast<long>(step->second));
    return std::ranges::all_of(g_[as].extents, [&](const Poly& extent) {
      const auto same =
          std::ranges::find_if(extents, [&](const Poly& other) { return g_.same(extent, other); });
      const bool found = same != extents.end();
      if (found) extents.erase(same);
      return found;
    });
  }

  // Drops what does not help, and what then cannot be; whether there was any.
  bool drop() {
    std::set<TensorId> useful;
    for (const auto& [t, step] : member_)
      if (is_large(t) && ends(t)) useful.insert(t);
    for (size_t k = end_; k < g_.definitions.size(); ++k) {
      const std::set<TensorId> read = reads(g_.definitions[k]);
      const bool is_lost = std::ranges::any_of(read, [&](TensorId t) {
        return step_.count(t) && !member_.count(t) && !joined.count(t);
      });
      const bool helps = std::ranges::any_of(read, [&](TensorId t) { return useful.count(t) > 0; });
      const TensorId t = target(k);
      if (is_taken(t) && (is_lost || !helps || (joined.count(t) && !ends(t))))
        return joined.erase(t) + summed.erase(t) > 0;
      if (is_taken(t)) useful.insert(t);
    }
    return false;
  }

  // What all these need can stand before the recurrence, if it is no part of another.
  bool find_needed() {
    std::set<TensorId> open;
    for (size_t k = end_; k < g_.definitions.size(); ++k)
      if (is_taken(target(k))) open.merge(reads(g_.definitions[k]));
    while (!open.empty()) {
      const TensorId t = *open.begin();
      open.erase(open.begin());
      const auto k = uses_.definition(t);
      if (!k || *k < end_ || is_taken(t) || !needed.insert(t).second) continue;
      if (recurrences_.steps(t) || rolling_.joined.count(t) || g_.updated_by(t).valid())
        return false;
      open.merge(reads(g_.definitions[*k]));
    }
    return true;
  }

  const Graph& g_;
  size_t end_ = 0;  // of the recurrence, and of what is joined to it
  const Rolling& rolling_;
  const std::set<TensorId>& wanted_;
  const Costs& costs_;
  const Needs recurrences_;
  const Uses uses_;
  const Poly count_, last_;  // steps, and the last of them
  // Of what is computed at each step, and of what could be: which of its free indices is the step.
  std::map<TensorId, size_t> member_, step_;
  std::set<TensorId> dependent_;  // what needs all steps
};

}  // namespace

void sum_in_loops(Graph& g, const std::set<TensorId>& wanted, const Costs& costs,
                  Rolling& rolling) {
  each_recurrence(g, [&](const Recurrence& r) {
    StepSums sums(g, r, rolling, wanted, costs);
    sums.run();
    rolling.rolled.merge(sums.rolled());
    if (sums.summed.empty()) return;
    const std::set<TensorId> following = sums.following();
    rolling.joined.merge(sums.joined);
    rolling.summed.merge(sums.summed);
    const Recurrence moved = reorder(g, r, sums.needed, following);
    rolling.before.merge(join_preceding(g, moved, rolling, [&](const Definition& d) {
      return (d.combine == Combine::set || d.combine == Combine::sum) && !wanted.count(d.target) &&
             !rolling.joined.count(d.target) && !rolling.before.count(d.target) &&
             sums.is_large(d.target);
    }));
  });
}

}  // namespace attn::plan
