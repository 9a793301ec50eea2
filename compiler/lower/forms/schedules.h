// The schedules of the forms, an overload each for each architecture. They hold for all extents,
// run-time ones and 0 among them. Sums are taken in an order that depends on extents and target
// only, never on threads, and without atomic operations.
#pragma once

#include "compiler/lower/forms/scope.h"
#include "compiler/plan/form.h"
#include "compiler/target/target.h"

// For processors with vector registers and caches.
namespace attn::lower::cpu {

// Parallel over free indices, vectors along the last, reductions in order.
Funcs schedule(const plan::LoopsForm& form, const Scope& scope, const target::Target& target);

// One sweep over the rows, a row held in cache.
Funcs schedule(const plan::RowForm& form, const Scope& scope, const target::Target& target);

// Packed panels and register tiles.
Funcs schedule(const plan::ContractionForm& form, const Scope& scope, const target::Target& target);

// Tiles that several results share.
Funcs schedule(const plan::TilesForm& form, const Scope& scope, const target::Target& target);

// The same for at most plan::kFewRows rows of a form that streams, without packing.
Funcs schedule_few_rows(const plan::TilesForm& form, const Scope& scope,
                        const target::Target& target);

}  // namespace attn::lower::cpu

// For blocks of threads, which share a small memory. All results are computed on the device.
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
