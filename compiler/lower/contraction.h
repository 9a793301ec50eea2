#pragma once

#include "compiler/lower/target.h"
#include "compiler/lower/translate.h"
#include "compiler/plan/plan.h"

namespace attn::lower {

// The Func of the kernel's result, over its dimensions innermost first.
Halide::Func lower_contraction(const plan::Function& f, const plan::Kernel& kernel,
                               const Arguments& arguments, const Target& target);

}  // namespace attn::lower
