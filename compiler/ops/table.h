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

// exp(term - lse), the weight of one term of `lse = logsumexp[reduced] term`. A term that does not
// vary over all of `reduced` has its weight computed outside of the reduction, and so also for a row
// without terms, whose lse is -inf: it is finite there too.
ir::Expr weight_of_term(const ir::Expr& term, const ir::Expr& lse,
                        const std::vector<ir::IndexId>& reduced);

}  // namespace attn::ops
