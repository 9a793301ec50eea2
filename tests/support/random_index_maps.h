// Random programs whose definitions move elements: parts of a range, digits of a mixed radix,
// several maps in a row, windows, patches, dilations, in range by themselves or by a condition.
#pragma once

#include "tests/support/random_program.h"

namespace attn::testing {

// The names of the kinds of maps.
std::vector<std::string> index_map_kinds();

// One train model r<seed> of several definitions y = x[map] * w, of these kinds or of all; the same
// for the same seed.
RandomProgram random_index_maps(uint64_t seed, const std::vector<std::string>& kinds = {});

}  // namespace attn::testing
