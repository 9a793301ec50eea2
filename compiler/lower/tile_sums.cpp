#include "compiler/lower/tile_sums.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/lower/tile_cells.h"
#include "compiler/lower/tile_schedule.h"

namespace attn::lower {
namespace {

using Halide::cast;
using HExpr = Halide::Expr;

class Lowering {
 public:
  Lowering(const plan::Function& f, const plan::Kernel& kernel, const Arguments& arguments)
      : g_(f.graph),
        kernel_(kernel),
        s_(std::get<plan::TilesForm>(kernel.form)),
        cells_(f.graph, arguments, s_.batch) {}

  TileSpec spec() {
    TileSpec spec{.name = "out"};
    spec.batch_extents = cells_.batch_extents();
    spec.rows = cells_.extent(s_.row);
    spec.columns = cells_.extent(s_.column);
    for (size_t k = 0; k < s_.tiles.size(); ++k)
      spec.tiles.push_back(tile(static_cast<int>(k), spec.packs));
    for (ir::TensorId t : kernel_.writes) spec.results.push_back(result(t, spec.packs));
    const ir::Conditions visible = s_.visible_somewhere();
    spec.columns_of_rows = cells_.edges(visible, s_.row, s_.column);
    spec.rows_of_columns = cells_.edges(visible, s_.column, s_.row);
    spec.seen_by_data = cells_.seen_by_data(s_.bounds);
    return spec;
  }

 private:
  static HExpr real(const HExpr& value) { return cast(Halide::Float(32), value); }

  struct Key {
    bool of_rows, finite;
    ir::Expr value;
    ir::Conditions guard;
    bool operator==(const Key&) const = default;
  };

  // The pack of a factor, shared by all that read the same one. Its features are numbered alike in
  // all readers: as the first names them.
  int pack(std::vector<TileSpec::Pack>& packs, bool of_rows, ir::Expr value, ir::Conditions guard,
           const std::vector<ir::IndexId>& features, bool finite) {
    for (size_t k = 0; k < packs.size(); ++k) {
      if (features_[k].size() != features.size()) continue;
      std::map<ir::IndexId, ir::Expr> names;
      bool alike = true;
      for (size_t n = 0; n < features.size(); ++n) {
        alike = alike && g_.same(g_[features[n]].extent, g_[features_[k][n]].extent);
        names.emplace(features[n], ir::index_value(features_[k][n]));
      }
      if (!alike) continue;
      Key own{of_rows, finite, ir::substitute(value, names), ir::substitute(guard, names)};
      if (own == keys_[k]) return static_cast<int>(k);
    }
    keys_.push_back({of_rows, finite, value, guard});
    features_.push_back(features);
    packs.push_back({of_rows, cells_.factor(value, guard, of_rows ? s_.row : s_.column, features),
                     cells_.extent(features), finite});
    return static_cast<int>(packs.size() - 1);
  }

  TileSpec::Tile tile(int index, std::vector<TileSpec::Pack>& packs) {
    const plan::Tile& t = s_.tiles[index];
    TileSpec::Tile result;
    for (const plan::Product& term : t.dots) {
      TileSpec::Dot dot{.length = cells_.extent(term.reduced)};
      if (s_.is_apart(term)) {
        dot.left = pack(packs, true, term.left, term.left_guard, term.reduced, false);
        dot.right = pack(packs, false, term.right, term.right_guard, term.reduced, false);
      } else {
        dot.product = cells_.product(term, s_.row, s_.column);
      }
      result.dots.push_back(dot);
    }
    result.value = cells_.value(s_.tiles, index, s_.row, s_.column, 0.0f);
    if (!t.visible.empty())
      result.visible = cells_.holds(t.visible, s_.tiles, index, s_.row, s_.column);
    return result;
  }

