#include "compiler/plan/tiled_steps.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/uses.h"

namespace attn::plan {

using namespace ir;

namespace {

class Tiled {
 public:
  Tiled(const Graph& g, const Recurrence& r, const solve::Unmaterialised& unmaterialised,
        const std::set<TensorId>& others)
      : g_(g),
        first_(r.first),
        unmaterialised_(unmaterialised),
        others_(others),
        needs_(g),
        uses_(g) {
    for (size_t k = r.first; k < r.end(); ++k)
      step_.emplace(g.definitions[k].target, r.step[k - r.first]);
    count_ = g[g.definitions[r.first].free[r.step[0]]].extent;
  }

  // By tensor: which of its free indices is the step.
  std::map<TensorId, size_t> run() {
    std::map<TensorId, size_t> result;
    for (size_t k = first_; k-- > 0;) {
      const Definition& d = g_.definitions[k];
      const std::optional<size_t> step = step_of(d);
      if (!step) continue;
      step_.emplace(d.target, *step);
      result.emplace(d.target, *step);
    }
    return result;
  }

 private:
  // The dimension by which all read it at their own step.
  std::optional<size_t> step_of(const Definition& d) const {
    if (!unmaterialised_(d.target) || others_.count(d.target) || needs_.steps(d.target) ||
        g_.is_output(d.target) || !d.position.empty())
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
    const auto at = std::ranges::find(site.args(), index_value(reader.free[step->second]));
    if (at == site.args().end()) return std::nullopt;
    return static_cast<size_t>(at - site.args().begin());
  }

  const Graph& g_;
  const size_t first_;
  const solve::Unmaterialised& unmaterialised_;
  const std::set<TensorId>& others_;
  const Needs needs_;
  const Uses uses_;
  Poly count_;
  std::map<TensorId, size_t> step_;  // of the recurrence, and of what is joined
};

}  // namespace

std::map<TensorId, size_t> join_tiles(Graph& g, const solve::Unmaterialised& unmaterialised,
                                      const std::set<TensorId>& others) {
  std::map<TensorId, size_t> result;
  for (const Recurrence& r : recurrences(g)) {  // the places of later ones stay
    std::map<TensorId, size_t> own = Tiled(g, r, unmaterialised, others).run();
    std::stable_partition(g.definitions.begin(), g.definitions.begin() + static_cast<long>(r.first),
                          [&](const Definition& d) { return !own.count(d.target); });
    result.merge(own);
  }
  return result;
}

}  // namespace attn::plan
