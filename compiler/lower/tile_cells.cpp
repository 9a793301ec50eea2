#include "compiler/lower/tile_cells.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/check.h"
#include "compiler/lower/linear_index.h"

namespace attn::lower {

using HExpr = Halide::Expr;

HExpr TileCells::extent(const ir::Poly& p) const {
  return Translator(g_, arguments_, {}).extent(p);
}

HExpr TileCells::extent(ir::IndexId i) const { return extent(g_[i].extent); }

HExpr TileCells::extent(const std::vector<ir::IndexId>& group) const {
  HExpr product = 1;
  for (ir::IndexId i : group) product = product * extent(i);
  return Halide::Internal::simplify(product);
}

Translator TileCells::at(Translator::Indices indices, const HExpr& batch) const {
  std::vector<HExpr> place = decode_index(batch, batch_extents_);
  for (size_t k = 0; k < place.size(); ++k) indices[batch_[k]] = place[k];
  return Translator(g_, arguments_, std::move(indices), true);
}

std::function<HExpr(HExpr, HExpr, HExpr)> TileCells::factor(
    const ir::Expr& value, const ir::Conditions& guard, ir::IndexId outer,
    const std::vector<ir::IndexId>& inner) const {
  std::vector<HExpr> extents;
  for (ir::IndexId i : inner) extents.push_back(extent(i));
  return [=, this](HExpr batch, HExpr place, HExpr k) {
    std::vector<HExpr> within = decode_index(k, extents);
    Translator::Indices indices = {{outer, place}};
    for (size_t n = 0; n < inner.size(); ++n) indices[inner[n]] = within[n];
    Translator t = at(std::move(indices), batch);
    HExpr v = Halide::cast(Halide::Float(32), t(value));
    return t.where(guard, v);
  };
}

std::function<HExpr(HExpr, HExpr, HExpr, HExpr)> TileCells::product(const plan::Product& t,
                                                                    ir::IndexId row,
                                                                    ir::IndexId column) const {
  std::vector<HExpr> extents;
  for (ir::IndexId i : t.reduced) extents.push_back(extent(i));
  const ir::Expr value = ir::multiply({t.left, t.right});
  ir::Conditions guard = t.left_guard;
  guard.insert(t.right_guard.begin(), t.right_guard.end());
  const std::vector<ir::IndexId> reduced = t.reduced;
  return [=, this](HExpr batch, HExpr i, HExpr j, HExpr k) {
    std::vector<HExpr> within = decode_index(k, extents);
    Translator::Indices indices = {{row, i}, {column, j}};
    for (size_t n = 0; n < reduced.size(); ++n) indices[reduced[n]] = within[n];
    Translator at_point = at(std::move(indices), batch);
    return at_point.where(guard, Halide::cast(Halide::Float(32), at_point(value)));
  };
}

namespace {

void replace_earlier(Translator& t, const std::vector<plan::Tile>& tiles, size_t index,
                     const std::set<ir::TensorId>& read, const std::function<HExpr(int)>& earlier) {
  for (size_t k = 0; k < index; ++k)
    if (tiles[k].tensor.valid() && read.count(tiles[k].tensor))
      t.replace(tiles[k].tensor, earlier(static_cast<int>(k)));
}

}  // namespace

TileCells::Value TileCells::value(const std::vector<plan::Tile>& tiles, size_t index,
                                  ir::IndexId row, ir::IndexId column, float hidden) const {
  return [=, this, &tiles](HExpr batch, HExpr i, HExpr j, HExpr dot,
                           std::function<HExpr(int)> earlier) {
    const plan::Tile& own = tiles[index];
    Translator t = at({{row, i}, {column, j}}, batch);
    if (own.dot.valid()) t.replace(own.dot, dot);
    std::set<ir::TensorId> read = ir::tensors(own.value);
    read.merge(ir::tensors(own.visible));
    replace_earlier(t, tiles, index, read, earlier);
    return t.where(own.visible, Halide::cast(Halide::Float(32), t(own.value)), hidden);
  };
}

TileCells::Holds TileCells::holds(const ir::Conditions& conditions,
                                  const std::vector<plan::Tile>& tiles, size_t count,
                                  ir::IndexId row, ir::IndexId column) const {
  return [=, this, &tiles](HExpr batch, HExpr i, HExpr j, std::function<HExpr(int)> earlier) {
    Translator t = at({{row, i}, {column, j}}, batch);
    replace_earlier(t, tiles, count, ir::tensors(conditions), earlier);
    return t.condition(conditions);
  };
}

std::vector<int> TileCells::dimensions(const std::vector<ir::IndexId>& free,
                                       ir::IndexId kept) const {
  std::vector<int> result;
  const int batches = static_cast<int>(batch_.size());
  for (ir::IndexId i : free) {
    auto found = std::find(batch_.begin(), batch_.end(), i);
    result.push_back(found != batch_.end() ? static_cast<int>(found - batch_.begin())
                     : i == kept           ? batches
                                           : batches + 1);
  }
  return result;
}

Edge TileCells::edge(const ir::Expr& c, ir::IndexId by, ir::IndexId of, bool upper) const {
  if (c.is(ir::Kind::both) || c.is(ir::Kind::either)) {
    std::vector<Edge> parts;
    for (const ir::Expr& part : c.args()) {
      if (Edge found = edge(part, by, of, upper))
        parts.push_back(found);
      else if (c.is(ir::Kind::either))
        return {};
    }
    if (parts.empty()) return {};
    const bool least = c.is(ir::Kind::both) == upper;
    return [=](HExpr from, HExpr to) {
      HExpr place = parts[0](from, to);
      for (size_t k = 1; k < parts.size(); ++k)
        place = least ? min(place, parts[k](from, to)) : max(place, parts[k](from, to));
      return place;
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
  return [=, this](HExpr from, HExpr to) -> HExpr {
    // Who sees most of them decides.
    HExpr d = Translator(g_, arguments_, {{by, b > 0 ? to : from}}, true)(distance);
    return upper ? d + 1 : -d;
  };
}

TileCells::Edges TileCells::edges(const ir::Conditions& visible, ir::IndexId by,
                                  ir::IndexId of) const {
  if (visible.empty()) return {};
  const ir::Expr all = ir::all_of(std::vector<ir::Expr>(visible.begin(), visible.end()));
  Edges found{edge(all, by, of, false), edge(all, by, of, true)};
  auto bounds = [&](const ir::Expr& c, ir::IndexId i, ir::IndexId j) {
    return edge(c, i, j, false) || edge(c, i, j, true);
  };
  for (const ir::Expr& c : visible)
    if (bounds(c, by, of) && (!c.is(ir::Kind::at_least_zero) || !bounds(c, of, by)))
      found.both_ways = false;
  return found;
}

SeenByData TileCells::seen_by_data(const std::optional<plan::BlockBounds>& bounds) const {
  if (!bounds) return {};
  return {seen(*bounds, false), seen(*bounds, true), plan::kBoundRows};
}

// The places are written plainly, without promises: bounds inference then takes an element for a
// number where the batch and the rows are given.
SeenByData::Bound TileCells::seen(const plan::BlockBounds& bounds, bool upper) const {
  Halide::ImageParam element = arguments_.tensors.at(upper ? bounds.end : bounds.first);
  const std::vector<ir::IndexId> used = bounds.batch;
  return [=, this](HExpr batch, HExpr from, HExpr to) {
    const int64_t rows = constant(Halide::Internal::simplify(to - from)) + 1;
    ATTN_CHECK(rows > 0, "a number of rows that is not known");
    std::vector<HExpr> at(used.size() + 1);
    HExpr inner = 1;
    for (size_t k = batch_.size(), n = used.size(); k-- > 0 && n > 0;) {
      if (batch_[k] == used[n - 1]) {
        const int dimension = static_cast<int>(used.size() - --n);
        at[dimension] = min(batch / inner % batch_extents_[k], element.dim(dimension).extent() - 1);
      }
      inner = inner * batch_extents_[k];
    }
    HExpr result;
    const HExpr last = min(max(to, 0) / plan::kBoundRows, element.dim(0).extent() - 1);
    for (int64_t k = 0; k <= (rows + plan::kBoundRows - 2) / plan::kBoundRows; ++k) {
      at[0] = min(max(from, 0) / plan::kBoundRows + static_cast<int>(k), last);
      // Not of the function that stands for a parameter: Halide would not take the condition on it
      // out of inner loops.
      HExpr bound = Halide::Internal::Call::make(element.parameter(), at);
      result = !result.defined() ? bound : upper ? max(result, bound) : min(result, bound);
    }
    return result;
  };
}

}  // namespace attn::lower
