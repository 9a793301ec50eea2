// What a kernel computes, in the structure that its schedule needs: the last representation before
// Halide. A form is a view of definitions, which definitions_of gives back; it prints as a whole
// (print.cpp), and verify compares it with the definitions that the planner took.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::plan {

// The sum over `reduced` of left * right.
struct Product {
  ir::Expr left, right;  // over (batch, rows, reduced) and (batch, columns, reduced)
  ir::Conditions left_guard, right_guard;  // outside them the factor counts as 0
  std::vector<ir::IndexId> reduced;

  // Whether a condition of the other factor hides elements of this one, whatever lies there. A
  // schedule that multiplies packed factors multiplies what is not finite in it as 0, and needs a
  // fallback that adds what is visible of that.
  bool hides_left() const;
  bool hides_right() const;
};

// One definition as written, or a sum and what its terms are added to.
struct LoopsForm {
  ir::Definition definition;
  std::optional<ir::Expr> start;  // of a sum, over its free indices; none: 0
  // A free index of a sum: the results along it are complete before any of them is written.
  // Invalid: none.
  ir::IndexId together;
  // Of a running sum, the free index along which each result is made of the one beside it
  // (solve/running.h). Invalid: each is summed on its own.
  ir::IndexId along;
};

// Definitions over common rows and columns, in order: a map over (row, column), a map over the
// rows, a reduction over the columns, or a sum over the rows, which no other definition reads.
struct RowForm {
  std::vector<ir::IndexId> rows, columns;
  std::vector<ir::Definition> definitions;
  // Results may be written over what is read at the same place: all of a row is read before.
  bool in_place = false;
};

// Rows of a contraction, or terms of its sums, that data deals out to groups: there is a product
// for each group, of the rows or the terms that are in it.
struct Groups {
  ir::Expr of;     // the group of a row or of a term, an integer
  ir::Poly count;  // of groups
  // Of terms: the free index that runs over the groups, at which a result sums the terms of one
  // group. Invalid: of rows, of which the right factors depend through `of` alone.
  ir::IndexId index;

  bool of_rows() const { return !index.valid(); }
  // The factor where the group is a number.
  ir::Expr at_one_group(const ir::Expr& factor) const;
  // Under this a term is in the group of a result.
  ir::Conditions condition() const;
};

// A sum of products of two factors, and a map that finishes it. Every free index is in exactly one
// of batch, rows and columns, which are in the order of the target's dimensions, or is that of the
// groups.
struct ContractionForm {
  std::vector<ir::IndexId> batch, rows, columns;
  std::vector<ir::IndexId> free;  // the dimensions of the target
  std::vector<Product> products;
  std::optional<Groups> groups;
  ir::TensorId sum;  // read in `epilogue` and `kept`, at the free indices, for the sum of products
  ir::TensorId target;
  ir::Expr epilogue;             // over the free indices
  ir::Conditions guard;          // of the target: 0 outside
  std::optional<ir::Expr> kept;  // the value of the tensor `sum`, where that is stored too
};

// A tensor over (batch, row, column) that exists in tiles only, or, without a name, the weight of a
// sum. A product whose left factor is not of the batch and the rows only, or whose right one is not
// of the batch and the columns, is computed at each point on its own.
struct Tile {
  ir::TensorId tensor;
  std::vector<ir::IndexId> free;  // its dimensions among the kernel's indices
  std::vector<Product> dots;      // over (batch, row, reduced) and (batch, column, reduced)
  ir::TensorId dot;               // read in `value` for their sum; invalid without products
  ir::Expr value;                 // reads earlier tiles at this place
  ir::Conditions visible;         // 0 elsewhere
};

