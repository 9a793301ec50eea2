// The order in which kernels run.
//
// A derivation leaves the gradients of weights at the end of the list. Each reads a tensor that
// nothing reads after it, which would live until then: in a model of many layers, those of all
// layers at once. It leaves what backward computes again at the beginning, though the layers need
// it one after the other.
#pragma once

#include <set>
#include <vector>

#include "compiler/plan/kinds.h"

namespace attn::plan {

// `kernels`, which stand in an order in which they can run, in another: what can run and needs no
// more memory than it ends the use of comes first, the rest keeps its order but for what would lie
// in memory until its first reader, which comes just before that; with `saved`, also as lower_peak
// moves them. `wanted`: tensors that have memory in any case. `saved`: arguments whose memory is
// free after their last reader, where forward and backward are one call.
std::vector<Claimed> in_order(const ir::Graph& g, const Costs& costs, std::vector<Claimed> kernels,
                              const std::set<ir::TensorId>& wanted,
                              const std::set<ir::TensorId>& saved);

}  // namespace attn::plan
