// What rows and columns are where a reduction is computed row by row.
#pragma once

#include <optional>

#include "compiler/plan/kinds.h"

namespace attn::plan {

std::optional<ir::IndexId> plain_index(const ir::Expr& e);

// Whether rows compute such a combination.
bool is_row_reduction(ir::Combine c);

// Rows and columns as the reduction has them, or nothing where plain loops do as well.
std::optional<RowForm> row_shape(const ir::Graph& g, const Costs& costs, const ir::Definition& d);

}  // namespace attn::plan
