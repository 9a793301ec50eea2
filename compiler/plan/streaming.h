// Finds the sum that the exponentials of a log-sum-exp weigh: the scores s, Y[i] = logsumexp[j]
// s[i,j], z[i,f] = sum[j] exp(s[i,j] - Y[i]) w[i,j] v[j,f]. One sweep over the columns computes
// both, since each chunk of columns can be summed relative to a maximum of its own.
#pragma once

#include <optional>

#include "compiler/plan/results.h"

namespace attn::plan {

// The argument of a log-sum-exp over the columns, in the group's indices.
struct Scores {
  ir::Expr argument;
  ir::Conditions visible;
  ir::Expr lse;  // its value at a row
};

// `sum` in this form, or nothing where its weight is anything else or reads `lse` besides.
std::optional<TileResult> weighted_sum(const ir::Graph& g, const Scores& scores,
                                       const ResultOf& sum);

}  // namespace attn::plan
