// Definitions that read tiles as results of a kernel.
#pragma once

#include <optional>

#include "compiler/plan/grow.h"
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

// Of a reader of the group. Nothing where it is neither a sum over the rows or the columns, nor has
// a position for each point. A result over fewer indices than the batch's and the kept one has a
// tensor of its own, new in `g`, that `rest` sums; `rest` also has the factors of the result that
// read `later`.
std::optional<ResultOf> result_of(ir::Graph& g, const solve::Unmaterialised& unmaterialised,
                                  const Group& group, const ir::Definition& d,
                                  const std::set<ir::TensorId>& later);

}  // namespace attn::plan
