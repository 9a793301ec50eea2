// Random choices, the same for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace attn::testing {

class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& of(const std::vector<T>& all) {
    return all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace attn::testing
