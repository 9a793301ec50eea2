// Rows of a contraction, or terms of its sums, that data hides, as the padding of texts: a schedule
// that lists those that are shown leaves out the work of the others.
#pragma once

#include <optional>

#include "compiler/plan/form.h"
#include "compiler/target/target.h"

namespace attn::lower {

struct ShownMembers {
  bool of_rows;          // else of terms
  ir::Conditions where;  // over the batch and the members, each of which reads data
};

// Those of a form, where both sides are large enough to be packed:
//
//   y[b, t, o] = sum[i] x[b, t, i] * w[o, i] where t < length[b]    rows b, t; 0 where hidden
//   dw[o, i] = sum[b, t where t < length[b]] dy[b, t, o] * x[b, t, i]    terms b, t
std::optional<ShownMembers> shown_members(const ir::Graph& g, const target::Costs& costs,
                                          const plan::ContractionForm& form);

// The form without conditions that hold for all members that are shown, of one group.
plan::ContractionForm of_shown(plan::ContractionForm form, const ShownMembers& shown);

}  // namespace attn::lower
