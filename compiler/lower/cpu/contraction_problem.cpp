#include "compiler/lower/cpu/contraction_problem.h"

#include <algorithm>
#include <cstdint>

#include "compiler/base/check.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {

namespace {

using Group = OutputDim::Group;

Expr extent_of(const std::vector<OutputDim>& dims, Group group) {
  Expr product = 1;
  for (const OutputDim& dim : dims)
    if (dim.group == group) product = product * dim.extent;
  return simplify(product);
}

// `rows` and `columns` are 0 where nothing is known of them.
ContractionTiles tiles_for(const Target& target, const Type& type, int64_t rows, int64_t columns) {
  ContractionTiles tiles = tuning(target).contraction;
  if (type.bytes() > 4) {
    tiles.block_columns /= 2;
    tiles.block_reduced /= 2;
  }
  // Small matrices take the tile that wastes fewer rows, and no second vector that stays empty.
  const int lower = tiles.rows * 2 / 3;
  auto padded = [rows](int tile) { return (rows + tile - 1) / tile * tile; };
  if (rows > 0 && rows <= 64 && lower >= 4 && padded(lower) < padded(tiles.rows))
    tiles.rows = lower;
  if (columns > 0 && columns <= lanes_of(target, type)) tiles.vectors = 1;
  return tiles;
}

// Loops over a block have constant extents, walked in full: where the whole matrix is known to be
// smaller, so are its blocks.
void fit_blocks(ContractionTiles& tiles, const Problem& problem) {
  auto fit = [](int& block, int64_t extent, int unit) {
    if (extent < 0) return;
    block = static_cast<int>(
        std::min<int64_t>(block, (std::max<int64_t>(extent, 1) + unit - 1) / unit * unit));
  };
  int64_t reduced = 0;
  for (const ContractionTerm& term : problem.terms) {
    const int64_t length = constant(term.reduced);
    reduced = reduced < 0 || length < 0 ? -1 : std::max(reduced, length);
  }
  fit(tiles.block_rows, constant(problem.rows), tiles.rows);
  fit(tiles.block_columns, constant(problem.columns), tiles.vectors * problem.lanes);
  fit(tiles.block_reduced, reduced, 16);
}

// Exchanges rows and columns: the transposed product with the factors exchanged.
ContractionSpec transposed(ContractionSpec spec) {
  for (OutputDim& dim : spec.output) {
    if (dim.group == Group::kRow)
      dim.group = Group::kColumn;
    else if (dim.group == Group::kColumn)
      dim.group = Group::kRow;
  }
  for (ContractionTerm& term : spec.terms) std::swap(term.left, term.right);
  std::swap(spec.typical_rows, spec.typical_columns);
  return spec;
}

// Columns are the vectors: they should be dense in the output, or at least not be the few.
bool wants_transpose(const ContractionSpec& spec, const target::Costs& costs) {
  if (spec.groups && spec.groups->of_rows) return false;
  const int64_t rows = constant(extent_of(spec.output, Group::kRow));
  const int64_t columns = constant(extent_of(spec.output, Group::kColumn));
  const bool few_rows = rows >= 0 && rows <= costs.direct_rows;
  const bool few_columns = columns >= 0 && columns <= costs.direct_rows;
  if (few_rows != few_columns) return few_columns;
  for (size_t i = spec.output.size(); i-- > 0;) {
    if (constant(spec.output[i].extent) == 1) continue;
    return spec.output[i].group == Group::kRow;
  }
  return false;
}

}  // namespace

