// Guesses of extents where they are not known, for choices of cost only.
#pragma once

#include <set>

#include "compiler/ir/graph.h"

namespace attn::plan {

// The extent, or its upper bound, or solve::kTypicalSize for each unbounded run-time size.
double estimate(const ir::Graph& g, const ir::Poly& extent);
double points(const ir::Graph& g, const std::set<ir::IndexId>& indices);

}  // namespace attn::plan
