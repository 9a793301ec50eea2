// Random programs in the language, of every kind of statement: maps, reductions, contractions,
// softmax, convolutions, shifts, gathers, explicit ranges, placed sums, attention, recurrences,
// blocks and repetitions, in every storage, over sizes known and not; and of the corners: rows
// without points, equals, what does not vary, diagonals of other sizes, constants, chained maps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attn::testing {

struct RandomProgram {
  std::string text;  // one train model, named after its seed
  // Calls: run-time sizes by name, empty ones among them.
  std::vector<std::map<std::string, int64_t>> calls;
  int64_t integers = 3;       // values of integers that are given are below this
  double tolerance = 1e-4;    // of kernels against the evaluator, of the scale of a row
  bool has_tangents = false;  // is compiled with Jacobian and Hessian products, of a `loss`
};

// The same program for the same seed, valid by construction.
RandomProgram random_program(uint64_t seed);

}  // namespace attn::testing
