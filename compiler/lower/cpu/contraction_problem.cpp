#include "compiler/lower/cpu/contraction_problem.h"

#include <algorithm>
#include <cstdint>

#include "compiler/base/check.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {

using Halide::Expr;
using Halide::Type;

namespace {

using Group = OutputDim::Group;

Expr extent_of(const std::vector<OutputDim>& dims, Group group) {
  Expr product = 1;
  for (const OutputDim& dim : dims) {
    if (dim.group == group) product = product * dim.extent;
  }
  return Halide::Internal::simplify(product);
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
  if (rows > 0 && rows <= 64 && lower >= 4 && padded(lower) < padded(tiles.rows)) {
    tiles.rows = lower;
  }
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

// Exchanges rows and columns: the transposed product with the factors in each other's place.
ContractionSpec transposed(ContractionSpec spec) {
  for (OutputDim& dim : spec.output) {
    if (dim.group == Group::kBatch) continue;
    dim.group = dim.group == Group::kRow ? Group::kColumn : Group::kRow;
  }
  for (ContractionTerm& term : spec.terms) std::swap(term.left, term.right);
  std::swap(spec.typical_rows, spec.typical_columns);
  return spec;
}

// Columns are the vectors: they should be dense in the output, or at least not be the few.
bool wants_transpose(const ContractionSpec& spec, const target::Costs& costs) {
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

Expr splits_of(const Problem& problem) {
  Expr length = 0;
  for (const ContractionTerm& term : problem.terms) length = max(length, term.reduced);
  return clamp(length / problem.costs->least_split, 1, problem.costs->most_splits);
}

// Whether a long reduction of few results is worth cutting.
Expr split_condition(const Problem& problem) {
  Expr length = 0;
  for (const ContractionTerm& term : problem.terms) length = max(length, term.reduced);
  const target::Costs& costs = *problem.costs;
  Expr area = problem.rows * min(problem.columns, costs.split_area);
  Expr wide = max(problem.rows, problem.columns);
  return length >= 4 * costs.least_split && problem.rows <= costs.split_area &&
         area <= costs.split_area && length / 8 >= wide &&
         (problem.rows > costs.direct_rows || problem.columns <= 64);
}

Expr multiplied(const Factor& factor, const Expr& batch, const Expr& outer, const Expr& k) {
  const Expr value = factor.at(batch, outer, k);
  return factor.fallback ? finite_or_zero(value) : value;
}

Problem make_problem(const ContractionSpec& given, const Target& target) {
  ATTN_CHECK(!given.terms.empty(), "a contraction without terms");
  const target::Costs& costs = target::costs(target.arch);
  const ContractionSpec spec = wants_transpose(given, costs) ? transposed(given) : given;
  Problem problem;
  problem.costs = &costs;
  problem.name = spec.name;
  problem.terms = spec.terms;
  problem.output = spec.output;
  problem.type = spec.accumulate;
  problem.epilogue = spec.epilogue;
  if (!problem.epilogue) {
    problem.epilogue = [](const std::vector<Expr>&, Expr sum) { return std::vector<Expr>{sum}; };
  }
  problem.batch = extent_of(spec.output, Group::kBatch);
  problem.rows = extent_of(spec.output, Group::kRow);
  problem.columns = extent_of(spec.output, Group::kColumn);
  problem.lanes = lanes_of(target, spec.accumulate);
  for (const OutputDim& dim : spec.output) {
    if (dim.group != Group::kColumn) continue;
    problem.runs = Halide::Internal::simplify(problem.runs * problem.run);
    problem.run = dim.extent;
  }
  // A strategy costs a third of a second to compile and 10 KB: a hint far from its case leaves it
  // out, and splitting is only for results that are known to be small.
  auto known = [](const Expr& extent, int typical) {
    const int64_t value = constant(extent);
    return value >= 0 ? value : static_cast<int64_t>(typical);
  };
  const int64_t rows = known(problem.rows, spec.typical_rows);
  const int64_t columns = known(problem.columns, spec.typical_columns);
  problem.tiles = tiles_for(target, spec.accumulate, rows, columns);
  problem.one_block = rows > 0 && columns > 0 && rows <= problem.tiles.block_rows &&
                      columns <= problem.tiles.block_columns;
  fit_blocks(problem.tiles, problem);
  const bool long_sums = spec.typical_reduced == 0 || spec.typical_reduced >= costs.least_split;
  problem.with_split = long_sums && rows > 0 && columns > 0 && rows <= costs.split_area &&
                       columns <= costs.split_area && rows * columns <= costs.split_area;
  problem.with_direct = rows > 0 ? rows <= 8 * costs.direct_rows : !spec.rarely_thin;
  return problem;
}

}  // namespace attn::lower
