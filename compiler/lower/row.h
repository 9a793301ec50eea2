#pragma once

#include "compiler/lower/target.h"
#include "compiler/lower/translate.h"
#include "compiler/plan/plan.h"

namespace attn::lower {

// The Funcs of kernel.writes, each over its dimensions innermost first (and a plane last where it
// is split).
std::vector<Halide::Func> lower_row(const plan::Function& f, const plan::Kernel& kernel,
                                    const Arguments& arguments, const Target& target);

}  // namespace attn::lower
