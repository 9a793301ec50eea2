// Symbolic derivatives of a graph, as a graph.
#pragma once

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace attn::derive {

// The vector-Jacobian product: the definitions of `g` (a forward graph whose outputs are its
// results) followed by those of the cotangents. New inputs (role cotangent) `dOUT`, one per real
// output, of its shape; the outputs of the result are `dNAME` for every parameter and every real
// input. A gradient that is zero everywhere is a definition 0; where that is so for a parameter
// only because of the derivative of floor, comparisons or the like, a warning is recorded. An
// operation without a derivative row is an error.
ir::Graph gradient(const ir::Graph& g, Diagnostics& diagnostics);

}  // namespace attn::derive
