#include "compiler/lower/streaming.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/lower/linear_index.h"
#include "compiler/lower/stream_schedule.h"

namespace attn::lower {
namespace {

using Halide::cast;
using HExpr = Halide::Expr;

// A condition `column <= row * c + ...` or its mirror, as the column that it bounds.
struct Bound {
  bool upper;
  bool grows;         // the distance, with the row
  ir::Expr distance;  // of row: column <= distance, or column >= -distance
};

class Lowering {
 public:
  Lowering(const plan::Function& f, const plan::Kernel& kernel, const Arguments& arguments,
           const Halide::ImageParam* old)
      : g_(f.graph), kernel_(kernel), s_(*kernel.streaming), arguments_(arguments), old_(old) {}

  StreamSpec spec() {
    StreamSpec spec{.name = "out"};
    for (ir::IndexId i : s_.batch) spec.batch_extents.push_back(extent(i));
    batch_extents_ = spec.batch_extents;
    spec.rows = extent(s_.row);
    spec.columns = extent(s_.column);
    spec.features = static_cast<int>(*g_.known(g_[s_.feature].extent));
    for (const plan::Term& t : s_.dots) {
      HExpr length = 1;
      for (ir::IndexId i : t.reduced) length = length * extent(i);
      spec.dots.push_back({factor(t.left, t.left_guard, s_.row, t.reduced),
                           factor(t.right, t.right_guard, s_.column, t.reduced),
                           Halide::Internal::simplify(length)});
    }
    spec.score = [this](HExpr batch, HExpr row, HExpr column, HExpr dot) {
      Translator t = at({{s_.row, row}, {s_.column, column}}, batch);
      t.replace(s_.dot, dot);
      return t.where(s_.visible, real(t(s_.score)), kLowest);
    };
    if (!s_.visible.empty()) {
      spec.visible = [this](HExpr batch, HExpr row, HExpr column) {
        return at({{s_.row, row}, {s_.column, column}}, batch).condition(s_.visible);
      };
    }
    add_bounds(spec);
    if (!s_.weight.is_one()) {
      spec.weight = [this](HExpr batch, HExpr row, HExpr column) {
        return real(at({{s_.row, row}, {s_.column, column}}, batch)(s_.weight));
      };
    }
    const bool careful = old_ != nullptr;
    spec.panel = [this, careful](HExpr batch, HExpr column, HExpr feature) {
      Translator t = at({{s_.column, column}, {s_.feature, feature}}, batch);
      HExpr value = real(t(s_.panel));
      HExpr zero = Halide::Internal::make_zero(value.type());
      if (s_.panel_leaks && !careful) value = select(has_finite_bits(value), value, zero);
      return s_.panel_guard.empty() ? value : select(t.condition(s_.panel_guard), value, zero);
    };
    spec.finish = [this](HExpr batch, HExpr row, HExpr feature, HExpr sum) {
      return finished(batch, row, feature, sum);
    };
    spec.dimensions = dimensions(s_.sum_free);
    spec.plane_dimensions = dimensions(s_.lse_free);
    spec.writes_planes = kernel_.writes.size() > 1;
    spec.careful = careful;
    return spec;
  }

 private:
  static HExpr real(const HExpr& value) { return cast(Halide::Float(32), value); }
  HExpr extent(ir::IndexId i) { return Translator(g_, arguments_, {}).extent(g_[i].extent); }

  Translator at(Translator::Indices indices, const HExpr& batch) {
    std::vector<HExpr> place = decode_index(batch, batch_extents_);
    for (size_t k = 0; k < place.size(); ++k) indices[s_.batch[k]] = place[k];
    return Translator(g_, arguments_, std::move(indices), true);
  }

  std::function<HExpr(HExpr, HExpr, HExpr)> factor(const ir::Expr& value,
                                                   const ir::Conditions& guard, ir::IndexId outer,
                                                   const std::vector<ir::IndexId>& reduced) {
    return [this, value, guard, outer, reduced](HExpr batch, HExpr place, HExpr k) {
      std::vector<HExpr> extents;
      for (ir::IndexId i : reduced) extents.push_back(extent(i));
      std::vector<HExpr> inner = decode_index(k, extents);
      Translator::Indices indices = {{outer, place}};
      for (size_t n = 0; n < reduced.size(); ++n) indices[reduced[n]] = inner[n];
      Translator t = at(std::move(indices), batch);
      HExpr v = real(t(value));
      return guard.empty() ? v
                           : select(t.condition(guard), v, Halide::Internal::make_zero(v.type()));
    };
  }

