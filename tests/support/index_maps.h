// Random maps of an index, as texts of the language. A range is 0 .. extent - 1, where the extent
// is a text too: "T", "N * M". A map is made of steps, each of which keeps the range.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/support/draws.h"

namespace attn::testing {

// Sizes whose values are compiled in.
using KnownSizes = std::map<std::string, int64_t>;

// "(T + 1)" for "T + 1": as an operand.
std::string operand(const std::string& text);

// A permutation of the range, by one step: a flip, a roll, a transposition or a stride.
std::string permuted(Draws& draws, const KnownSizes& known, const std::string& at,
                     const std::string& extent);
// The same by several steps.
std::string permuted(Draws& draws, const KnownSizes& known, std::string at,
                     const std::string& extent, int steps);

// A step that takes several places to one: clamps, halves, remainders, mirrors.
std::string folded(Draws& draws, const std::string& at, const std::string& extent);

}  // namespace attn::testing
