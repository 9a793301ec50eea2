#include "compiler/plan/preceding.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/uses.h"
#include "compiler/plan/members.h"

namespace attn::plan {

using namespace ir;

namespace {

class Preceding {
 public:
  Preceding(const Graph& g, const Recurrence& r, const Rolling& rolling)
      : g_(g), needs_(g), uses_(g), count_(steps_of(g, r)) {
    const Members members = members_of(g, r, rolling);
    first_ = members.first;
    for (size_t k = first_; k < members.end(); ++k)
      step_.emplace(g.definitions[k].target, members.step[k - first_]);
    for (size_t k = first_; k < r.first; ++k) there.insert(g.definitions[k].target);
  }

  // By tensor: which of its free indices is the step.
  std::map<TensorId, size_t> run(const std::function<bool(const Definition&)>& may_join) {
    std::map<TensorId, size_t> result;
    for (size_t k = first_; k-- > 0;) {
      const Definition& d = g_.definitions[k];
      if (!may_join(d)) continue;
      const std::optional<size_t> step = step_of(d);
      if (!step) continue;
      step_.emplace(d.target, d.free[*step]);
      result.emplace(d.target, *step);
      there.insert(d.target);
    }
    return result;
  }

  std::set<TensorId> there;  // what stands before the recurrence and is computed with its steps

 private:
  // The dimension by which all read it at their own step.
  std::optional<size_t> step_of(const Definition& d) const {
    if (needs_.steps(d.target) || g_.is_output(d.target) || !d.position.empty())
      return std::nullopt;
    std::optional<size_t> result;
    for (size_t reader : uses_.readers(d.target)) {
      for (const Expr& site : read_sites(g_.definitions[reader], {d.target})) {
        const std::optional<size_t> at = step_at(g_.definitions[reader], site);
        if (!at || (result && *result != *at)) return std::nullopt;
        result = at;
      }
    }
    const bool is_of_all = result && g_.same(g_[d.free[*result]].extent, count_);
    return is_of_all ? result : std::nullopt;
  }

  std::optional<size_t> step_at(const Definition& reader, const Expr& site) const {
    const auto step = step_.find(reader.target);
    if (step == step_.end()) return std::nullopt;
    const auto at = std::ranges::find(site.args(), index_value(step->second));
    if (at == site.args().end()) return std::nullopt;
    return static_cast<size_t>(at - site.args().begin());
  }

  const Graph& g_;
  size_t first_ = 0;
  const Needs needs_;
  const Uses uses_;
  const Poly count_;
  std::map<TensorId, IndexId> step_;  // of the recurrence, and of what is computed with it
};

}  // namespace

std::map<TensorId, size_t> join_preceding(Graph& g, const Recurrence& r, const Rolling& rolling,
                                          const std::function<bool(const Definition&)>& may_join) {
  Preceding preceding(g, r, rolling);
  std::map<TensorId, size_t> result = preceding.run(may_join);
  std::stable_partition(g.definitions.begin(), g.definitions.begin() + static_cast<long>(r.first),
                        [&](const Definition& d) { return !preceding.there.count(d.target); });
  return result;
}

std::map<TensorId, size_t> join_tiles(Graph& g, const Rolling& rolling,
                                      const solve::Unmaterialised& unmaterialised,
                                      const std::set<TensorId>& others) {
  std::map<TensorId, size_t> result;
  for (const Recurrence& r : recurrences(g))  // the places of later ones stay
    result.merge(join_preceding(g, r, rolling, [&](const Definition& d) {
      return unmaterialised(d.target) && !others.count(d.target);
    }));
  return result;
}

}  // namespace attn::plan
