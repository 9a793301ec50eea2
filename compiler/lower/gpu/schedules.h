// The schedules of the forms for GPUs, an overload each: blocks of threads, which share a small
// memory. They hold for all extents, run-time ones and 0 among them. Sums are taken in an order
// that depends on extents and target only, and without atomic operations. All results are computed
// on the device.
#pragma once

#include "compiler/lower/forms/scope.h"
#include "compiler/plan/form.h"
#include "compiler/target/target.h"

namespace attn::lower::gpu {

// A thread for each point of the free indices, reductions in order.
Scheduled schedule(const plan::LoopsForm& form, const Scope& scope, const target::Target& target);

// The threads of a row share its reductions; a map is computed again by each of its readers.
Scheduled schedule(const plan::RowForm& form, const Scope& scope, const target::Target& target);

// Tiles of results in registers, their factors in shared memory; else a thread for each result.
Scheduled schedule(const plan::ContractionForm& form, const Scope& scope,
                   const target::Target& target);

// A thread for each result, which computes the tiles that it sums.
Scheduled schedule(const plan::TilesForm& form, const Scope& scope, const target::Target& target);

}  // namespace attn::lower::gpu
