// A row of the table of targets in the code generator's terms.
#pragma once

#include "compiler/lower/terms/halide.h"
#include "compiler/target/target.h"

namespace attn::lower {

using target::Target;

// For ahead-of-time objects that our runtime serves: no_runtime, user_context, large_buffers,
// asserts on.
Halide::Target kernel_target(const Target& target);

// The same instruction set for code that runs in this process with Halide's own runtime.
Halide::Target jit_target(const Target& target);

// Sets what libHalide reads when it first generates code; without effect afterwards. What is to be
// a vector is one already, so LLVM looks for no more of them: that took 6 % of the time of
// compiling, made the code 5 % longer and not faster. x86-64: no branch crosses a boundary of 32
// bytes. On Skylake to Cascade Lake such a loop is decoded anew in every round, which costs an
// innermost loop up to a quarter. An innermost loop begins at a cache line: on Zen 3 one of 18
// instructions that began at byte 48 of a line took 1.3 times as long, and the gradient of a window
// of keys 1.07 times. The code is 1.5 % longer.
void prepare_code_generation(target::Arch arch);

// The best target that this machine runs.
const Target& host();

}  // namespace attn::lower
