// Sums that read a tensor through a window with a border, as a convolution of each channel does.
#pragma once

#include <optional>

#include "compiler/lower/forms/scope.h"

namespace attn::lower {

// The read of a sum that runs along the last index of the result and an index of the sum, as
// x[b,c,j + k - 1] of a convolution along j, under conditions on that index. Nothing where there is
// no such read, more than one, or perhaps no element to read.
std::optional<ir::Expr> window_of(const ir::Graph& g, const ir::Definition& d);

// A copy of what it reads, at the subscripts of the read, innermost first. Before the first element
// and beyond the last it has the nearest one.
Func copy_of_window(const Scope& scope, const ir::Expr& window);

}  // namespace attn::lower
