// Recurrences of which two steps are kept in memory: the one that is computed, and the one before.
//
//   s[b,t,e,f] = (if t >= 1 then s[b,t-1,e,f] else 0) + k[b,t,e] * v[b,t,f]
//   z[b,t,f]   = sum[e] q[b,t,e] * s[b,t,e,f]
//
// All that reads a step of s does so at that step, so z is computed with it. A recurrence whose
// steps are read later, in another order or all together keeps them all; sums of all are an
// exception (summed_steps.h).
#pragma once

#include <map>
#include <set>

#include "compiler/ir/graph.h"
#include "compiler/ir/recurrence.h"
#include "compiler/target/target.h"

namespace attn::plan {

struct Rolling {
  // What is computed at each step of the recurrence that it follows in the list of definitions:
  // which of its free indices is the step.
  std::map<ir::TensorId, size_t> joined;
  // Tensors of recurrences that are read at their own step and at the next one only, and of a known
  // number of steps the last one later.
  std::set<ir::TensorId> rolled;
  // Sums over the steps of the recurrence that they follow, taken in its loop: which of the indices
  // that they reduce is the step.
  std::map<ir::TensorId, ir::IndexId> summed;
  // What only the steps of the recurrence read that it precedes, and is computed at each of them:
  // which of its free indices is the step.
  std::map<ir::TensorId, size_t> before;
};

// Puts what is joined after its recurrence, and what that needs before it: of what lies in memory
// step by step. `wanted`: what is stored as a whole in any case.
Rolling roll(ir::Graph& g, const std::set<ir::TensorId>& wanted, const target::Costs& costs);

// What of a graph could be joined if it lay step by step, where nothing is wanted.
std::map<ir::TensorId, size_t> joined_in(ir::Graph g, const target::Costs& costs);

// What rolls in forward and again in its gradient, which shares the first `shared` tensors:
// backward computes it anew. `joined` is the gradient's.
Rolling roll_twice(const ir::Graph& forward, const ir::Graph& gradient, size_t shared,
                   const target::Costs& costs);

}  // namespace attn::plan