  TileSpec::Result result(ir::TensorId tensor, std::vector<TileSpec::Pack>& packs) {
    auto found = std::find_if(s_.results.begin(), s_.results.end(),
                              [&](const auto& r) { return r.tensor == tensor; });
    ATTN_CHECK(found != s_.results.end(), "a kernel of tiles writes what it does not sum");
    const plan::TileResult& r = *found;
    const ir::IndexId kept = r.of_rows() ? s_.row : s_.column;
    TileSpec::Result result;
    result.of_rows = r.of_rows();
    result.tile = static_cast<int>(r.tile);
    if (!r.place.empty()) {
      add_place(r, result);
    } else {
      if (r.feature.valid()) add_panel(r, result, packs);
      result.scaled = [this, &r, kept](HExpr batch, HExpr place, HExpr feature, HExpr sum) {
        return at_result(r, kept, place, feature, batch).scaled(sum, r.scale);
      };
      result.dimensions = cells_.dimensions(r.free, kept);
    }
    return result;
  }

  void add_panel(const plan::TileResult& r, TileSpec::Result& result,
                 std::vector<TileSpec::Pack>& packs) {
    if (s_.packs_panel(r)) {
      result.features = cells_.extent(r.feature);
      result.panel =
          pack(packs, !r.of_rows(), r.panel, r.panel_guard, {r.feature}, s_.hides_panel(r));
      return;
    }
    add_panel_at(r, result);
  }

  void add_panel_at(const plan::TileResult& r, TileSpec::Result& result) const {
    result.features = cells_.extent(r.feature);
    result.panel_at = [this, &r](HExpr batch, HExpr row, HExpr column, HExpr feature) {
      Translator at = cells_.at({{s_.row, row}, {s_.column, column}, {r.feature, feature}}, batch);
      return at.where(r.panel_guard, real(at(r.panel)));
    };
  }

  void add_place(const plan::TileResult& r, TileSpec::Result& result) {
    for (const ir::Poly& p : g_[r.tensor].extents) result.extents.push_back(cells_.extent(p));
    result.place = [this, &r](HExpr batch, HExpr row, HExpr column) {
      Translator at = cell(batch, row, column);
      std::vector<HExpr> place;
      for (const ir::Expr& e : r.place)
        place.push_back(r.feature.valid() && e == ir::index_value(r.feature) ? HExpr() : at(e));
      return place;
    };
    const int batches = static_cast<int>(s_.batch.size());
    for (const ir::Expr& e : r.place) {
      int dimension = batches;
      for (int k = 0; k < batches; ++k)
        if (e == ir::index_value(s_.batch[k])) dimension = k;
      if (r.feature.valid() && e == ir::index_value(r.feature)) dimension = batches + 1;
      result.dimensions.push_back(dimension);
    }
    if (r.feature.valid()) add_panel_at(r, result);
    auto stands_alone = [&](ir::IndexId i) {
      return std::any_of(r.place.begin(), r.place.end(),
                         [&](const ir::Expr& e) { return e == ir::index_value(i); });
    };
    result.is_dense = stands_alone(s_.row) && r.place.back() == ir::index_value(s_.column);
    for (size_t k = 0; k < s_.batch.size(); ++k)
      if (!stands_alone(s_.batch[k])) result.summed_batch.insert(static_cast<int>(k));
  }

  Translator at_result(const plan::TileResult& r, ir::IndexId kept, const HExpr& place,
                       const HExpr& feature, const HExpr& batch) const {
    Translator::Indices indices = {{kept, place}};
    if (r.feature.valid()) indices[r.feature] = feature;
    return cells_.at(std::move(indices), batch);
  }

  Translator cell(const HExpr& batch, const HExpr& row, const HExpr& column) const {
    return cells_.at({{s_.row, row}, {s_.column, column}}, batch);
  }

  const ir::Graph& g_;
  const plan::Kernel& kernel_;
  const plan::TilesForm& s_;
  TileCells cells_;
  std::vector<Key> keys_;
  std::vector<std::vector<ir::IndexId>> features_;
};

}  // namespace

std::vector<Halide::Func> lower_tile_sums(const plan::Function& f, const plan::Kernel& kernel,
                                          const Arguments& arguments, const Target& target) {
  Lowering lowering(f, kernel, arguments);
  return schedule_tiles(lowering.spec(), target);
}

}  // namespace attn::lower
