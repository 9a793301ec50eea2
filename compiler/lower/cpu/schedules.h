// The schedules of the forms for processors with vector registers and caches, an overload each.
// They hold for all extents, run-time ones and 0 among them. Sums are taken in an order that
// depends on extents and target only, never on threads.
#pragma once

#include "compiler/lower/forms/scope.h"
#include "compiler/plan/form.h"
#include "compiler/target/target.h"

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
