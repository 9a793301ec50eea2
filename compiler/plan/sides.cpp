#include "compiler/plan/sides.h"

#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/sets.h"

namespace attn::plan {

using namespace ir;

namespace {

// The indices of the factors of one side. Of a right one those count that are left in one group of
// rows; the group of a row is an index of the left side.
struct Side {
  std::vector<Expr> factors;
  std::set<IndexId> used;
  bool picks = false;

  void add(const Expr& f, bool right, const Groups* groups) {
    const bool picked = right && groups && plan::picks(*groups, f);
    factors.push_back(f);
    insert_all(used, indices(picked ? groups->at_one_group(f) : f));
    picks = picks || picked;
  }
};

// Conditions of elements at a reduced index and at a free one that no factor has are factors too: 1
// where they hold, and 0 elsewhere. (Those of indices alone bound loops.)
std::vector<Expr> conditions_as_factors(const Definition& d, const std::vector<Expr>& factors) {
  std::set<IndexId> covered;
  for (const Expr& f : factors) insert_all(covered, indices(f));
  const auto covers_more = [&](const Expr& read) {
    const std::set<IndexId> used = indices(read);
    return has_any(used, d.reduced) && std::ranges::any_of(d.free, [&](IndexId i) {
             return used.count(i) > 0 && covered.count(i) == 0;
           });
  };
  std::vector<Expr> result;
  for (const Expr& c : d.guard)
    if (std::ranges::any_of(read_sites(c), covers_more)) result.push_back(select(c, 1.0, 0.0));
  return result;
}

}  // namespace

std::optional<Sides> divide_factors(const Graph& g, const Costs& costs, const Definition& d,
                                    const Expr& product, const std::optional<Sides>& like,
                                    const Groups* groups) {
  const std::set<IndexId> free(d.free.begin(), d.free.end());
  const bool of_rows = groups && groups->of_rows();
  Sides base;
  std::vector<Expr> inner;
  for (const Expr& f : factors_of(product))
    (has_any(indices(f), d.reduced) ? inner : base.outer).push_back(f);
  const std::vector<Expr> conditions = conditions_as_factors(d, inner);
  inner.insert(inner.end(), conditions.begin(), conditions.end());
  if (inner.size() < 2 || inner.size() > 8) return std::nullopt;
  std::optional<Sides> best;
  double best_score = 0;
  const unsigned last = 1u << (of_rows ? inner.size() : inner.size() - 1);
  for (unsigned mask = 1; mask < last - of_rows; ++mask) {
    Sides s = base;
    Side left, right;
    for (size_t k = 0; k < inner.size(); ++k) {
      const bool is_right = mask >> k & 1;
      (is_right ? right : left).add(inner[k], is_right, groups);
    }
    if (of_rows) insert_all(left.used, indices(groups->of));
    // place_guard puts the conditions back.
    const auto without_conditions = [&](const std::vector<Expr>& factors) {
      std::vector<Expr> rest;
      for (const Expr& f : factors)
        if (std::ranges::count(conditions, f) == 0) rest.push_back(f);
      return rest;
    };
    s.left = without_conditions(left.factors);
    s.right = without_conditions(right.factors);
    bool covered = true;
    for (IndexId i : free) {
      bool l = left.used.count(i), r = right.used.count(i);
      (l && r ? s.batch : l ? s.rows : s.columns).insert(i);
      covered = covered && (l || r);
    }
    if (!covered) continue;
    if (of_rows && !(right.picks && has_any(s.rows, indices(groups->of)))) continue;
    double m = points(g, s.rows), n = points(g, s.columns);
    if (groups && std::min(m, n) < costs.least_side) continue;
    double score = std::min(m, n) * 1e6 + m * n;
    if (like) {  // later terms keep the groups of the first, whichever factor stands left
      if (!of_rows && s.rows == like->columns && s.columns == like->rows) {
        std::swap(s.left, s.right);
        std::swap(s.rows, s.columns);
      }
      if (s.rows != like->rows || s.columns != like->columns) continue;
    }
    if (score > best_score) best = s, best_score = score;
  }
  return best;
}

}  // namespace attn::plan
