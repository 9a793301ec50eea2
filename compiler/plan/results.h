// Definitions that read tiles as results of a kernel.
#pragma once

#include <optional>

#include "compiler/plan/tiles.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {

// A definition that reads tiles as the result of a kernel, and what is left to do with it.
struct ResultOf {
  TileResult result;                   // its tile: not set
  ir::Expr weight;                     // of the panel, over (batch, row, column)
  ir::Conditions counted;              // where it is not 0
  ir::Conditions outer;                // of the result as a whole
  ir::Definition stored;               // what defines `result.tensor`
  std::optional<ir::Definition> rest;  // reads that, and gives the target of the definition
};

// Nothing where it is neither a sum over the rows or the columns, nor has a position for each
// point. A result over fewer indices than the batch's and the kept one has a tensor of its own, new
// in `g`, that `rest` sums; `rest` also has the factors of the result that read `later`. `tiles`
// are the group's.
std::optional<ResultOf> result_of(ir::Graph& g, const solve::Unmaterialised& unmaterialised,
                                  const ir::Definition& d, const Names& names, const Axes& axes,
                                  const std::set<ir::TensorId>& tiles,
                                  const std::set<ir::TensorId>& later);

}  // namespace attn::plan
