// The moment at which a function needs the most memory, and an order of its kernels with less then.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace attn::plan {

// What each run-time size counts as where only a number decides: weights are large beside all else,
// neither is, and activations are.
constexpr std::array<int, 3> kScales = {1, 16, 1024};

// A tensor, as far as memory is concerned.
struct Stored {
  std::array<double, kScales.size()> bytes{};  // by scale
  bool is_argument = false;                    // there from the beginning
  bool is_kept = false;                        // there until the end
};

// A kernel, with tensors by their numbers; what is not stored is left out.
struct Access {
  std::vector<size_t> reads, writes;
  std::vector<size_t> over;  // reads whose memory it may write over, if it is the last to read them
  // Whether it sums groups; and reads of which half is in memory beside the results if it is the
  // last such kernel, and the last to read them (result_blocks.h).
  bool sums_groups = false;
  std::vector<size_t> halved;
};

// Moves kernels across the moment that needs the most memory while that lowers it, and keeps each
// after those that write what it reads. `order`: positions of `kernels`, in an order in which they
// can run. Memory counts at all scales, and to a tenth what is neither an argument nor kept: the
// workspace of a call that has memory of its own for the rest. What is kept lends its memory before
// it is written, but for a small part.
void lower_peak(const std::vector<Access>& kernels, const std::vector<Stored>& tensors,
                std::vector<size_t>& order);

}  // namespace attn::plan
