#include "compiler/plan/members.h"

#include <algorithm>

namespace attn::plan {

using namespace ir;

Members members_of(const Graph& g, const Recurrence& r, const Rolling& rolling) {
  Members result{.first = r.first};
  const auto add = [&](size_t k, size_t at, size_t dimension) {
    const auto place = static_cast<std::ptrdiff_t>(at);
    result.dimension.insert(result.dimension.begin() + place, dimension);
    result.step.insert(result.step.begin() + place, g.definitions[k].free[dimension]);
  };
  for (size_t k = r.first; k < r.end(); ++k) add(k, k - r.first, r.step[k - r.first]);
  for (size_t k = r.end(); k < g.definitions.size(); ++k) {
    const TensorId t = g.definitions[k].target;
    if (const auto joined = rolling.joined.find(t); joined != rolling.joined.end()) {
      add(k, k - r.first, joined->second);
    } else if (const auto summed = rolling.summed.find(t); summed != rolling.summed.end()) {
      result.dimension.emplace_back();
      result.step.push_back(summed->second);
    } else {
      break;
    }
  }
  for (; result.first > 0; --result.first) {
    const auto before = rolling.before.find(g.definitions[result.first - 1].target);
    if (before == rolling.before.end()) break;
    add(result.first - 1, 0, before->second);
  }
  return result;
}

Poly steps_of(const Graph& g, const Recurrence& r) {
  return g[g.definitions[r.first].free[r.step[0]]].extent;
}

void each_recurrence(Graph& g, const std::function<void(const Recurrence&)>& visit) {
  std::vector<TensorId> firsts;
  for (const Recurrence& r : recurrences(g)) firsts.push_back(g.definitions[r.first].target);
  for (TensorId first : firsts) {
    const std::vector<Recurrence> all = recurrences(g);
    visit(*std::ranges::find_if(
        all, [&](const Recurrence& r) { return g.definitions[r.first].target == first; }));
  }
}

Recurrence reorder(Graph& g, const Recurrence& r, const std::set<TensorId>& before,
                   const std::set<TensorId>& joined) {
  const auto at = [&](size_t k) { return g.definitions.begin() + static_cast<std::ptrdiff_t>(k); };
  const auto is_before = [&](const Definition& d) { return before.count(d.target) > 0; };
  const auto is_joined = [&](const Definition& d) { return joined.count(d.target) > 0; };
  const auto rest = std::stable_partition(at(r.end()), g.definitions.end(), is_before);
  std::stable_partition(rest, g.definitions.end(), is_joined);
  std::rotate(at(r.first), at(r.end()), rest);
  Recurrence result = r;
  result.first += static_cast<size_t>(rest - at(r.end()));
  return result;
}

}  // namespace attn::plan
