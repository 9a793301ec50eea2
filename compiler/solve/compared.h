// What is compared for equality: a gradient finds by it which elements a maximum was. Computed a
// second time, in another kernel, a value may differ in its last bit, and would equal nothing.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace attn::solve {

// The comparisons of real numbers for equality.
std::vector<ir::Expr> comparisons(const ir::Graph& g);

// By tensor: those in such comparisons.
std::vector<bool> compared_tensors(const ir::Graph& g);

// Whether `e` has the same bits wherever it is computed from the same elements: it rounds once at
// most.
bool is_exact(const ir::Expr& e);

}  // namespace attn::solve
