// What a kernel checks of its arguments, made short.
#pragma once

#include <Halide.h>

namespace attn::lower {

// Halide checks type, rank, bounds and strides of every argument one by one, each with a message
// that no user sees: the runtime has checked what they gave. These checks, of which there are dozens,
// were up to half of the code of a kernel and a sixth of the time of compiling it. All of them
// stay, but those that follow one another fail as one.
void join_argument_checks(Halide::Pipeline& pipeline);

}  // namespace attn::lower
