// Random programs around one tensor of scores: guards, biases, gathers, weights, and several sums
// of them over rows and columns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attn::testing {

struct RandomAttention {
  // A train model of the language, and a model of the same inputs that counts what the guards
  // leave: `rows_of_key[b,j]` and `keys_of_row[b,i]`, 0 where all is hidden.
  std::string text;
  // Calls: run-time sizes by name.
  std::vector<std::map<std::string, int64_t>> calls;
  // The leading indices of the keys k and the values v: "b,h,", "b," or "h,".
  std::map<std::string, std::string> leading;
};

// The same program for the same seed.
RandomAttention random_attention(uint64_t seed);

// Rows or keys, or both, are the points of images, of two indices or of one that counts them.
RandomAttention random_attention_of_images(uint64_t seed);

}  // namespace attn::testing
