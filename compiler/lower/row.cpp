// A planned row kernel as a RowSpec: each definition is a stage.
#include "compiler/lower/row.h"

#include <algorithm>
#include <map>

#include "compiler/base/check.h"
#include "compiler/lower/linear_index.h"
#include "compiler/lower/row_schedule.h"

namespace attn::lower {
namespace {

using Halide::cast;
using ir::Combine;
using HExpr = Halide::Expr;

class Lowering {
 public:
  Lowering(const plan::Function& f, const plan::Kernel& kernel, const Arguments& arguments)
      : g_(f.graph),
        kernel_(kernel),
        row_(std::get<plan::RowForm>(kernel.form)),
        arguments_(arguments) {}

  RowSpec spec() {
    RowSpec spec{.name = "out", .rows = 1, .columns = 1, .stages = {}};
    for (ir::IndexId i : row_.rows) row_extents_.push_back(extent(i));
    for (ir::IndexId i : row_.columns) column_extents_.push_back(extent(i));
    spec.row_extents = row_extents_;
    spec.column_extents = column_extents_;
    for (const HExpr& e : row_extents_) spec.rows = spec.rows * e;
    for (const HExpr& e : column_extents_) spec.columns = spec.columns * e;
    spec.rows = Halide::Internal::simplify(spec.rows);
    spec.columns = Halide::Internal::simplify(spec.columns);
    spec.typical_columns = typical_columns();
    for (size_t n = 0; n < row_.definitions.size(); ++n) {
      spec.stages.push_back(stage(row_.definitions[n]));
      stages_[row_.definitions[n].target] = static_cast<int>(n);
    }
    return spec;
  }

 private:
  HExpr extent(ir::IndexId i) { return Translator(g_, arguments_, {}).extent(g_[i].extent); }

  int typical_columns() const {
    double product = 1;
    for (ir::IndexId i : row_.columns) {
      ir::Poly p = g_.expand(g_[i].extent);
      double value = 0;
      for (const auto& [monomial, c] : p.terms()) {
        double term = c.value();
        for (auto [id, power] : monomial) {
          if (!g_[id].upper) return 0;
          for (int k = 0; k < power; ++k) term *= static_cast<double>(*g_[id].upper);
        }
        value += term;
      }
      product *= value;
    }
    return static_cast<int>(std::clamp(product, 0.0, 1e9));
  }

  static RowStage::Combine combine_of(Combine c) {
    switch (c) {
      case Combine::max:
        return RowStage::Combine::kMax;
      case Combine::min:
        return RowStage::Combine::kMin;
      case Combine::logsumexp:
        return RowStage::Combine::kLogSumExp;
      default:
        return RowStage::Combine::kSum;
    }
  }

  static HExpr neutral(Combine c, const Halide::Type& type) {
    switch (c) {
      case Combine::max:
      case Combine::logsumexp:
        return type.is_int() ? type.min() : cast(type, HExpr(kLowest));
      case Combine::min:
        return type.is_int() ? type.max() : cast(type, HExpr(kHighest));
      default:
        return Halide::Internal::make_zero(type);
    }
  }

  // Positions of a target's dimensions among rows and columns.
  std::vector<int> dimensions(const ir::Definition& d) const {
    std::vector<int> result;
    for (ir::IndexId i : d.free) {
      auto row = std::find(row_.rows.begin(), row_.rows.end(), i);
      auto column = std::find(row_.columns.begin(), row_.columns.end(), i);
      result.push_back(static_cast<int>(row != row_.rows.end()
                                            ? row - row_.rows.begin()
                                            : column - row_.columns.begin() +
                                                  static_cast<ptrdiff_t>(row_.rows.size())));
    }
    return result;
  }

  bool mentions(const std::vector<ir::IndexId>& list, const std::vector<ir::IndexId>& group) const {
    return list.size() == group.size() && std::all_of(list.begin(), list.end(), [&](ir::IndexId i) {
             return std::find(group.begin(), group.end(), i) != group.end();
           });
  }

  RowStage::Kind kind_of(const ir::Definition& d) const {
    const bool over_rows = mentions(d.free, row_.rows);
    if (d.reduced.empty()) return over_rows ? RowStage::Kind::kRowMap : RowStage::Kind::kMap;
    return over_rows && mentions(d.reduced, row_.columns) ? RowStage::Kind::kRowReduction
                                                          : RowStage::Kind::kColumnSum;
  }

  RowStage stage(const ir::Definition& d) {
    const ir::Tensor& tensor = g_[d.target];
    RowStage s;
    s.name = "s" + std::to_string(stages_.size());
    s.kind = kind_of(d);
    s.combine = combine_of(d.combine);
    s.output =
        std::find(kernel_.writes.begin(), kernel_.writes.end(), d.target) != kernel_.writes.end();
    ATTN_CHECK(s.output || s.kind != RowStage::Kind::kColumnSum, "a column sum that nobody reads");
    s.held = s.output && row_.in_place;
    s.planes = s.output && tensor.split;
    s.dimensions = dimensions(d);
    s.body = [this, &d, type = arithmetic_type(ir::arithmetic_type(tensor.storage))](
                 const RowCell& cell) { return body(d, type, cell); };
    s.store = [type = storage_type(tensor.storage)](const HExpr& value) -> HExpr {
      return cast(type, value);
    };
    return s;
  }

  HExpr body(const ir::Definition& d, const Halide::Type& type, const RowCell& cell) {
    Translator::Indices indices;
    std::vector<HExpr> rows = decode_index(cell.row, row_extents_);
    for (size_t k = 0; k < rows.size(); ++k) indices[row_.rows[k]] = rows[k];
    if (cell.column.defined()) {
      std::vector<HExpr> columns = decode_index(cell.column, column_extents_);
      for (size_t k = 0; k < columns.size(); ++k) indices[row_.columns[k]] = columns[k];
    }
    Translator t(g_, arguments_, indices, true);
    for (ir::TensorId read : ir::reads(d)) {
      auto it = stages_.find(read);
      if (it == stages_.end()) continue;
      if (g_[read].split)
        t.replace(read, cell.high(it->second), cell.low(it->second));
      else
        t.replace(read, cell.value(it->second));
    }
    return t.where(d.guard, cast(type, t(d.body)), neutral(d.combine, type));
  }

  const ir::Graph& g_;
  const plan::Kernel& kernel_;
  const plan::RowForm& row_;
  const Arguments& arguments_;
  std::vector<HExpr> row_extents_, column_extents_;
  std::map<ir::TensorId, int> stages_;
};

}  // namespace

std::vector<Halide::Func> lower_row(const plan::Function& f, const plan::Kernel& kernel,
                                    const Arguments& arguments, const Target& target) {
  Lowering lowering(f, kernel, arguments);
  return schedule_rows(lowering.spec(), target).outputs();
}

}  // namespace attn::lower
