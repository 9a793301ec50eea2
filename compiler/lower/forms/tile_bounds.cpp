#include "compiler/lower/forms/tile_bounds.h"

#include <cmath>

#include "compiler/base/check.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

namespace {

Edge edge(const Scope& scope, const ir::Expr& c, ir::IndexId by, ir::IndexId of, bool upper) {
  if (c.is(ir::Kind::both) || c.is(ir::Kind::either)) {
    std::vector<Edge> parts;
    for (const ir::Expr& part : c.args())
      if (Edge found = edge(scope, part, by, of, upper))
        parts.push_back(found);
      else if (c.is(ir::Kind::either))
        return {};
    if (parts.empty()) return {};
    const bool least = c.is(ir::Kind::both) == upper;
    return [=](Expr from, Expr to) {
      Expr bound = parts[0](from, to);
      for (size_t k = 1; k < parts.size(); ++k)
        bound = least ? min(bound, parts[k](from, to)) : max(bound, parts[k](from, to));
      return bound;
    };
  }
  if (!c.is(ir::Kind::at_least_zero) || !ir::tensors(c).empty()) return {};
  const ir::Expr& e = c.args()[0];
  auto with = [&](int b, int o) {
    return ir::substitute(e, {{by, ir::Expr(b)}, {of, ir::Expr(o)}});
  };
  ir::Expr of_slope = with(0, 1) - with(0, 0), by_slope = with(1, 0) - with(0, 0);
  if (!of_slope.is(ir::Kind::literal) || !by_slope.is(ir::Kind::literal)) return {};
  const double o = of_slope->number.value(), b = by_slope->number.value();
  ir::Expr linear = of_slope * ir::index_value(of) + by_slope * ir::index_value(by) + with(0, 0);
  std::set<ir::IndexId> others = ir::indices(e);
  others.erase(by);
  others.erase(of);
  if (o != (upper ? -1 : 1) || std::abs(b) > 1 || !(linear == e) || !others.empty()) return {};
  const ir::Expr distance = ir::substitute(e, {{of, ir::Expr(0)}});
  return [=](Expr from, Expr to) -> Expr {
    // Who sees most of them decides.
    Expr d = scope.at({{by, b > 0 ? to : from}})(distance);
    return upper ? d + 1 : -d;
  };
}

// The indices are written plainly, without promises: bounds inference then takes an element for a
// number where the batch and the rows are given.
SeenByData::Bound seen(const Scope& scope, const plan::BlockBounds& bounds,
                       const IndexGroup& batch_indices, bool upper) {
  ImageParam element = scope.arguments.tensors.at(upper ? bounds.end : bounds.first);
  const std::vector<ir::IndexId> used = bounds.batch;
  const std::vector<Expr> batch_extents = scope.extents(batch_indices);
  return [=](Expr batch, Expr from, Expr to) {
    const int64_t rows = constant(simplify(to - from)) + 1;
    ATTN_CHECK(rows > 0, "a number of rows that is not known");
    std::vector<Expr> at(used.size() + 1);
    Expr inner = 1;
    for (size_t k = batch_indices.size(), n = used.size(); k-- > 0 && n > 0;) {
      if (batch_indices[k] == used[n - 1]) {
        const int dimension = static_cast<int>(used.size() - --n);
        at[dimension] = min(batch / inner % batch_extents[k], element.dim(dimension).extent() - 1);
      }
      inner = inner * batch_extents[k];
    }
    Expr result;
    const Expr last = min(max(to, 0) / plan::kBoundRows, element.dim(0).extent() - 1);
    for (int64_t k = 0; k <= (rows + plan::kBoundRows - 2) / plan::kBoundRows; ++k) {
      at[0] = min(max(from, 0) / plan::kBoundRows + static_cast<int>(k), last);
      // Pure, as the function that stands for a parameter is not.
      Expr bound = Halide::Internal::Call::make(element.parameter(), at);
      result = !result.defined() ? bound : upper ? max(result, bound) : min(result, bound);
    }
    return result;
  };
}

}  // namespace

Edges edges(const Scope& scope, const ir::Conditions& visible, ir::IndexId by, ir::IndexId of) {
  if (visible.empty()) return {};
  const ir::Expr all = ir::all_of(std::vector<ir::Expr>(visible.begin(), visible.end()));
  Edges found{edge(scope, all, by, of, false), edge(scope, all, by, of, true)};
  auto bounds = [&](const ir::Expr& c, ir::IndexId i, ir::IndexId j) {
    return edge(scope, c, i, j, false) || edge(scope, c, i, j, true);
  };
  for (const ir::Expr& c : visible)
    if (bounds(c, by, of) && (!c.is(ir::Kind::at_least_zero) || !bounds(c, of, by)))
      found.both_ways = false;
  return found;
}

SeenByData seen_by_data(const Scope& scope, const plan::BlockBounds& bounds,
                        const IndexGroup& batch) {
  return {seen(scope, bounds, batch, false), seen(scope, bounds, batch, true), plan::kBoundRows};
}

}  // namespace attn::lower
