// Letters predicted by counting: the interpolated model of Kneser and Ney (1995), in the form of
// Chen and Goodman (1999, section 2.7), with one discount for each order.
#pragma once

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace example {

class NGram {
 public:
  // Letters are 0 .. kinds - 1, at most 255; the model sees order - 1 letters before the next one.
  NGram(const std::vector<int32_t>& text, int order, int kinds)
      : order_(order), kinds_(kinds), levels_(static_cast<size_t>(order) + 1) {
    for (size_t end = static_cast<size_t>(order); end <= text.size(); ++end) {
      ++levels_[order].counts[key(text.data() + end, order)];
    }
    // A shorter gram counts how many different letters stand before it.
    for (int n = order; n > 1; --n) {
      for (const auto& [gram, times] : levels_[n].counts) {
        ++levels_[n - 1].counts[gram & ((uint64_t{1} << (8 * (n - 1))) - 1)];
      }
    }
    for (int n = 1; n <= order; ++n) levels_[n].finish();
  }

  // The probability of `end[0]` after the letters before it.
  double probability(const int32_t* end) const {
    double p = 1.0 / kinds_;
    for (int n = 1; n <= order_; ++n) {
      const Level& level = levels_[n];
      const uint64_t gram = key(end + 1, n);
      const auto context = level.contexts.find(gram >> 8);
      if (context == level.contexts.end()) break;
      const auto found = level.counts.find(gram);
      const double seen = found == level.counts.end() ? 0 : found->second - level.discount;
      const auto [total, different] = context->second;
      p = (seen + level.discount * different * p) / total;
    }
    return p;
  }

  // The mean of -log p over the letters from `first` on.
  double loss(const std::vector<int32_t>& text, size_t first) const {
    double sum = 0;
    for (size_t at = first; at < text.size(); ++at) sum -= std::log(probability(&text[at]));
    return sum / static_cast<double>(text.size() - first);
  }

 private:
  struct Level {
    std::unordered_map<uint64_t, int> counts;  // of a gram
    std::unordered_map<uint64_t, std::pair<double, double>>
        contexts;  // sum, different next letters
    double discount = 0;

    void finish() {
      double once = 0, twice = 0;
      for (const auto& [gram, times] : counts) {
        once += times == 1;
        twice += times == 2;
        auto& [total, different] = contexts[gram >> 8];
        total += times;
        ++different;
      }
      discount = once > 0 ? once / (once + 2 * twice) : 0.5;
    }
  };

  // The n letters before `end`, the last of them in the lowest byte.
  static uint64_t key(const int32_t* end, int n) {
    uint64_t result = 0;
    for (int k = n; k > 0; --k) result = result << 8 | static_cast<uint64_t>(end[-k]);
    return result;
  }

  int order_, kinds_;
  std::vector<Level> levels_;
};

}  // namespace example
