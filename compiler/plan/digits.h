// Columns whose points are added where the digits of the column say, as those of an image are at
// its line or at its place in the line.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::plan {

struct Digits {
  // What the column is divided by. Where it is 0 there is no column.
  ir::Expr divisor;
  // Where points go whose columns differ in the low digit, column % divisor, alone.
  enum class Low { anywhere, neighbours, one_place } low = Low::anywhere;

  ir::Expr high_of(ir::IndexId column) const;
  ir::Expr low_of(ir::IndexId column) const;
};

// Where `position` has digits of the column and does not use it otherwise.
std::optional<Digits> digits_of(const ir::Graph& g, const std::vector<ir::Expr>& position,
                                ir::IndexId column);

}  // namespace attn::plan
