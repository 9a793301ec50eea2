#include "compiler/plan/groups.h"

#include <algorithm>

#include "compiler/plan/kinds.h"
#include "compiler/plan/sets.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {

using namespace ir;

namespace {

// Subscripts of `sum` that data gives for each of its rows.
void add_rows(const Graph& g, const Definition& sum, std::vector<Groups>& result) {
  for (const Expr& read : read_sites(sum.body))
    for (size_t k = 0; k < read.args().size(); ++k) {
      const Expr& of = read.args()[k];
      const std::set<IndexId> used = indices(of);
      if (tensors(of).empty() || used.empty() || has_any(used, sum.reduced)) continue;
      const Groups groups{of, g[read->tensor].extents[k], {}};
      const bool known =
          std::ranges::any_of(result, [&](const Groups& other) { return other.of == of; });
      if (!known && picks(groups, read)) result.push_back(groups);
    }
}

}  // namespace

std::vector<Groups> possible_groups(const Graph& g, const Definition& sum) {
  std::vector<Groups> result;
  add_rows(g, sum, result);
  if (const auto scatters = solve::find_scatters(sum); !scatters.empty()) {
    const IndexId index = sum.free[scatters[0].dimension];
    result.push_back({scatters[0].position, g[index].extent, index});
  }
  return result;
}

Definition without(const Groups& groups, Definition sum) {
  if (groups.of_rows()) return sum;
  std::erase(sum.free, groups.index);
  std::erase_if(sum.guard, [&](const Expr& c) { return uses(c, groups.index); });
  return sum;
}

bool picks(const Groups& groups, const Expr& factor) {
  return groups.of_rows() && indices(groups.at_one_group(factor)).size() < indices(factor).size();
}

std::vector<IndexId> reduced_after_groups(const Graph& g, const Costs& costs,
                                          const Definition& sum) {
  if (sum.combine != Combine::sum || sum.reduced.size() < 2) return {};
  if (const auto c = contraction_of(g, costs, sum, nullptr); c && packs(g, costs, *c)) return {};
  for (const Expr& read : read_sites(sum.body))
    for (const Expr& of : read.args()) {
      const std::set<IndexId> used = indices(of);
      if (tensors(of).empty() || !has_any(used, sum.reduced)) continue;
      Definition first = sum;
      const auto later = std::ranges::stable_partition(
          first.reduced, [&](IndexId i) { return used.count(i) == 0; });
      const std::vector<IndexId> result(later.begin(), later.end());
      first.reduced.erase(later.begin(), later.end());
      first.free.insert(first.free.end(), result.begin(), result.end());
      const auto c = contraction_of(g, costs, first, nullptr);
      if (c && c->groups && c->groups->of_rows()) return result;
    }
  return {};
}

bool have_groups(const Graph& g, const Expr& factor, const Groups& groups) {
  for (const Expr& read : read_sites(factor))
    for (size_t k = 0; k < read.args().size(); ++k)
      if (read.args()[k] == groups.of && !g.same(g[read->tensor].extents[k], groups.count))
        return false;
  return true;
}

}  // namespace attn::plan
