// A row kernel in Halide's terms: any directed graph of maps and reductions over one row, and sums
// down the columns.
//
//   mean[r] = sum[c] x[r,c] / C      y[r,c] = x[r,c] - mean[r]      dgamma[c] = sum[r] dy[r,c]
//   y[r,c]
//
// Rows and columns are linear indices (decode_index of linear_index.h takes them apart);
// both extents may be run-time Exprs, and 0.
#pragma once

#include <functional>
#include <vector>

#include "compiler/lower/forms/scope.h"
#include "compiler/plan/form.h"

namespace attn::lower {

// What a stage's expression can read: where it is, and the stages before it.
struct RowCell {
  Expr row, column;  // in range; `column` is undefined in a per-row stage's epilogue
  // A map's value here, or a row reduction's value of this row (of a log-sum-exp: both planes'
  // sum).
  std::function<Expr(int stage)> value;
  // The planes of a log-sum-exp: e - Y is best written strict_float((e - high) - low), strict lest
  // the planes be added first.
  std::function<Expr(int stage)> high, low;
};

struct RowStage {
  enum class Kind {
    kMap,           // over (row, column)
    kRowMap,        // over (row), from row reductions: its expression must not read `column`
    kRowReduction,  // over (row): combines `body` over the columns
    kColumnSum,     // over (column): sums `body` over the rows; no stage may read it
  };

  Kind kind = Kind::kMap;
  ir::Combine combine = ir::Combine::sum;
  // What a condition hides must be given as the combination's neutral value: 0, or for max and
  // log-sum-exp -3.4028235e38, for min 3.4028235e38; that is also the value over nothing.
  std::function<Expr(const RowCell&)> body;
  bool output = false;  // a column sum always is
  // Of an output map: computed for the whole group before any of it is stored, so that it may be
  // stored over what the stages read there.
  bool held = false;
  Type stored = Halide::Float(32);  // of an output
  // The output's dimensions, outermost first: positions in RowSpec::row_extents, followed by those
  // in column_extents. A map's has the column, unless there is but one. A log-sum-exp has two
  // planes along a further, outermost dimension.
  std::vector<int> dimensions;

  bool has_planes() const { return output && combine == ir::Combine::logsumexp; }
};

struct RowSpec {
  // Of each index of the rows and of the columns, outermost first; `rows` and `columns` count their
  // linear indices. Several columns are for kernels of column sums alone.
  std::vector<Expr> row_extents, column_extents;
  Expr rows, columns;
  std::vector<RowStage> stages;  // each reads only earlier ones
  int typical_columns = 0;       // 0 for unknown; chooses the shape of short rows
};

// Each definition is a stage.
RowSpec row_spec(const Scope& scope, const plan::RowForm& form);

}  // namespace attn::lower
