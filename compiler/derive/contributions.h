// Contributions to a cotangent, and their sum as definitions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::derive {

// dX[at] += value, for all values of `domain` where `guard` holds.
struct Contribution {
  std::vector<ir::Expr> at;
  std::vector<ir::IndexId> domain;
  ir::Conditions guard;
  ir::Expr value;
  Span where;
  ir::TensorId through;             // whose definition hands it down; invalid: the caller gives it
  std::optional<size_t> step = {};  // the axis along which the tensor's recurrence steps
};

// Appends the definition of `target`, the sum of the contributions: maps are added in one body,
// every reduction is a tensor of its own, `target.1` and so on, unless it is the only contribution.
// Where a subscript is an index alone, that index becomes the one of the left side; every other
// subscript a is an equality `n == a` of the guard, as is an index that another axis has taken; the
// step takes its own first. Where such subscripts have an inverse, moves.h takes it. `names` are
// those of the left side. Each definition gets indices of its own. The result is, for each
// contribution, the tensor whose definition holds it. `unmaterialised` is of the graph before.
std::vector<ir::TensorId> add_up(ir::Graph& g, ir::TensorId target,
                                 const std::vector<std::string>& names,
                                 const std::vector<Contribution>& contributions,
                                 const solve::Unmaterialised& unmaterialised);

}  // namespace attn::derive
