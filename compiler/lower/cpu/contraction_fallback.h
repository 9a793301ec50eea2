// Where conditions of one factor hide elements of the other, what is not finite is multiplied as 0
// first. Results that see something of it are computed again, as they are written.
#pragma once

#include <optional>

#include "compiler/lower/cpu/contraction_problem.h"

namespace attn::lower {

// Of each matrix of the batch: not 0 where a factor that has a fallback is not finite somewhere.
// Nothing where no factor has one.
std::optional<Halide::Func> find_non_finite(const Problem& problem);

// The sums of all terms as they are written: sum(column in block, row, column block, batch).
// Columns beyond the last repeat it.
Halide::Func plain_sum(const Problem& problem);

}  // namespace attn::lower
