#include "compiler/lower/tile_cells.h"

#include <algorithm>
#include <cmath>

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

std::function<HExpr(HExpr, HExpr, HExpr)> TileCells::factor(const ir::Expr& value,
                                                            const ir::Conditions& guard,
                                                            ir::IndexId outer,
                                                            const std::vector<ir::IndexId>& inner,
                                                            bool finite) const {
  std::vector<HExpr> extents;
  for (ir::IndexId i : inner) extents.push_back(extent(i));
  return [=, this](HExpr batch, HExpr place, HExpr k) {
    std::vector<HExpr> within = decode_index(k, extents);
    Translator::Indices indices = {{outer, place}};
    for (size_t n = 0; n < inner.size(); ++n) indices[inner[n]] = within[n];
    Translator t = at(std::move(indices), batch);
    HExpr v = Halide::cast(Halide::Float(32), t(value));
    if (finite) v = select(has_finite_bits(v), v, Halide::Internal::make_zero(v.type()));
    return t.where(guard, v);
  };
}

bool TileCells::is_apart(const plan::Term& t, ir::IndexId row, ir::IndexId column) {
  return !uses(t.left, column) && !uses(t.right, row) && !ir::indices(t.left_guard).count(column) &&
         !ir::indices(t.right_guard).count(row);
}

std::function<HExpr(HExpr, HExpr, HExpr, HExpr)> TileCells::product(const plan::Term& t,
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

TileCells::Value TileCells::value(const std::vector<plan::Tile>& tiles, size_t index,
                                  ir::IndexId row, ir::IndexId column, float hidden) const {
  return [=, this, &tiles](HExpr batch, HExpr i, HExpr j, HExpr dot,
                           std::function<HExpr(int)> earlier) {
    const plan::Tile& own = tiles[index];
    Translator t = at({{row, i}, {column, j}}, batch);
    if (own.dot.valid()) t.replace(own.dot, dot);
    const std::set<ir::TensorId> read = ir::tensors(own.value);
    for (size_t k = 0; k < index; ++k)
      if (tiles[k].tensor.valid() && read.count(tiles[k].tensor))
        t.replace(tiles[k].tensor, earlier(static_cast<int>(k)));
    return t.where(own.visible, Halide::cast(Halide::Float(32), t(own.value)), hidden);
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

TileCells::Edges TileCells::edges(const ir::Conditions& visible, ir::IndexId by,
                                  ir::IndexId of) const {
  // distance(by) +- of >= 0
  struct Bound {
    bool upper, grows;
    ir::Expr distance;
  };
  std::vector<Bound> bounds;
  for (const ir::Expr& c : visible) {
    if (!c.is(ir::Kind::at_least_zero) || !ir::tensors(c).empty()) continue;
    const ir::Expr& e = c.args()[0];
    auto with = [&](int b, int o) {
      return ir::substitute(e, {{by, ir::Expr(b)}, {of, ir::Expr(o)}});
    };
    ir::Expr of_slope = with(0, 1) - with(0, 0), by_slope = with(1, 0) - with(0, 0);
    if (!of_slope.is(ir::Kind::literal) || !by_slope.is(ir::Kind::literal)) continue;
    const double o = of_slope->number.value(), b = by_slope->number.value();
    ir::Expr linear = of_slope * ir::index_value(of) + by_slope * ir::index_value(by) + with(0, 0);
    std::set<ir::IndexId> others = ir::indices(e);
    others.erase(by);
    others.erase(of);
    if (std::abs(o) != 1 || std::abs(b) != 1 || !(linear == e) || !others.empty()) continue;
    bounds.push_back({o<0, b> 0, ir::substitute(e, {{of, ir::Expr(0)}})});
  }
  auto edge = [&](bool upper) -> Edge {
    std::vector<Bound> own;
    for (const Bound& b : bounds)
      if (b.upper == upper) own.push_back(b);
    if (own.empty()) return {};
    return [this, own, upper, by](HExpr from, HExpr to) {
      HExpr tightest;
      for (const Bound& b : own) {
        // Who sees most of them decides.
        HExpr d = Translator(g_, arguments_, {{by, b.grows ? to : from}}, true)(b.distance);
        HExpr place = upper ? d + 1 : -d;
        tightest = !tightest.defined() ? place
                   : upper             ? min(tightest, place)
                                       : max(tightest, place);
      }
      return tightest;
    };
  };
  return {edge(false), edge(true)};
}

}  // namespace attn::lower
