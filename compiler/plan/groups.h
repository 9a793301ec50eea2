// Which groups data deals the rows of a sum of products out to, or the terms of the sum.
#pragma once

#include <vector>

#include "compiler/plan/plan.h"

namespace attn::plan {

// Those that a contraction of `sum` may have:
//
//   sum[d] w[expert[t], f, d] * x[t, d]             rows t, by expert[t]
//   sum[t where e == expert[t]] dh[t, f] * x[t, d]  terms t, by expert[t]; the index is e
std::vector<Groups> possible_groups(const ir::Graph& g, const ir::Definition& sum);

// The sum without what the form says as groups: the index and its condition.
ir::Definition without(const Groups& groups, ir::Definition sum);

// Whether the group of a row decides what the factor is, and its own index does not otherwise.
bool picks(const Groups& groups, const ir::Expr& factor);

// The reduced indices that the group of a row depends on, where the sum over the others is a
// contraction with groups of rows, and the whole sum is none of matrices. Empty for none.
std::vector<ir::IndexId> reduced_after_groups(const ir::Graph& g, const Costs& costs,
                                              const ir::Definition& sum);

// Whether all that the group of a row subscripts has as many elements as there are groups.
bool have_groups(const ir::Graph& g, const ir::Expr& factor, const Groups& groups);

}  // namespace attn::plan
