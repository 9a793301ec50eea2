// The order in which states change. What a state becomes takes its place in memory, so whatever
// reads the state as it was is computed before.
#pragma once

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace attn::plan {

// The definitions in such an order. Where none exists, and where a definition of what a state
// becomes reads the state at other places than its own, readers get a copy of it, with a warning
// that names them.
ir::Graph order_states(ir::Graph g, Diagnostics& diagnostics);

// Whether a definition may write each of its values over what the state was there.
bool is_in_place(const ir::Graph& g, const ir::Definition& d);

}  // namespace attn::plan
