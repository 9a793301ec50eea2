// A planned kernel of sums over tiles in Halide's terms.
#pragma once

#include <Halide.h>

#include <vector>

#include "compiler/lower/target.h"
#include "compiler/lower/translate.h"
#include "compiler/plan/plan.h"

namespace attn::lower {

// The Funcs of kernel.writes, each over its dimensions innermost first.
std::vector<Halide::Func> lower_tile_sums(const plan::Function& f, const plan::Kernel& kernel,
                                          const Arguments& arguments, const Target& target);

}  // namespace attn::lower
