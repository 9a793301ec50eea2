// How fast an example learns at each of its steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace example {

// The rate of a step: it rises over 100 steps and then falls along a cosine.
inline double rate_at(int64_t step, int64_t steps, double most) {
  const double done = static_cast<double>(step) / static_cast<double>(steps);
  return most * std::min(1.0, (static_cast<double>(step) + 1) / 100) * 0.5 *
         (1 + std::cos(M_PI * done));
}

}  // namespace example
