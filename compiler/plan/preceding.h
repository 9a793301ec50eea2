// What only the steps of a recurrence read that it precedes: it can be computed with each of them.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "compiler/ir/graph.h"
#include "compiler/ir/recurrence.h"
#include "compiler/plan/rolling.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {

// Puts such definitions right before their recurrence, with those that `rolling` has there. By
// tensor, which of the free indices is the step: as in Rolling::before. `may_join`: which of them.
std::map<ir::TensorId, size_t> join_preceding(
    ir::Graph& g, const ir::Recurrence& r, const Rolling& rolling,
    const std::function<bool(const ir::Definition&)>& may_join);

// The same for all recurrences and what is kept in tiles. `others`: what stays where it is.
//
//   s[t,i,j] = sum[e] q[t,i,e] * k[t,j,e]    of what forward has saved
//   dq[t,i,e] = sum[j] s[t,i,j] * …          of a recurrence, whose kernels compute s[t,i,j] again
std::map<ir::TensorId, size_t> join_tiles(ir::Graph& g, const Rolling& rolling,
                                          const solve::Unmaterialised& unmaterialised,
                                          const std::set<ir::TensorId>& others);

}  // namespace attn::plan
