// Random programs around one tensor of scores: guards, biases, gathers, weights, and several sums
// of them over rows and columns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attn::testing {

struct RandomAttention {
  std::string text;  // a train model of the language
  // Calls: run-time sizes by name.
  std::vector<std::map<std::string, int64_t>> calls;
};

// The same program for the same seed.
RandomAttention random_attention(uint64_t seed);

}  // namespace attn::testing
