#include "differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn::testing {

std::string differ(const std::string& name, const Array& want, const Array& got, double tolerance,
                   double least) {
  if (want.extents != got.extents) return name + ": the shapes differ";
  size_t row = want.extents.empty() ? 1 : static_cast<size_t>(want.extents.back());
  for (size_t start = 0; start < want.values.size(); start += row) {
    double scale = least;
    for (size_t k = start; k < start + row; ++k)
      if (std::isfinite(want.values[k])) scale = std::max(scale, std::abs(want.values[k]));
    for (size_t k = start; k < start + row; ++k) {
      double a = want.values[k], b = got.values[k];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (std::abs(a - b) <= tolerance * scale) continue;
      return fmt::format("{}[{}]: {} instead of {}, {:.2g} of the row's {:.3g}", name, k, b, a,
                         std::abs(a - b) / scale, scale);
    }
  }
  return "";
}

std::string differ(const Arrays& want, const Arrays& got, double tolerance, double least) {
  // 'd' for gradients; 't' and 'h' where what they belong to is there; 0 for outputs.
  auto kind = [&](const std::string& name) {
    const std::string of = name.substr(1);
    const bool tangent = name[0] == 't' && want.count(of);
    const bool product = name[0] == 'h' && want.count("d" + of);
    return name[0] == 'd' || tangent || product ? name[0] : '\0';
  };
  auto largest_of = [](const Array& array) {
    double largest = 0;
    for (double v : array.values)
      if (std::abs(v) < 1e30) largest = std::max(largest, std::abs(v));
    return largest;
  };
  std::map<char, double> largest;
  for (const auto& [name, array] : want)
    largest[kind(name)] = std::max(largest[kind(name)], largest_of(array));
  for (const auto& [name, array] : want) {
    auto it = got.find(name);
    if (it == got.end()) return "no " + name;
    const bool short_rows = !array.extents.empty() && array.extents.back() < 4;
    const double scale = kind(name) ? largest[kind(name)] * (array.values.size() < 4 ? 2 : 0.05)
                                    : largest_of(array) / (short_rows ? 100 : 1000);
    std::string text = differ(name, array, it->second, tolerance, std::max(scale, least));
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace attn::testing
