#include "compiler/lower/forms/row.h"

#include <algorithm>
#include <map>

#include "compiler/base/check.h"
#include "compiler/lower/forms/scope.h"

namespace attn::lower {
namespace {

class Stages {
 public:
  Stages(const Scope& scope, const plan::RowForm& row) : row_(row), scope_(scope) {}

  RowSpec spec() {
    RowSpec spec;
    spec.row_extents = scope_.extents(row_.rows);
    spec.column_extents = scope_.extents(row_.columns);
    spec.rows = scope_.count(row_.rows);
    spec.columns = scope_.count(row_.columns);
    spec.typical_columns = scope_.typical_count(row_.columns);
    for (size_t n = 0; n < row_.definitions.size(); ++n) {
      spec.stages.push_back(stage(row_.definitions[n]));
      stages_[row_.definitions[n].target] = static_cast<int>(n);
    }
    return spec;
  }

 private:
  // Positions of a target's dimensions among rows and columns.
  std::vector<int> dimensions(const ir::Definition& d) const {
    std::vector<ir::IndexId> all = row_.rows;
    all.insert(all.end(), row_.columns.begin(), row_.columns.end());
    std::vector<int> result;
    for (ir::IndexId i : d.free)
      result.push_back(static_cast<int>(std::ranges::find(all, i) - all.begin()));
    return result;
  }

  static bool mentions(const IndexGroup& list, const IndexGroup& group) {
    return std::ranges::is_permutation(list, group);
  }

  RowStage::Kind kind_of(const ir::Definition& d) const {
    const bool over_rows = mentions(d.free, row_.rows);
    if (d.reduced.empty()) return over_rows ? RowStage::Kind::kRowMap : RowStage::Kind::kMap;
    return over_rows && mentions(d.reduced, row_.columns) ? RowStage::Kind::kRowReduction
                                                          : RowStage::Kind::kColumnSum;
  }

  RowStage stage(const ir::Definition& d) {
    const ir::Tensor& tensor = scope_.g[d.target];
    RowStage s;
    s.kind = kind_of(d);
    s.combine = d.combine;
    s.output = std::ranges::find(scope_.writes, d.target) != scope_.writes.end();
    ATTN_CHECK(s.output || s.kind != RowStage::Kind::kColumnSum, "a column sum that nobody reads");
    s.held = s.output && row_.in_place;
    s.dimensions = dimensions(d);
    // By copies: the spec outlives this, and a stage reads earlier ones only.
    s.body = [*this, &d, type = computed_type(tensor.storage)](const RowCell& cell) {
      return body(d, type, cell);
    };
    s.stored = storage_type(tensor.storage);
    return s;
  }

  Expr body(const ir::Definition& d, const Type& type, const RowCell& cell) const {
    Translator::Indices indices;
    scope_.decode(row_.rows, cell.row, indices);
    if (cell.column.defined()) scope_.decode(row_.columns, cell.column, indices);
    Translator t = scope_.at(std::move(indices));
    t.choose_by_bits();
    for (ir::TensorId read : ir::reads(d)) {
      auto it = stages_.find(read);
      if (it == stages_.end()) continue;
      if (scope_.g[read].split)
        t.replace(read, cell.high(it->second), cell.low(it->second));
      else
        t.replace(read, cell.value(it->second));
    }
    return t.where(d.guard, cast(type, t(d.body)), neutral(d.combine, type));
  }

  const plan::RowForm& row_;
  const Scope scope_;
  std::map<ir::TensorId, int> stages_;
};

}  // namespace

RowSpec row_spec(const Scope& scope, const plan::RowForm& form) {
  return Stages(scope, form).spec();
}

}  // namespace attn::lower
