// What the contraction's schedule works on: the spec after the choice of which output group plays
// the rows, with linear extents, tiles for the target, and the strategies worth compiling.
#pragma once

#include <optional>

#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/forms/contraction.h"

namespace attn::lower {

struct Problem : ContractionSpec {
  Problem(const ContractionSpec& given, const Target& target);

  // The factor's value as it is multiplied: where it has a fallback, 0 for what is not finite.
  Expr multiplied(const Factor& factor, const Expr& batch, const Expr& outer, const Expr& k) const;
  Expr product(const ContractionTerm& term, const Expr& batch, const Expr& row, const Expr& column,
               const Expr& k) const;
  // Into how many parts a long reduction is cut, and whether that is worth it: few results of long
  // sums.
  Expr splits() const;
  Expr wants_split() const;
  // Whether the rows are few enough to multiply the right factor where it lies, and its sums long
  // enough.
  Expr wants_in_place() const;

  const target::Costs& costs;
  Expr batch, rows, columns;
  Expr run = 1;   // the last dimension of the column group
  Expr runs = 1;  // columns / run
  int lanes;
  ContractionTiles tiles;
  bool one_block;  // a matrix of the batch is typically one block: no use in threads for it
  bool with_split, with_direct, with_in_place;

 private:
  Expr longest() const;  // of the terms' reductions
};

// Contractions of a few rows: the right factor is read once and never packed. The sums of one term,
// sum(column in block, row, column block, batch), scheduled but for where it is computed. Columns
// beyond the last repeat it.
Func direct_sum(const Problem& problem, const ContractionTerm& term);

// Whether the right factor is a tensor as it is stored, dense along k.
bool reads_in_place(const Problem& problem);

// Values of k in one step of the innermost loop.
constexpr int kStepReduced = 2;

// A factor as the innermost loop wants it, panels of `width` neighbouring rows or columns:
// panel(within, k in chunk, panel, chunk, batch), chunks of `block_reduced` values of k. Beyond
// `extent` the last row repeats; beyond `reduced` a chunk goes on with zeros to a multiple of the
// step.
Func pack_panels(const Problem& problem, const char* name, const Factor& factor,
                 const Expr& reduced, const Expr& extent, int width);

// Where conditions of one factor hide elements of the other, what is not finite is multiplied as 0
// first. Results that see something of it are computed again, as they are written.
//
// Of each matrix of the batch: not 0 where a factor that has a fallback is not finite somewhere.
// Nothing where no factor has one.
std::optional<Func> find_non_finite(const Problem& problem);

// The sums of all terms as they are written: sum(column in block, row, column block, batch).
// Columns beyond the last repeat it.
Func sum_as_written(const Problem& problem);

}  // namespace attn::lower
