// Contractions of a few rows: the right factor is read once and never packed.
#pragma once

#include "compiler/lower/cpu/contraction_problem.h"

namespace attn::lower {

// The sums of one term: sum(column in block, row, column block, batch), scheduled but for where it
// is computed. Columns beyond the last repeat it.
Halide::Func direct_sum(const Problem& problem, const ContractionTerm& term);

}  // namespace attn::lower
