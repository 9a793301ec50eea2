// The chain rule of a model: how the derivative by each quantity goes back to those of its readers.
#pragma once

#include <set>
#include <vector>

#include "compiler/report/report.h"

namespace attn::report {

// For f, any function of the graph's real outputs, and for each of `wanted`, inputs or parameters:
// the sum over its readers y of df/dy dy/dx. A definition and its helpers count as one reader. The
// sums are over those indices of a reader that are not the quantity's own.
std::vector<Chain> chains(const ir::Graph& g, const std::vector<ir::TensorId>& wanted);

}  // namespace attn::report
