// Sums whose terms say where they are added, as gradients of tables are, added to other tensors:
// each can start from what is there, in the same memory.
#pragma once

#include "compiler/plan/kinds.h"

namespace attn::plan {

// The scatters that `map` only adds to what it reads at the same point, and that nothing else
// reads, in the order of the graph. None where one of them reads what it would be added to.
std::vector<ir::TensorId> added_scatters(const ir::Graph& g, const Open& open,
                                         const ir::Definition& map);

// What the map adds to the tensor `t`.
ir::Expr rest_of(const ir::Definition& map, ir::TensorId t);

// Divides maps that add several scatters into one for each, which adds it to the one before, and
// parts what finishes a product of matrices from them.
ir::Graph add_in_turn(ir::Graph g, const Costs& costs, const Open& open);

}  // namespace attn::plan
