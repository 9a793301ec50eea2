#include "compiler/plan/estimate.h"

#include <algorithm>

#include "compiler/solve/points.h"

namespace attn::plan {

double estimate(const ir::Graph& g, const ir::Poly& extent) {
  double sum = 0;
  ir::Poly expanded = g.expand(extent);
  for (const auto& [monomial, c] : expanded.terms()) {
    double product = c.value();
    for (auto [id, power] : monomial) {
      const ir::Size& s = g[id];
      double size = s.upper ? static_cast<double>(*s.upper) : solve::kTypicalSize;
      if (s.quotient) {
        double divisor = estimate(g, s.quotient->second);
        size = divisor > 0 ? estimate(g, s.quotient->first) / divisor : solve::kTypicalSize;
      }
      for (int k = 0; k < power; ++k) product *= size;
    }
    sum += product;
  }
  return std::max(sum, 0.0);
}

double points(const ir::Graph& g, const std::set<ir::IndexId>& indices) {
  double product = 1;
  for (ir::IndexId i : indices) product *= estimate(g, g[i].extent);
  return product;
}

}  // namespace attn::plan
