// Checks that passes change no output: every graph on the way is evaluated.
#pragma once

#include <string>

#include "compiler/evaluate/evaluate.h"
#include "compiler/ir/graph.h"

namespace attn::testing {

// The gradient of a forward graph before simplification, guards spread.
ir::Graph raw_gradient(const ir::Graph& forward);
// The same, simplified as the compiler does it.
ir::Graph simplified_gradient(const ir::Graph& forward);

// Evaluates the forward graph and its gradient before and after every pass that changes something.
// `sizes` are the run-time values. Returns "" or what disagrees, naming the pass and the tensor.
std::string disagreement(const ir::Graph& forward, const std::vector<int64_t>& sizes,
                         const evaluate::Arrays& inputs, uint64_t seed);

}  // namespace attn::testing
