#include "compiler/lower/streaming.h"

#include <algorithm>

#include "compiler/lower/linear_index.h"
#include "compiler/lower/stream_schedule.h"
#include "compiler/lower/tile_cells.h"

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

  StreamSpec spec() {
    StreamSpec spec{.name = "out"};
    spec.batch_extents = cells_.batch_extents();
    spec.rows = cells_.extent(s_.row);
    spec.columns = cells_.extent(s_.column);
    for (size_t k = 0; k < s_.tiles.size(); ++k) spec.tiles.push_back(tile(k));
    TileCells::Edges edges = cells_.edges(s_.visible_somewhere(), s_.row, s_.column);
    spec.first_column = edges.first;
    spec.end_column = edges.end;
    spec.seen_by_data = cells_.seen_by_data(s_.bounds);
    const plan::TileResult& lse = s_.results[0];
    spec.plane_dimensions = cells_.dimensions(lse.free, s_.row);
    spec.writes_planes = std::count(kernel_.writes.begin(), kernel_.writes.end(), lse.tensor) > 0;
    if (const plan::TileResult* sum = s_.find(plan::TileResult::Kind::weighted))
      add_sum(*sum, spec);
    return spec;
  }

 private:
  static HExpr real(const HExpr& value) { return cast(Halide::Float(32), value); }

  StreamTile tile(size_t index) const {
    StreamTile result;
    for (const plan::Product& t : s_.tiles[index].dots) {
      StreamDot dot{.reduced = cells_.extent(t.reduced)};
      if (s_.is_apart(t)) {
        dot.left = cells_.factor(t.left, t.left_guard, s_.row, t.reduced);
        dot.right = cells_.factor(t.right, t.right_guard, s_.column, t.reduced);
      } else {
        dot.product = cells_.product(t, s_.row, s_.column);
      }
      result.dots.push_back(dot);
    }
    const bool last = index + 1 == s_.tiles.size();
    result.value = cells_.value(s_.tiles, index, s_.row, s_.column, last ? kLowest : 0.0f);
    return result;
  }

  void add_sum(const plan::TileResult& sum, StreamSpec& spec) const {
    spec.features = sum.feature.valid() ? cells_.extent(sum.feature) : HExpr(1);
    ir::Conditions counted = s_.tiles.back().visible;
    counted.insert(sum.counted.begin(), sum.counted.end());
    if (!counted.empty())
      spec.visible = cells_.holds(counted, s_.tiles, s_.tiles.size(), s_.row, s_.column);
    if (!sum.weight.is_one() || !sum.counted.empty()) {
      spec.weight = [this, &sum](HExpr batch, HExpr row, HExpr column) {
        Translator at = cell(batch, row, column);
        return at.where(sum.counted, real(at(sum.weight)));
      };
    }
    if (sum.feature.valid() && !s_.packs_panel(sum)) {
      spec.panel_at = [this, &sum](HExpr batch, HExpr row, HExpr column, HExpr feature) {
        Translator at =
            cells_.at({{s_.row, row}, {s_.column, column}, {sum.feature, feature}}, batch);
        return at.where(sum.panel_guard, real(at(sum.panel)));
      };
    } else if (sum.feature.valid()) {
      spec.panel = cells_.factor(sum.panel, sum.panel_guard, s_.column, {sum.feature});
      spec.fallback = s_.hides_panel(sum);
    } else {
      spec.panel = [](HExpr, HExpr, HExpr) { return HExpr(1.0f); };
    }
    spec.finish = [this, &sum](HExpr batch, HExpr row, HExpr feature, HExpr value) {
      return finished(sum, batch, row, feature, value);
    };
    spec.dimensions = cells_.dimensions(sum.free, s_.row);
  }

  Translator cell(const HExpr& batch, const HExpr& row, const HExpr& column) const {
    return cells_.at({{s_.row, row}, {s_.column, column}}, batch);
  }

  HExpr finished(const plan::TileResult& sum, const HExpr& batch, const HExpr& row,
                 const HExpr& feature, const HExpr& summed) const {
    const ir::Tensor& result = g_[sum.tensor];
    Translator::Indices indices = {{s_.row, row}};
    if (sum.feature.valid()) indices.emplace(sum.feature, feature);
    Translator t = cells_.at(std::move(indices), batch);
    HExpr value = t.scaled(summed, sum.scale);
    return cast(storage_type(result.storage), value);
  }

  const ir::Graph& g_;
  const plan::Kernel& kernel_;
  const plan::TilesForm& s_;
  TileCells cells_;
};

}  // namespace

std::vector<Halide::Func> lower_streaming(const plan::Function& f, const plan::Kernel& kernel,
                                          const Arguments& arguments, const Target& target) {
  Lowering lowering(f, kernel, arguments);
  return schedule_stream(lowering.spec(), target);
}

}  // namespace attn::lower