// What a kernel of tiles gives. Over (batch, row, column) where nothing else is said.
struct TileResult {
  enum class Kind : uint8_t {
    logsumexp,  // of each row of the tile, over the columns where it is visible
    weighted,   // sum over the columns of exp(tile - its log-sum-exp) * weight * panel
    rows,       // sum over the columns of tile * panel
    columns,    // sum over the rows of tile * panel
    scatter,    // the tile's value at a point, times the panel, added at the point's position
  };
  Kind kind = Kind::rows;
  ir::TensorId tensor;
  size_t tile = 0;
  ir::Expr weight;         // of a weighted sum
  ir::Conditions counted;  // where its weight is not 0, beside what is visible
  // Over (batch, what is summed, feature), or at each point; 1 without a feature.
  ir::Expr panel;
  ir::Conditions panel_guard;  // 0 elsewhere
  ir::IndexId feature;         // invalid for none
  // Of the sum, as solve::times_sum has it; over (batch, the kept index, feature).
  ir::Expr scale;
  // The dimensions; of a scatter none. What a sum of the tile's rows or columns has scaled is added
  // up over the indices of the batch that are missing here.
  std::vector<ir::IndexId> free;
  std::vector<ir::Expr> position;  // of a scatter, one a dimension, the feature standing for itself

  bool of_rows() const { return kind != Kind::columns; }
};

// Which columns the rows of a kernel of tiles may see, as far as data says: element [batch.., n] of
// `first` and `end` bounds, for all rows from n * kBoundRows on, as many, the columns [first, end)
// that some of them may see; none where first >= end.
struct BlockBounds {
  ir::TensorId first, end;
  std::vector<ir::IndexId> batch;  // of the kernel, in its order
};
constexpr int kBoundRows = 16;

// A form that streams has a second schedule, for at most so many rows. Over 4096 columns of 64
// features (AVX-512) it takes 0.33, 0.53, 0.69 and 0.89 of the usual one's time for 1 to 4 rows,
// over 128 columns 0.33 to 0.40.
constexpr int kFewRows = 4;

// Tensors over (batch, row, column) that exist in tiles only, and what sums them. A log-sum-exp
// comes first, and beside it one weighted sum at most; other kinds stand together.
struct TilesForm {
  std::vector<ir::IndexId> batch;
  ir::IndexId row, column;
  std::vector<Tile> tiles;  // in order
  std::vector<TileResult> results;
  std::optional<BlockBounds> bounds;

  bool streams() const { return results.at(0).kind == TileResult::Kind::logsumexp; }
  // The result of a kind that occurs once at most, or null.
  const TileResult* find(TileResult::Kind kind) const;
  // The indices of the batch over which a result is summed, save a scatter.
  std::vector<ir::IndexId> summed_batch(const TileResult& r) const;
  // The conditions under which some result needs anything.
  ir::Conditions visible_somewhere() const;
  // Whether a product has one factor of the rows and one of the columns, of which neither hides
  // what the other has; it is computed at each point otherwise.
  bool is_apart(const Product& p) const;
  // The same for a panel and what is summed.
  bool packs_panel(const TileResult& r) const;
  // Whether conditions hide elements of a packed panel from some of what it is multiplied with, as
  // for factors of a product.
  bool hides_panel(const TileResult& r) const;
};

using Form = std::variant<LoopsForm, RowForm, ContractionForm, TilesForm>;

// Where a sum over one index reads planes like its own results: that index in the place of `plane`.
std::vector<ir::IndexId> mixed_point(const ir::Definition& d, ir::IndexId plane);

// The rows of a form with a schedule for few of them, where there may be few or many.
std::optional<ir::Poly> few_rows_of(const ir::Graph& g, const Form& form);

// The elements that a form writes of a state, of which it leaves the others.
std::optional<ir::Poly> places_of(const ir::Graph& g, const Form& form);

// What the form computes, in the order in which a kernel lists those that it writes.
std::vector<ir::TensorId> results_of(const Form& form);

// A graph that computes what the form does, with the tensors, indices and sizes of `g`: what it
// takes from elsewhere are tensors that it does not define. Sums that have no name in `g` get
// tensors of their own.
ir::Graph definitions_of(const ir::Graph& g, const Form& form);
// The definitions alone; their tensors and indices are added to `g`.
std::vector<ir::Definition> add_definitions(ir::Graph& g, const Form& form);

}  // namespace attn::plan
