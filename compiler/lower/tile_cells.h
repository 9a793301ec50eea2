// What streaming kernels share: expressions over (batch, row, column) in Halide's terms, and what
// conditions say of the columns that a row can see.
#pragma once

#include <Halide.h>

#include <functional>
#include <optional>
#include <vector>

#include "compiler/lower/translate.h"
#include "compiler/plan/form.h"

namespace attn::lower {

// The first place that somebody in [from, to] may see, or the end of the places: a bound, not
// exact.
using Edge = std::function<Halide::Expr(Halide::Expr from, Halide::Expr to)>;

// What data says of the columns that the rows [from, to] may see: [first, end), both multiples of
// `block` or beyond the columns. Bounds inference knows nothing of them. Empty: data says nothing.
struct SeenByData {
  using Bound = std::function<Halide::Expr(Halide::Expr batch, Halide::Expr from, Halide::Expr to)>;
  Bound first, end;
  int block = 0;
  explicit operator bool() const { return block > 0; }
};

class TileCells {
 public:
  TileCells(const ir::Graph& g, const Arguments& arguments, std::vector<ir::IndexId> batch)
      : g_(g), arguments_(arguments), batch_(std::move(batch)) {
    for (ir::IndexId i : batch_) batch_extents_.push_back(extent(i));
  }

  const std::vector<Halide::Expr>& batch_extents() const { return batch_extents_; }
  Halide::Expr extent(const ir::Poly& p) const;
  Halide::Expr extent(ir::IndexId i) const;
  // The product of extents.
  Halide::Expr extent(const std::vector<ir::IndexId>& group) const;

  // A translator at these indices, in range, and the linear index of the batch.
  Translator at(Translator::Indices indices, const Halide::Expr& batch) const;
  // A factor in f32 over (batch, the place of `outer`, the linear index of `inner`), 0 outside its
  // guard.
  std::function<Halide::Expr(Halide::Expr, Halide::Expr, Halide::Expr)> factor(
      const ir::Expr& value, const ir::Conditions& guard, ir::IndexId outer,
      const std::vector<ir::IndexId>& inner) const;

  // The product at (batch, row, column, the linear index of what is summed).
  std::function<Halide::Expr(Halide::Expr, Halide::Expr, Halide::Expr, Halide::Expr)> product(
      const plan::Product& t, ir::IndexId row, ir::IndexId column) const;

  // The value of tiles[index] at (batch, row, column) where it is visible, else `hidden`; `dot` is
  // the sum of its products there, and earlier(k) the value of tiles[k].
  using Value =
      std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column,
                                 Halide::Expr dot, std::function<Halide::Expr(int)> earlier)>;
  Value value(const std::vector<plan::Tile>& tiles, size_t index, ir::IndexId row,
              ir::IndexId column, float hidden) const;
  // Whether conditions hold there, of which some may read tiles[0 .. count).
  using Holds =
      std::function<Halide::Expr(Halide::Expr batch, Halide::Expr row, Halide::Expr column,
                                 std::function<Halide::Expr(int)> earlier)>;
  Holds holds(const ir::Conditions& conditions, const std::vector<plan::Tile>& tiles, size_t count,
              ir::IndexId row, ir::IndexId column) const;

  // Positions of `free`: among the batch's indices, `kept` after them, the feature last.
  std::vector<int> dimensions(const std::vector<ir::IndexId>& free, ir::IndexId kept) const;

  // The places `of` that some `by` in a range sees under these conditions, [first, end); empty
  // functions where nothing is known. From conditions that are linear, with 1 or -1 for `of` and at
  // most that for `by`, and read nothing else; all of several hold, or one of several.
  struct Edges {
    Edge first, end;
    // Whether the edges with `by` and `of` exchanged bound the same points.
    bool both_ways = true;
  };
  Edges edges(const ir::Conditions& visible, ir::IndexId by, ir::IndexId of) const;
  // How many rows it is asked about must be known.
  SeenByData seen_by_data(const std::optional<plan::BlockBounds>& bounds) const;

 private:
  SeenByData::Bound seen(const plan::BlockBounds& bounds, bool upper) const;
  Edge edge(const ir::Expr& condition, ir::IndexId by, ir::IndexId of, bool upper) const;

  const ir::Graph& g_;
  const Arguments& arguments_;
  std::vector<ir::IndexId> batch_;
  std::vector<Halide::Expr> batch_extents_;
};

}  // namespace attn::lower
