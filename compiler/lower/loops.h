// Lowers one definition as it is written: parallel over free indices, vectors along the last,
// reductions serial in order. Takes anything; correct for all sizes.
#pragma once

#include "compiler/lower/target.h"
#include "compiler/lower/translate.h"

namespace attn::lower {

// The Func of the target's buffer, over its dimensions innermost first (and a plane last where it
// is split).
Halide::Func lower_loops(const ir::Graph& g, const ir::Definition& d, const Arguments& arguments,
                         const Target& target);

}  // namespace attn::lower
