// A scalar output for any graph, so that it has a Hessian.
#pragma once

#include "compiler/ir/graph.h"

namespace attn::testing {

// `g` with one output, the sum of tanh of everything that it gives: a loss with a Hessian that is
// not constant, whatever the outputs are.
ir::Graph with_loss(const ir::Graph& g);

}  // namespace attn::testing
