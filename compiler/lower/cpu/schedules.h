// The schedules of the four forms for processors with vector registers and caches. Sums are taken
// in an order that depends on extents and target only, never on threads.
#pragma once

#include <Halide.h>

#include <vector>

#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/forms/contraction.h"
#include "compiler/lower/forms/loops.h"
#include "compiler/lower/forms/row.h"
#include "compiler/lower/forms/tiles.h"

namespace attn::lower {

using Funcs = std::vector<Halide::Func>;

// Parallel over free indices, vectors along the last, reductions in order.
Funcs schedule_loops(const LoopsSpec& spec, const Target& target);

// One pass over the rows, a row held in cache. The outputs in the order of the stages. Where the
// spec gives no extents they are dense: a map (column, row), a row value (row), a column sum
// (column). An output log-sum-exp is one value, both planes added, unless its stage says `planes`.
Funcs schedule_rows(const RowSpec& spec, const Target& target);

// One Func, its buffers constrained to dense row-major. It is a single-use object: build it again
// for another target.
Funcs schedule_contraction(const ContractionSpec& spec, const Target& target);

Funcs schedule_tiles(const TilesSpec& spec, const Target& target);

}  // namespace attn::lower
