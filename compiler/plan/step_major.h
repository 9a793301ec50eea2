// Puts the steps of recurrences first in memory.
//
// A kernel that computes one step of h[b,t,n] writes to places that lie apart. As h.steps[t,b,n]
// each step is one piece of memory, as dense as what any kernel writes.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/graph.h"

namespace attn::plan {

// For each tensor of recurrences whose step is not its first dimension, by name: which it is.
using StepDimensions = std::map<std::string, size_t>;
StepDimensions steps_behind_others(const ir::Graph& g);

// Every tensor of `dimensions` that `g` defines is computed and read as NAME.steps, in which that
// dimension comes first; an output is copied from it.
ir::Graph step_major(ir::Graph g, const StepDimensions& dimensions);

}  // namespace attn::plan
