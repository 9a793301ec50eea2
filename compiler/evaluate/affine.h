// A subscript as a sum of loop indices times integers. Sizes are integers here: an evaluation knows
// them.
#pragma once

#include <map>
#include <optional>

#include "compiler/evaluate/program.h"

namespace attn::evaluate {

struct Affine {
  int64_t constant = 0;
  std::vector<int64_t> coefficients;  // by loop
};

// What the sizes and indices of a subscript stand for.
struct Names {
  const ir::Graph& graph;
  const std::vector<int64_t>& sizes;
  const std::map<ir::IndexId, int>& loop_of;  // an index without a loop makes nothing affine
};

// Nothing where `e` is not affine.
std::optional<Affine> affine_of(const ir::Expr& e, const Names& names, size_t loops);

// Whether the value lies in [0, dimension) at all points of the loops.
bool always_in_range(const Affine& a, const std::vector<Program::Loop>& loops, int64_t dimension);

}  // namespace attn::evaluate
