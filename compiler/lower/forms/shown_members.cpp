#include "compiler/lower/forms/shown_members.h"

#include <algorithm>
#include <set>

#include "compiler/plan/estimate.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/sets.h"

namespace attn::lower {
namespace {

using ir::Conditions;
using ir::Expr;
using ir::IndexId;

// Fewer results than these are often sums of many terms, which are cut into parts instead.
constexpr double kLeastResults = 1 << 16;

Conditions where_not_zero(const Expr& value) {
  const bool is_hidden = value.is(ir::Kind::select) && value.args()[2].is_zero();
  return is_hidden ? ir::conjuncts(value.args()[0]) : Conditions{};
}

Expr without(const Expr& value, const Conditions& known) {
  const Conditions conditions = where_not_zero(value);
  if (conditions.empty()) return value;
  Conditions left = conditions;
  for (const Expr& c : known) left.erase(c);
  return ir::where(left, value.args()[1]);
}

Conditions both(Conditions one, const Conditions& other) {
  std::erase_if(one, [&](const Expr& c) { return !other.count(c); });
  return one;
}

// Those of data about members, and about nothing else but the matrix.
std::optional<ShownMembers> of_data(bool of_rows, Conditions all, const std::vector<IndexId>& batch,
                                    const std::vector<IndexId>& members) {
  std::erase_if(all, [&](const Expr& c) {
    const std::set<IndexId>& used = ir::indices(c);
    return ir::tensors(c).empty() || plan::has_none(used, members) ||
           std::ranges::any_of(used, [&](IndexId i) {
             return !plan::contains(batch, i) && !plan::contains(members, i);
           });
  });
  if (all.empty()) return std::nullopt;
  return ShownMembers{of_rows, std::move(all)};
}

}  // namespace

std::optional<ShownMembers> shown_members(const ir::Graph& g, const target::Costs& costs,
                                          const plan::ContractionForm& c) {
  if (!plan::packs(g, costs, c)) return std::nullopt;
  const bool has_terms = c.groups && !c.groups->of_rows();
  Conditions results = c.guard;
  results.merge(where_not_zero(c.epilogue));
  if (c.kept) results = both(std::move(results), where_not_zero(*c.kept));
  if (!has_terms)
    if (auto rows = of_data(true, std::move(results), c.batch, c.rows)) return rows;
  if ((c.groups && !has_terms) || c.products.size() > 1) return std::nullopt;
  const auto count = [&](const std::vector<IndexId>& group) {
    return plan::points(g, {group.begin(), group.end()});
  };
  if (!has_terms && count(c.rows) * count(c.columns) < kLeastResults) return std::nullopt;
  const plan::Product& p = c.products[0];
  return of_data(false, both(p.left_guard, p.right_guard), c.batch, p.reduced);
}

plan::ContractionForm of_shown(plan::ContractionForm form, const ShownMembers& shown) {
  const auto drop = [&](Conditions& all) {
    for (const Expr& c : shown.where) all.erase(c);
  };
  if (!shown.of_rows) {
    drop(form.products[0].left_guard);
    drop(form.products[0].right_guard);
  } else if (!form.groups) {
    drop(form.guard);
    form.epilogue = without(form.epilogue, shown.where);
    if (form.kept) form.kept = without(*form.kept, shown.where);
  }
  return form;
}

}  // namespace attn::lower
