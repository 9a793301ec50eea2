// What a kernel reads of its own results.
#pragma once

#include <Halide.h>

namespace attn::lower {

// Halide takes a result that an update reads for memory of its own, aligned to a vector; the
// caller's is aligned to an element. (Of stores it knows better.)
void unalign_result_loads(Halide::Pipeline& pipeline);

}  // namespace attn::lower
