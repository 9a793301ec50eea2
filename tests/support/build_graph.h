// Graphs from lines of text, without the front end: one definition a line, no nested reductions,
// and ranges taken from the first place where an index stands alone as a subscript.
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace attn::testing {

// The lines, separated by newlines or `;`, with comments after `#`:
//   size T, D = 8            run-time sizes and known ones; `size U = T // 2`, `size E = D / H`
//   input x[B,T,D]           also: param, cotangent (real); int, bool (inputs)
//   y[i,j] = sum[e, k: 3 where j <= i] a[i,e] * b[j,e]
//   y[i,j: T - 1] = a[i] + b[j] where j <= i
//   output y, z
// The graph is verified. Mistakes throw std::invalid_argument with the line.
ir::Graph build_graph(std::string_view text);

// One line of the same kind that defines a tensor which `g` has already, for comparing with its
// definition there. Indices of the left side take the ranges of the tensor. New indices go to `g`.
ir::Definition parse_definition(ir::Graph& g, std::string_view line);

}  // namespace attn::testing
