// Results that are computed with other extents than their caller knows.
//
// A gradient is often the copy of a tensor with the same elements in the same order, in which an
// index of the weight is two: dw[d, n] = dw.1[d, n // E, n % E]. What computes dw.1 then writes to
// the memory of dw.
#pragma once

#include "compiler/ir/graph.h"

namespace attn::plan {

// `g` without copies of this kind; what they copy is the output in their place, under their names.
// Outputs that belong to no other tensor stay as they are: others read them, with their extents.
ir::Graph reshape_outputs(ir::Graph g);

// Whether an output has other extents than the tensor of the model that it belongs to.
bool is_reshaped(const ir::Graph& g, ir::TensorId output);

}  // namespace attn::plan
