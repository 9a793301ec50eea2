// Divides the factors of a product into the two sides of a contraction.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "compiler/plan/groups.h"
#include "compiler/target/target.h"

namespace attn::plan {

struct Sides {
  std::vector<ir::Expr> left, right, outer;  // outer: no reduced index in it
  std::set<ir::IndexId> batch, rows, columns;
};

// The division of the factors of `product`, a term of the sum `d`, with the most results a packed
// element, or nothing. `like`: that of an earlier term, whose groups of indices it has. With groups
// it is one into matrices.
std::optional<Sides> divide_factors(const ir::Graph& g, const target::Costs& costs,
                                    const ir::Definition& d, const ir::Expr& product,
                                    const std::optional<Sides>& like, const Groups* groups);

}  // namespace attn::plan
