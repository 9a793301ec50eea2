// Makes a failing program small: what is left is needed for the failure.
#pragma once

#include <functional>

#include "tests/support/random_program.h"

namespace attn::testing {

// Whether a program fails as the first one did. It is asked about many programs that are no longer
// valid, of which the answer is false.
using Fails = std::function<bool(const RandomProgram&)>;

// A program that fails and none of whose smaller neighbours does: outputs, statements, inputs and
// conditions are taken away, expressions are replaced by their parts or by 1, sizes are lowered.
// `program` fails and can be parsed; at most `tries` programs are tried.
RandomProgram shrink(RandomProgram program, const Fails& fails, int tries = 1000);

}  // namespace attn::testing
