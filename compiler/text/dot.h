// A graph as Graphviz draws it.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace attn::text {

// Tensors are nodes and reads are edges. Inputs are ellipses, parameters filled; outputs have a
// second frame. Where `given` is there, tensors that it has too are dashed: what the derivative takes
// from the forward graph; and the title says what of it g is: "gradient".
std::string to_dot(const ir::Graph& g, const ir::Graph* given = nullptr,
                   const std::string& what = "gradient");

}  // namespace attn::text
