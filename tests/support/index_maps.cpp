#include "tests/support/index_maps.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace attn::testing {
namespace {

// The divisors of n other than 1 and n.
std::vector<int64_t> parts_of(int64_t n) {
  std::vector<int64_t> parts;
  for (int64_t d = 2; d < n; ++d)
    if (n % d == 0) parts.push_back(d);
  return parts;
}

std::string flipped(const std::string& at, const std::string& extent) {
  return fmt::format("{} - 1 - {}", extent, operand(at));
}

// By a number or by another size, in either direction.
std::string rolled(Draws& draws, const std::string& at, const std::string& extent) {
  const int by = 1 + draws.below(3);
  switch (draws.below(3)) {
    case 0:
      return fmt::format("({} + {}) % {}", at, by, operand(extent));
    case 1:
      return fmt::format("({} - {} + {}) % {}", at, by, extent, operand(extent));
    default:
      return fmt::format("({} + {}) % {}", at, draws.chance(50) ? "S" : "T // 2", operand(extent));
  }
}

// Of a range that is a number: rows and columns change places.
std::string transposed(Draws& draws, int64_t n, const std::string& at, const std::string& extent) {
  const std::vector<int64_t> parts = parts_of(n);
  if (parts.empty()) return flipped(at, extent);
  const int64_t rows = draws.of(parts);
  return fmt::format("{0} % {1} * {2} + {0} // {1}", operand(at), n / rows, rows);
}

// Multiplication by a number that shares no factor with the range.
std::string strided(Draws& draws, int64_t n, const std::string& at, const std::string& extent) {
  const int64_t factor = 2 + draws.below(3);
  if (std::gcd(factor, n) != 1) return flipped(at, extent);
  return fmt::format("({} * {} + {}) % {}", factor, operand(at), draws.below(3), operand(extent));
}

}  // namespace

std::string operand(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : fmt::format("({})", text);
}

std::string permuted(Draws& draws, const KnownSizes& known, const std::string& at,
                     const std::string& extent) {
  const auto size = known.find(extent);
  switch (draws.below(size == known.end() ? 2 : 4)) {
    case 0:
      return flipped(at, extent);
    case 1:
      return rolled(draws, at, extent);
    case 2:
      return transposed(draws, size->second, at, extent);
    default:
      return strided(draws, size->second, at, extent);
  }
}

std::string permuted(Draws& draws, const KnownSizes& known, std::string at,
                     const std::string& extent, int steps) {
  for (; steps > 0; --steps) at = permuted(draws, known, at, extent);
  return at;
}

std::string folded(Draws& draws, const std::string& at, const std::string& extent) {
  const std::string e = operand(at);
  switch (draws.below(6)) {
    case 0:
      return fmt::format("clamp({} - {}, 0, {} - 1)", at, 1 + draws.below(3), extent);
    case 1:
      return fmt::format("clamp(2 * {} - 3, 0, {} - 1)", e, extent);
    case 2:
      return fmt::format("{} // {}", e, 2 + draws.below(2));
    case 3:
      return fmt::format("min({}, {})", at, flipped(at, extent));
    case 4:
      return fmt::format("2 * {} % {}", e, operand(extent));
    default:
      return fmt::format("{} % {} % {}", e, 2 + draws.below(3), operand(extent));
  }
}

}  // namespace attn::testing
