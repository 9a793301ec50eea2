// The table of scalar operations: every fact about one stands in its row of table.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/operation.h"

namespace attn::ops {

std::span<const ir::Operation> table();
// The row of this name, or null.
const ir::Operation* find(std::string_view name);
// A call of the operation `name`, which must exist.
ir::Expr apply(std::string_view name, std::vector<ir::Expr> args);

}  // namespace attn::ops
