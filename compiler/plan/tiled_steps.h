// What only the steps of a recurrence read, and is kept in tiles: it is computed with each step.
//
//   s[t,i,j] = sum[e] q[t,i,e] * k[t,j,e]    of what forward has saved
//   dq[t,i,e] = sum[j] s[t,i,j] * …          of a recurrence, whose kernels compute s[t,i,j] again
#pragma once

#include <map>
#include <set>

#include "compiler/ir/graph.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {

// Puts such definitions right before their recurrence. By tensor, which of the free indices is the
// step: Rolling::tiled. `others`: what stays where it is.
std::map<ir::TensorId, size_t> join_tiles(ir::Graph& g, const solve::Unmaterialised& unmaterialised,
                                          const std::set<ir::TensorId>& others);

}  // namespace attn::plan
