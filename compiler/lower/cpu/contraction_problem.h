// What the contraction's schedule works on: the spec after the choice of which output group plays
// the rows, with linear extents, tiles for the target, and the strategies worth compiling.
#pragma once

#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/forms/contraction.h"

namespace attn::lower {

struct Problem {
  std::string name;
  std::vector<ContractionTerm> terms;
  std::vector<OutputDim> output;
  Halide::Type type;
  std::function<std::vector<Halide::Expr>(const std::vector<Halide::Expr>&, Halide::Expr)> epilogue;
  Halide::Expr batch = 1, rows = 1, columns = 1;
  Halide::Expr run = 1;   // the last dimension of the column group
  Halide::Expr runs = 1;  // columns / run
  int lanes = 1;
  bool one_block = false;  // a matrix of the batch is typically one block: no use in threads for it
  ContractionTiles tiles{};
  const target::Costs* costs = nullptr;
  bool with_split = false, with_direct = false;
};

// The factor's value as it is multiplied: where it has a fallback, 0 for what is not finite.
Halide::Expr multiplied(const Factor& factor, const Halide::Expr& batch, const Halide::Expr& outer,
                        const Halide::Expr& k);

Problem make_problem(const ContractionSpec& spec, const Target& target);

// Into how many parts a long reduction is cut, and whether that is worth it: few results of long
// sums.
Halide::Expr splits_of(const Problem& problem);
Halide::Expr split_condition(const Problem& problem);

}  // namespace attn::lower
