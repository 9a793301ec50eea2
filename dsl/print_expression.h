// Expressions as text, with the fewest brackets that keep their meaning.
#pragma once

#include "dsl/ast.h"
#include "dsl/layout.h"

namespace attn::dsl {

// `depth` is where the breaks of the expression begin (layout.h).
Layout layout_expression(const ExprPtr& expression, int depth);
// A subscript, an extent or a range, where `h*E + e` is written tightly.
Layout layout_subscript(const ExprPtr& expression, int depth);
Layout layout_arguments(const std::vector<Argument>& arguments, int depth);
// `b,h,i,j` or `j: P + S, k`, without brackets.
Layout layout_indices(bool leading, const std::vector<Index>& indices, int depth);
// `B, T, D`, without brackets.
Layout layout_extents(bool leading, const std::vector<ExprPtr>& extents, int depth);

}  // namespace attn::dsl
