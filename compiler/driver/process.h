// What must be so in the process before a command runs.
#pragma once

namespace attn::driver {

// Ignores the signals of a closed pipe and of a file size limit, which are then errors of writing;
// ends cleanly by those that ask attnc to end; throws std::bad_alloc where memory is short; and
// takes the variables HL_* out of the environment, by which Halide would print into the output and
// compile other code than the cache knows.
void prepare_process();

}  // namespace attn::driver
