// What the contraction's schedule works on: the spec after the choice of which output group plays
// the rows, with linear extents, tiles for the target, and the strategies worth compiling.
#pragma once

#include <optional>

#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/forms/contraction.h"

namespace attn::lower {

// The rows, or the terms of the sums, of the matrices of ContractionGroups.
class Members {
 public:
  // `all`: members of all groups.
  Members(const ContractionGroups& groups, const Expr& batches, const Expr& all);
  // How many a matrix has, and the index of one of them among all.
  Expr count(const Expr& matrix) const;
  Expr at(const Expr& matrix, const Expr& place) const;
  // Whether one is in no group.
  Expr has_none(const Expr& batch, const Expr& member) const;
  // The index in the batch, and the group, of a matrix.
  std::pair<Expr, Expr> apart(const Expr& matrix) const;

 private:
  // The place of the first member in `sorted_`.
  Expr first() const { return groups_ + 1; }

  Expr groups_, batches_, all_;
  Func of_{"out_group_of"}, before_{"out_before"}, sorted_{"out_sorted"};
};

struct Problem : ContractionSpec {
  Problem(const ContractionSpec& given, const Target& target);

  // Of one matrix of the batch: its rows, which are at most `rows`, the index of one among all, and
  // the terms of its sums, at most `term.reduced`.
  Expr rows_of(const Expr& matrix) const;
  Expr row_at(const Expr& matrix, const Expr& row) const;
  Expr reduced_of(const ContractionTerm& term, const Expr& matrix) const;
  std::pair<Expr, Expr> apart(const Expr& matrix) const {
    return members_ ? members_->apart(matrix) : std::pair(matrix, Expr());
  }
  // Whether a row, by its index among all, is in no group.
  Expr leaves_out(const Expr& matrix, const Expr& row) const {
    return members_->has_none(matrix, row);
  }
  bool deals_rows() const { return groups && groups->of_rows; }
  // Several groups may well have few rows each.
  bool deals_few_rows() const;
  bool deals_terms() const { return groups && !groups->of_rows; }

  // The factor's value as it is multiplied: where it has a fallback, 0 for what is not finite.
  Expr multiplied(const Factor& factor, const Expr& batch, const Expr& outer, const Expr& k) const;
  Expr product(const ContractionTerm& term, const Expr& batch, const Expr& row, const Expr& column,
               const Expr& k) const;
  // Into how many parts a long reduction is cut, and whether that is worth it: few results of long
  // sums.
  Expr splits() const;
  Expr wants_split() const;
  // Whether so many rows are few enough to multiply the right factor where it lies, and its sums
  // long enough.
  Expr wants_in_place(const Expr& rows_here) const;

  const target::Costs& costs;
  Expr batch;  // how many matrices
  Expr rows, columns;
  Expr run = 1;   // the last dimension of the column group
  Expr runs = 1;  // columns / run
  int lanes;
  ContractionTiles tiles;
  bool one_block;  // a matrix of the batch is typically one block: no use in threads for it
  bool with_split, with_direct, with_in_place;

 private:
  Expr longest() const;  // of the terms' reductions
  // The factors are those of the members of a matrix.
  void sort_members();

  std::optional<Members> members_;
};

// Contractions of a few rows: the right factor is read once and never packed. The sums of one term,
// sum(column in block, row, column block, batch), scheduled but for where it is computed. Columns
// beyond the last repeat it.
Func direct_sum(const Problem& problem, const ContractionTerm& term);

// Whether the right factor is a tensor as it is stored, dense along k.
bool reads_in_place(const Problem& problem);

// Values of k in one step of the innermost loop.
constexpr int kStepReduced = 2;

// A factor of a term as the innermost loop wants it, panels of `width` neighbouring rows or
// columns: panel(within, k in chunk, panel, chunk, batch), chunks of `block_reduced` values of k.
// Beyond the last row it repeats; beyond the last term of the sum a chunk goes on with zeros to a
// multiple of the step.
Func pack_panels(const Problem& problem, const char* name, const ContractionTerm& term,
                 bool is_left, int width);

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
