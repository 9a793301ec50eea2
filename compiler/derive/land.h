// Contributions to a cotangent, and their sum as definitions.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::derive {

// dX[at] += value, for all values of `domain` where `guard` holds.
struct Contribution {
  std::vector<ir::Expr> at;
  std::vector<ir::IndexId> domain;
  ir::Conditions guard;
  ir::Expr value;
  Span where;
};

// Appends the definition of `target`, the sum of the contributions: maps are added in one body,
// every reduction is a tensor of its own, `target.1` and so on, unless it is the only contribution.
// Where a subscript is an index alone, that index becomes the one of the left side; every other
// subscript a is an equality `n == a` of the guard. `names` are those of the left side. Each
// definition gets indices of its own.
void add_up(ir::Graph& g, ir::TensorId target, const std::vector<std::string>& names,
            const std::vector<Contribution>& contributions);

}  // namespace attn::derive
