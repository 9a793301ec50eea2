// Expressions as sums of products, the form in which sums are compared and bracketed anew.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::simplify {

// `coefficient * factors[0] * factors[1] * ...` where the conditions hold, else 0. The coefficient
// holds what is the same at every point (literals and sizes); a whole power stands as so many
// factors.
struct Product {
  ir::Expr coefficient = 1;
  std::vector<ir::Expr> factors;
  ir::Conditions conditions;
};

bool is_constant(const ir::Expr& e);  // neither reads nor indices

// The factors of e as it stands.
Product as_product(const ir::Expr& e);
ir::Expr value_of(const Product& p);
ir::Expr times(const ir::Expr& coefficient, const std::vector<ir::Expr>& factors);

// e with real products distributed over sums; nothing when there are more than `limit` products.
std::optional<std::vector<Product>> expand(const ir::Expr& e, size_t limit = 8);

// mine / theirs, for coefficients. Nothing where that would divide by something that can be 0
// though neither of them does, or multiply by it what theirs has divided.
std::optional<ir::Expr> ratio(const ir::Graph& g, const ir::Expr& mine, const ir::Expr& theirs);

}  // namespace attn::simplify
