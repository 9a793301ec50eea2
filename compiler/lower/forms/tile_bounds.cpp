#include "compiler/lower/forms/tile_bounds.h"

#include <cmath>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/solve/prove.h"

namespace attn::lower {

namespace {

// sign * (`of` // divisor) + distance, where `distance` grows with `by`, or shrinks, and mentions
// no other index.
struct Linear {
  int sign = 0;
  ir::Expr divisor = 1;
  ir::Expr distance;
  bool grows = false;
};

// The divisor where e is an index, in which case it is 1, or the quotient of one by what is no less
// than 0 and, as each call checks, not 0.
std::optional<ir::Expr> divisor_of(const ir::Graph& g, const ir::Expr& e) {
  if (e.is(ir::Kind::index)) return ir::Expr(1);
  if (!e.is(ir::Kind::quotient) || !e.args()[0].is(ir::Kind::index)) return std::nullopt;
  const std::optional<ir::Poly> divisor = ir::as_size(e.args()[1]);
  if (!divisor || !solve::nonnegative(g, *divisor)) return std::nullopt;
  return e.args()[1];
}

std::optional<Linear> linear_in(const ir::Graph& g, const ir::Expr& e, ir::IndexId by,
                                ir::IndexId of) {
  Linear result;
  std::vector<ir::Expr> others;
  bool has_by = false;
  for (const ir::Expr& addend : ir::addends_of(e)) {
    const ir::Scaled s = ir::split_coefficient(addend);
    const std::set<ir::IndexId> used = ir::indices(addend);
    if (used.empty()) {
      others.push_back(addend);
      continue;
    }
    const double c = s.coefficient.value();
    const std::optional<ir::Expr> divisor = divisor_of(g, s.rest);
    if (!divisor) return std::nullopt;
    if (used.count(of)) {
      if (std::abs(c) != 1 || result.sign != 0) return std::nullopt;
      result.sign = c > 0 ? 1 : -1;
      result.divisor = *divisor;
      continue;
    }
    if (!used.count(by) || has_by || (divisor->is_one() && std::abs(c) != 1)) return std::nullopt;
    has_by = true;
    result.grows = c > 0;
    others.push_back(addend);
  }
  if (result.sign == 0) return std::nullopt;
  result.distance = ir::add(std::move(others));
  return result;
}

// Whether Halide would multiply a constant of the distance and the divisor to more than an int.
bool folds_beyond(const ir::Graph& g, const Linear& linear) {
  constexpr double kMost = 1 << 30;
  const auto divisor = g.known(*ir::as_size(linear.divisor));
  double constant = 2;
  for (const ir::Expr& addend : ir::addends_of(linear.distance)) {
    const auto size = ir::as_size(addend);
    const auto known = size ? g.known(*size) : std::nullopt;
    if (known) constant += std::abs(static_cast<double>(*known));
  }
  return divisor && constant * static_cast<double>(*divisor) > kMost;
}

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
  const bool is_equality = c.is(ir::Kind::is_zero);
  if ((!is_equality && !c.is(ir::Kind::at_least_zero)) || !ir::tensors(c).empty()) return {};
  std::optional<Linear> linear = linear_in(scope.g, c.args()[0], by, of);
  // e == 0 is e >= 0 and -e >= 0.
  if (linear && is_equality && linear->sign != (upper ? -1 : 1))
    linear = linear_in(scope.g, ir::negate(c.args()[0]), by, of);
  if (!linear || linear->sign != (upper ? -1 : 1)) return {};
  return [=, found = *linear](Expr from, Expr to) -> Expr {
    // Who sees most of them decides.
    Translator t = scope.at({{by, found.grows ? to : from}});
    const Expr d = t(found.distance);
    const Expr place = upper ? d + 1 : -d;
    if (found.divisor.is_one()) return place;
    // No more than there are, so that the product is an int.
    const Expr divisor = t(found.divisor);
    const Expr quotient = clamp(place, 0, scope.extent(of) / divisor + 1);
    return (folds_beyond(scope.g, found) ? opaque(quotient) : quotient) * divisor;
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
