// Lowers one definition as it is written: parallel over free indices, vectors along the last,
// reductions serial in order. Takes anything; correct for all sizes.
#pragma once

#include "compiler/lower/target.h"
#include "compiler/lower/translate.h"

namespace attn::lower {

// The Func of the target's buffer, over its dimensions innermost first (and a plane last where it
// is split). `old`, if defined, is the present content of that buffer, kept where the value
// computed is finite (see Kernel::repairs_if_non_finite). `epilogue`, if given, finishes the value
// of `d`: it reads d.target at d's free indices.
Halide::Func lower_loops(const ir::Graph& g, const ir::Definition& d,
                         const ir::Definition* epilogue, const Arguments& arguments,
                         const TargetInfo& target, const Halide::ImageParam* old);

}  // namespace attn::lower