  HExpr finished(const HExpr& batch, const HExpr& row, const HExpr& feature, const HExpr& sum) {
    const ir::Tensor& result = g_[kernel_.writes.back()];
    Halide::Type type = arithmetic_type(ir::arithmetic_type(result.storage));
    Translator t = at({{s_.row, row}, {s_.feature, feature}}, batch);
    t.replace(s_.sum, sum);
    HExpr value = t.where(s_.guard, cast(type, t(s_.epilogue)));
    if (old_) {
      std::vector<HExpr> place;
      std::vector<HExpr> batches = decode_index(batch, batch_extents_);
      for (int d : dimensions(s_.sum_free)) {
        const int n = static_cast<int>(batches.size());
        place.insert(place.begin(), d < n ? batches[d] : d == n ? row : feature);
      }
      value = select(has_finite_bits(value), cast(type, (*old_)(place)), value);
    }
    return cast(storage_type(result.storage), value);
  }

  // Positions among the batch's indices, the row after them and the feature last.
  std::vector<int> dimensions(const std::vector<ir::IndexId>& free) const {
    std::vector<int> result;
    const int batches = static_cast<int>(s_.batch.size());
    for (ir::IndexId i : free) {
      auto found = std::find(s_.batch.begin(), s_.batch.end(), i);
      result.push_back(found != s_.batch.end() ? static_cast<int>(found - s_.batch.begin())
                       : i == s_.row           ? batches
                                               : batches + 1);
    }
    return result;
  }

  // From conditions that are linear in row and column, with 1 or -1 for the column, and read
  // nothing else.
  std::vector<Bound> bounds() const {
    std::vector<Bound> result;
    for (const ir::Expr& c : s_.visible) {
      if (!c.is(ir::Kind::at_least_zero) || !ir::tensors(c).empty()) continue;
      const ir::Expr& e = c.args()[0];
      auto with = [&](int row, int column) {
        return ir::substitute(e, {{s_.row, ir::Expr(row)}, {s_.column, ir::Expr(column)}});
      };
      ir::Expr of_column = with(0, 1) - with(0, 0), of_row = with(1, 0) - with(0, 0);
      if (!of_column.is(ir::Kind::literal) || !of_row.is(ir::Kind::literal)) continue;
      const double column = of_column->number.value(), row = of_row->number.value();
      ir::Expr linear = ir::Expr(static_cast<int64_t>(row)) * ir::index_value(s_.row) +
                        ir::Expr(static_cast<int64_t>(column)) * ir::index_value(s_.column) +
                        with(0, 0);
      if (std::abs(column) != 1 || !(linear == e)) continue;
      std::set<ir::IndexId> others = ir::indices(e);
      others.erase(s_.row);
      others.erase(s_.column);
      if (!others.empty()) continue;
      result.push_back({column<0, row> 0, ir::substitute(e, {{s_.column, ir::Expr(0)}})});
    }
    return result;
  }

  void add_bounds(StreamSpec& spec) {
    for (bool upper : {false, true}) {
      std::vector<Bound> own;
      for (const Bound& b : bounds())
        if (b.upper == upper) own.push_back(b);
      if (own.empty()) continue;
      auto of_rows = [this, own, upper](HExpr row, HExpr last) {
        HExpr tightest;
        for (const Bound& b : own) {
          HExpr at_row = b.grows ? last : row;  // the one that sees most
          HExpr d = Translator(g_, arguments_, {{s_.row, at_row}}, true)(b.distance);
          HExpr edge = upper ? d + 1 : -d;
          tightest = !tightest.defined() ? edge : upper ? min(tightest, edge) : max(tightest, edge);
        }
        return tightest;
      };
      (upper ? spec.end_column : spec.first_column) = of_rows;
    }
  }

  const ir::Graph& g_;
  const plan::Kernel& kernel_;
  const plan::Streaming& s_;
  const Arguments& arguments_;
  const Halide::ImageParam* old_;
  std::vector<HExpr> batch_extents_;
};

}  // namespace

std::vector<Halide::Func> lower_streaming(const plan::Function& f, const plan::Kernel& kernel,
                                          const Arguments& arguments, const TargetInfo& target,
                                          const Halide::ImageParam* old) {
  Lowering lowering(f, kernel, arguments, old);
  return schedule_stream(lowering.spec(), target);
}

}  // namespace attn::lower