Problem::Problem(const ContractionSpec& given, const Target& target)
    : ContractionSpec(wants_transpose(given, target::costs(target.arch)) ? transposed(given)
                                                                         : given),
      costs(target::costs(target.arch)),
      batch(extent_of(output, Group::kBatch)),
      rows(extent_of(output, Group::kRow)),
      columns(extent_of(output, Group::kColumn)),
      lanes(lanes_of(target, type)) {
  ATTN_CHECK(!terms.empty(), "a contraction without terms");
  for (const OutputDim& dim : output) {
    if (dim.group != Group::kColumn) continue;
    runs = simplify(runs * run);
    run = dim.extent;
  }
  // A strategy costs a third of a second to compile and 10 KB: a hint far from its case leaves it
  // out, and splitting is only for results that are known to be small.
  auto known = [](const Expr& extent, int typical) {
    const int64_t value = constant(extent);
    return value >= 0 ? value : static_cast<int64_t>(typical);
  };
  // Of the rows of one group nothing is known.
  const int64_t some_rows = deals_rows() ? 0 : known(rows, typical_rows);
  const int64_t some_columns = known(columns, typical_columns);
  const bool small = some_rows > 0 && some_columns > 0;
  tiles = tiles_for(target, type, some_rows, some_columns);
  one_block = small && some_rows <= tiles.block_rows && some_columns <= tiles.block_columns;
  fit_blocks(tiles, *this);
  const bool long_sums = typical_reduced == 0 || typical_reduced >= costs.least_split;
  with_split = !groups && long_sums && small && some_rows <= costs.split_area &&
               some_columns <= costs.split_area && some_rows * some_columns <= costs.split_area;
  with_direct = some_rows > 0 ? some_rows <= 8 * costs.direct_rows : !rarely_thin;
  with_in_place = !deals_terms() && reads_in_place(*this) &&
                  (some_rows > 0 ? some_rows <= 2 * costs.rows_in_place : !rarely_thin);
  if (deals_terms()) with_direct = false;
  if (groups) sort_members();
}

void Problem::sort_members() {
  members_.emplace(*groups, batch, deals_rows() ? rows : terms[0].reduced);
  batch = simplify(batch * groups->count);
  const Members members = *members_;
  for (ContractionTerm& term : terms)
    for (Factor* f : {&term.left, &term.right}) {
      if (deals_rows() && f == &term.right) continue;
      const auto sorted = [members, of_rows = deals_rows()](const Factor::At& at) {
        return [=](const Expr& matrix, const Expr& outer, const Expr& k) {
          return of_rows ? at(matrix, members.at(matrix, outer), k)
                         : at(matrix, outer, members.at(matrix, k));
        };
      };
      f->at = sorted(f->at);
      if (f->visible) f->visible = sorted(f->visible);
    }
}

bool Problem::deals_few_rows() const { return deals_rows() && constant(groups->count) != 1; }

Expr Problem::rows_of(const Expr& matrix) const {
  return deals_rows() ? members_->count(matrix) : rows;
}

Expr Problem::row_at(const Expr& matrix, const Expr& row) const {
  return deals_rows() ? members_->at(matrix, row) : row;
}

Expr Problem::reduced_of(const ContractionTerm& term, const Expr& matrix) const {
  return deals_terms() ? members_->count(matrix) : term.reduced;
}

Expr Problem::longest() const {
  Expr length = 0;
  for (const ContractionTerm& term : terms) length = max(length, term.reduced);
  return length;
}

Expr Problem::splits() const { return clamp(longest() / costs.least_split, 1, costs.most_splits); }

Expr Problem::wants_split() const {
  const Expr length = longest();
  Expr area = rows * min(columns, costs.split_area);
  Expr longer_side = max(rows, columns);
  return length >= 4 * costs.least_split && rows <= costs.split_area && area <= costs.split_area &&
         length / 8 >= longer_side && (rows > costs.direct_rows || columns <= 64);
}

Expr Problem::wants_in_place(const Expr& rows_here) const {
  return rows_here <= costs.rows_in_place && longest() >= costs.least_in_place;
}

Expr Problem::multiplied(const Factor& factor, const Expr& matrix, const Expr& outer,
                         const Expr& k) const {
  const Expr value = factor.at(matrix, outer, k);
  return cast(type, factor.fallback ? finite_or_zero(value) : value);
}

Expr Problem::product(const ContractionTerm& term, const Expr& matrix, const Expr& row,
                      const Expr& column, const Expr& k) const {
  return multiplied(term.left, matrix, row, k) * multiplied(term.right, matrix, column, k);
}

}  // namespace attn::lower
