// A kernel of tiles in Halide's terms: extents, what is packed, and the value of each part at a
// point. It knows nothing of sizes of tiles, of layouts and of lanes.
//
//   t_k[b,i,j] = value_k(sum over dots d, e: left_d(b,i,e) * right_d(b,j,e);  t_0 .. t_{k-1} there)
//   Y[b,i]     = log sum over j of exp(a[b,i,j]),  a the last of the t_k
//   z[b,i,f]   = scale(b,i,f) * (sum over j of exp(a[b,i,j] - Y[b,i]) * weight(b,i,j) *
//   panel(b,j,f))
//   r[b,i,f]   = scale(b,i,f) * (sum over j of t_k[b,i,j] * panel(b,j,f))        of rows
//   c[b,j,f]   = scale(b,j,f) * (sum over i of t_k[b,i,j] * panel(b,i,f))        of columns
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "compiler/lower/forms/tile_bounds.h"
#include "compiler/plan/digits.h"
#include "compiler/plan/form.h"

namespace attn::lower {

class TilesSpec {
 public:
  using Kind = plan::TileResult::Kind;
  // In range; the batch is linear over `batch_extents`.
  struct Point {
    Expr batch, row, column;
  };
  // The values of tiles at the point in question.
  using Values = std::function<Expr(int tile)>;

  // A factor of a dot, or a panel: over (batch, row or column, features), shared by its readers.
  struct Pack {
    bool of_rows = true;
    ir::Expr value;
    ir::Conditions guard;  // 0 outside
    std::vector<ir::IndexId> features;
    Expr length;  // of the features
    // Conditions hide elements from some of its readers, whatever lies there. Packing replaces what
    // is not finite by 0; a fallback adds it where it is visible.
    bool fallback = false;
    Type number = Halide::Float(32);  // a half where all values are such halves
    bool is_dense = false;            // read as it is stored, everywhere, features side by side
  };
  // A sum over features: of the products of a pack of rows and one of columns, or without packs of
  // the product at each point on its own.
  struct Dot {
    const plan::Product* product;
    Expr length;
    int left = -1, right = -1;
    bool is_packed() const { return left >= 0; }
  };
  struct Result {
    const plan::TileResult* form;
    int tile;
    bool of_rows, is_written;
    Expr features;                // undefined: there is no such dimension
    int panel = -1;               // a pack; without one, a panel is computed at each point
    ir::Conditions visible;       // where anything is summed
    std::vector<int> dimensions;  // outermost first: of the batch, then the kept index, the feature
    // Of a scatter, whose `dimensions` say the kept index where position() counts:
    std::vector<Expr> extents;
    bool is_dense = false;               // neighbouring columns are added to neighbours
    bool is_of_one_row = false;          // no two rows are added to one place
    std::optional<plan::Digits> digits;  // of the column, where there is no feature
    Expr line_length;                    // their divisor, at least 1
    std::set<int> summed_batch;          // indices of the batch that are no dimension

    Kind kind() const { return form->kind; }
    bool has_panel_at() const { return features.defined() && panel < 0; }
    bool has_weight() const { return !form->weight.is_one() || !form->counted.empty(); }
    // Whether the weight of a hidden point may be infinite or NaN, which 0 does not hide.
    bool hides_weight() const { return !visible.empty() && !ir::tensors(form->weight).empty(); }
  };

  TilesSpec(const Scope& scope, const plan::TilesForm& form);

  // Of tile `index` for the sum `dot` of its products; where it is hidden 0, or kLowest where its
  // log-sum-exp is taken.
  Expr value(int index, const Point& at, const Expr& dot, const Values& earlier) const;
  Expr product(const Dot& dot, const Point& at, const Expr& feature) const;
  // Of a row or a column.
  Expr factor(int pack, const Expr& batch, const Expr& index, const Expr& feature) const;
  // The same as it is multiplied: 0 where there is a fallback for what is not finite.
  Expr packed(int pack, const Expr& batch, const Expr& index, const Expr& feature) const;
  Expr panel_at(const Result& r, const Point& at, const Expr& feature) const;
  Expr weight(const Result& r, const Point& at) const;
  Expr visible(const Result& r, const Point& at, const Values& tiles) const;
  Expr scaled(const Result& r, const Expr& batch, const Expr& kept, const Expr& feature,
              const Expr& sum) const;
  // What scaled() gives.
  Type stored(const Result& r) const;
  // Of a scatter: where the point is added, one a dimension, undefined for the feature; out of
  // range only where the tile is hidden. `high` and `low` are the column's digits, where the place
  // is to be of these.
  std::vector<Expr> position(const Result& r, const Point& at, const Expr& high = {},
                             const Expr& low = {}) const;
  // The column of a row at which dimension `k` of that position is `place`, in range or not;
  // undefined where the position is not linear in the column, with 1 or -1.
  Expr column_at(const Result& r, size_t k, const Expr& place, const Expr& batch,
                 const Expr& row) const;
  // The result of a kind that occurs once at most, or null.
  const Result* find(Kind kind) const;

  std::vector<Expr> batch_extents;  // outermost first
  Expr rows, columns;
  std::vector<Pack> packs;
  std::vector<std::vector<Dot>> dots;  // of each tile
  std::vector<Result> results;         // as the kernel writes them, then those that it does not
  // Outside these every tile is hidden.
  Edges columns_of_rows, rows_of_columns;
  SeenByData seen_by_data;

 private:
  Result result(const plan::TileResult& r, bool is_written);
  void add_place(Result& result) const;
  int pack(Pack wanted);
  Translator at(Translator::Indices indices, const Expr& batch) const;
  Translator::Indices cell(const Point& point) const;
  void replace_earlier(Translator& t, const std::set<ir::TensorId>& read, int count,
                       const Values& earlier) const;

  const Scope scope_;
  const plan::TilesForm& form_;
};

}  // namespace attn::lower
