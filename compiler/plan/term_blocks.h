// Sums whose terms are computed for them alone, taken in blocks of their terms.
//
//   h[t,f] = relu(sum[d] x[t,d] * v[expert[t],f,d])
//   y[t,d] = sum[f] h[t,f] * w[expert[t],d,f]
//
// A loop computes h for a block of f and adds what that gives to y, so that a block of h is in
// memory and not all of it. Of experts alone: the sum of another layer is finished as it is
// computed, which would be a pass of its own after the loop.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/plan/rolling.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {

struct TermBlocks {
  ir::TensorId sum;
  ir::IndexId terms;  // that it reduces
  int64_t block = 0;  // of so many of them
  // What is computed for the sum alone, and stands right before it; what else is read at the terms:
  // the dimension that they are.
  std::map<ir::TensorId, size_t> own, given;
};

// Those of a graph, in its order.
std::vector<TermBlocks> block_terms(ir::Graph& g, const solve::Unmaterialised& unmaterialised,
                                    const Rolling& rolling, const target::Costs& costs);

}  // namespace attn::plan
