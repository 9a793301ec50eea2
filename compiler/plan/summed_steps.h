// Sums over the steps of a recurrence, taken in its loop.
//
//   scan t: T down { dh[t,b,n] = … dh[t+1,b,n] … }
//   dw[n,m] = sum[t,b] dh[t,b,n] * x[t,b,m]
//
// Such are the gradients of weights that all steps share. Each step adds its term to dw, so that dh
// is needed for the steps that read each other, and not as a whole.
#pragma once

#include <set>

#include "compiler/ir/graph.h"
#include "compiler/plan/rolling.h"

namespace attn::plan {

// Puts such sums right after their recurrence where no more than a step of some tensor is needed
// then, and right before it what only its steps read. Adds them to `rolling`, and what is needed
// for two steps, of which the last may be read later. `wanted`: what is stored as a whole in any
// case.
void sum_in_loops(ir::Graph& g, const std::set<ir::TensorId>& wanted, const target::Costs& costs,
                  Rolling& rolling);

}  // namespace attn::plan
