// A graph as Graphviz draws it.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace attn::text {

// Tensors are nodes and reads are edges. Inputs are ellipses, parameters filled; outputs have a
// second frame. Where `given` is there, tensors that it has too are dashed: what the gradient takes
// from the forward graph.
std::string to_dot(const ir::Graph& g, const ir::Graph* given = nullptr);

}  // namespace attn::text
