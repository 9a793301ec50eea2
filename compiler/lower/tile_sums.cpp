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
  Lowering(const plan::Function& f, const plan::Kernel& kernel, const Arguments& arguments,
           const std::vector<Halide::ImageParam>& old)
      : g_(f.graph),
        kernel_(kernel),
        s_(*kernel.tile_sums),
        cells_(f.graph, arguments, s_.batch),
        old_(old) {}

  TileSpec spec() {
    TileSpec spec{.name = "out"};
    spec.batch_extents = cells_.batch_extents();
    spec.rows = cells_.extent(s_.row);
    spec.columns = cells_.extent(s_.column);
    spec.careful = !old_.empty();
    ir::Conditions everywhere = s_.tiles[0].visible;
    for (size_t k = 0; k < s_.tiles.size(); ++k) {
      spec.tiles.push_back(tile(static_cast<int>(k), spec.packs));
      std::erase_if(everywhere, [&](const ir::Expr& c) { return !s_.tiles[k].visible.count(c); });
    }
    for (ir::TensorId t : kernel_.writes) spec.results.push_back(result(t, spec.packs));
    TileCells::Edges columns = cells_.edges(everywhere, s_.row, s_.column);
    TileCells::Edges rows = cells_.edges(everywhere, s_.column, s_.row);
    spec.columns_of_rows = columns;
    spec.rows_of_columns = rows;
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
    packs.push_back({of_rows,
                     cells_.factor(value, guard, of_rows ? s_.row : s_.column, features, finite),
                     cells_.extent(features)});
    return static_cast<int>(packs.size() - 1);
  }

  TileSpec::Tile tile(int index, std::vector<TileSpec::Pack>& packs) {
    const plan::TileSums::Tile& t = s_.tiles[index];
    TileSpec::Tile result;
    for (const plan::Term& term : t.dots) {
      result.dots.push_back(
          {pack(packs, true, term.left, term.left_guard, term.reduced, false),
           pack(packs, false, term.right, term.right_guard, term.reduced, false)});
    }
    result.value = [this, index](HExpr batch, HExpr row, HExpr column, HExpr dot,
                                 std::function<HExpr(int)> earlier) {
      const plan::TileSums::Tile& own = s_.tiles[index];
      Translator at = cell(batch, row, column);
      if (own.dot.valid()) at.replace(own.dot, dot);
      for (int k = 0; k < index; ++k)
        if (s_.tiles[k].tensor.valid() && ir::tensors(own.value).count(s_.tiles[k].tensor))
          at.replace(s_.tiles[k].tensor, earlier(k));
      return at.where(own.visible, real(at(own.value)));
    };
    if (!t.visible.empty()) {
      result.visible = [this, index](HExpr batch, HExpr row, HExpr column) {
        return cell(batch, row, column).condition(s_.tiles[index].visible);
      };
    }
    return result;
  }

  TileSpec::Result result(ir::TensorId tensor, std::vector<TileSpec::Pack>& packs) {
    auto found = std::find_if(s_.results.begin(), s_.results.end(),
                              [&](const auto& r) { return r.tensor == tensor; });
    ATTN_CHECK(found != s_.results.end(), "a kernel of tiles writes what it does not sum");
    const plan::TileSums::Result& r = *found;
    const ir::IndexId kept = r.of_rows ? s_.row : s_.column;
    TileSpec::Result result;
    result.of_rows = r.of_rows;
    result.tile = static_cast<int>(r.tile);
    if (r.feature.valid()) {
      result.panel = pack(packs, !r.of_rows, r.panel, r.panel_guard, {r.feature},
                          r.panel_leaks && old_.empty());
      result.features = static_cast<int>(*g_.known(g_[r.feature].extent));
    }
    result.scaled = [this, &r, kept](HExpr batch, HExpr place, HExpr feature, HExpr sum) {
      if (r.scale.is_one()) return sum;
      return sum * real(at_result(r, kept, place, feature, batch)(r.scale));
    };
    result.dimensions = cells_.dimensions(r.free, kept);
    if (!old_.empty()) {
      const size_t at = static_cast<size_t>(
          std::find(kernel_.writes.begin(), kernel_.writes.end(), tensor) - kernel_.writes.begin());
      result.repaired = [this, at](std::vector<HExpr> place, HExpr value) {
        return select(has_finite_bits(value), real(old_[at](place)), value);
      };
    }
    return result;
  }

  Translator at_result(const plan::TileSums::Result& r, ir::IndexId kept, const HExpr& place,
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
  const plan::TileSums& s_;
  TileCells cells_;
  const std::vector<Halide::ImageParam>& old_;
  std::vector<Key> keys_;
  std::vector<std::vector<ir::IndexId>> features_;
};

}  // namespace

std::vector<Halide::Func> lower_tile_sums(const plan::Function& f, const plan::Kernel& kernel,
                                          const Arguments& arguments, const TargetInfo& target,
                                          const std::vector<Halide::ImageParam>& old) {
  Lowering lowering(f, kernel, arguments, old);
  return schedule_tiles(lowering.spec(), target);
}

}  // namespace attn::lower
