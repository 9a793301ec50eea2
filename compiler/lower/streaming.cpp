#include "compiler/lower/streaming.h"

#include "compiler/lower/linear_index.h"
#include "compiler/lower/stream_schedule.h"
#include "compiler/lower/tile_cells.h"

namespace attn::lower {
namespace {

using Halide::cast;
using HExpr = Halide::Expr;

class Lowering {
 public:
  Lowering(const plan::Function& f, const plan::Kernel& kernel, const Arguments& arguments,
           const Halide::ImageParam* old)
      : g_(f.graph),
        kernel_(kernel),
        s_(*kernel.streaming),
        cells_(f.graph, arguments, s_.batch),
        old_(old) {}

  StreamSpec spec() {
    StreamSpec spec{.name = "out"};
    spec.batch_extents = cells_.batch_extents();
    spec.rows = cells_.extent(s_.row);
    spec.columns = cells_.extent(s_.column);
    spec.features = static_cast<int>(*g_.known(g_[s_.feature].extent));
    for (const plan::Term& t : s_.dots) {
      spec.dots.push_back({cells_.factor(t.left, t.left_guard, s_.row, t.reduced),
                           cells_.factor(t.right, t.right_guard, s_.column, t.reduced),
                           cells_.extent(t.reduced)});
    }
    spec.score = [this](HExpr batch, HExpr row, HExpr column, HExpr dot) {
      Translator t = cell(batch, row, column);
      t.replace(s_.dot, dot);
      return t.where(s_.visible, real(t(s_.score)), kLowest);
    };
    if (!s_.visible.empty()) {
      spec.visible = [this](HExpr batch, HExpr row, HExpr column) {
        return cell(batch, row, column).condition(s_.visible);
      };
    }
    TileCells::Edges edges = cells_.edges(s_.visible, s_.row, s_.column);
    spec.first_column = edges.first;
    spec.end_column = edges.end;
    if (!s_.weight.is_one()) {
      spec.weight = [this](HExpr batch, HExpr row, HExpr column) {
        return real(cell(batch, row, column)(s_.weight));
      };
    }
    spec.panel =
        cells_.factor(s_.panel, s_.panel_guard, s_.column, {s_.feature}, s_.panel_leaks && !old_);
    spec.finish = [this](HExpr batch, HExpr row, HExpr feature, HExpr sum) {
      return finished(batch, row, feature, sum);
    };
    spec.dimensions = cells_.dimensions(s_.sum_free, s_.row);
    spec.plane_dimensions = cells_.dimensions(s_.lse_free, s_.row);
    spec.writes_planes = kernel_.writes.size() > 1;
    spec.careful = old_ != nullptr;
    return spec;
  }

 private:
  static HExpr real(const HExpr& value) { return cast(Halide::Float(32), value); }

  Translator cell(const HExpr& batch, const HExpr& row, const HExpr& column) const {
    return cells_.at({{s_.row, row}, {s_.column, column}}, batch);
  }

  HExpr finished(const HExpr& batch, const HExpr& row, const HExpr& feature, const HExpr& sum) {
    const ir::Tensor& result = g_[kernel_.writes.back()];
    Halide::Type type = arithmetic_type(ir::arithmetic_type(result.storage));
    Translator t = cells_.at({{s_.row, row}, {s_.feature, feature}}, batch);
    t.replace(s_.sum, sum);
    HExpr value = t.where(s_.guard, cast(type, t(s_.epilogue)));
    if (old_) {
      std::vector<HExpr> place, all = decode_index(batch, cells_.batch_extents());
      all.push_back(row);
      all.push_back(feature);
      for (int d : cells_.dimensions(s_.sum_free, s_.row)) place.insert(place.begin(), all[d]);
      value = select(has_finite_bits(value), cast(type, (*old_)(place)), value);
    }
    return cast(storage_type(result.storage), value);
  }

  const ir::Graph& g_;
  const plan::Kernel& kernel_;
  const plan::Streaming& s_;
  TileCells cells_;
  const Halide::ImageParam* old_;
};

}  // namespace

std::vector<Halide::Func> lower_streaming(const plan::Function& f, const plan::Kernel& kernel,
                                          const Arguments& arguments, const TargetInfo& target,
                                          const Halide::ImageParam* old) {
  Lowering lowering(f, kernel, arguments, old);
  return schedule_stream(lowering.spec(), target);
}

}  // namespace attn::lower
