#include "compiler/solve/points.h"

#include <algorithm>
#include <cmath>

namespace attn::solve {

using namespace ir;

namespace {

double value(const Poly& p, const std::vector<double>& sizes) {
  double sum = 0;
  for (const auto& [monomial, c] : p.terms()) {
    double product = c.value();
    for (auto [id, n] : monomial) product *= std::pow(sizes[id.value], n);
    sum += product;
  }
  return sum;
}

}  // namespace

Points::Points(const Graph& g, int64_t unknown) {
  for (const Size& s : g.sizes) {
    double n = static_cast<double>(unknown);
    if (s.upper) n = std::min(n, static_cast<double>(*s.upper));
    n = std::max(n, static_cast<double>(s.lower));
    if (s.value) n = static_cast<double>(*s.value);
    sizes_.push_back(n);
    if (s.value) continue;
    if (s.definition) sizes_.back() = value(*s.definition, sizes_);
    if (s.quotient)
      sizes_.back() = std::floor(value(s.quotient->first, sizes_) /
                                 std::max(value(s.quotient->second, sizes_), 1.0));
  }
}

double Points::of(const Poly& extent) const { return std::max(value(extent, sizes_), 1.0); }

double Points::of(const std::vector<Poly>& extents) const {
  double product = 1;
  for (const Poly& p : extents) product *= of(p);
  return product;
}

double Points::of(const Graph& g, const std::set<IndexId>& indices) const {
  double product = 1;
  for (IndexId i : indices) product *= of(g[i].extent);
  return product;
}

}  // namespace attn::solve
