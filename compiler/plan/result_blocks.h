// The last product of groups, computed in blocks of its results.
//
//   dw[e,f,d] = sum[t where e == expert[t]] dh[t,f] * x[t,d]
//
// Gradients of experts are many times as large as what they are summed from, and until they are
// written their memory holds other tensors. What the last of them is summed from would lie beside
// all of them. A loop computes that gradient for one half of f, then for the other. Each step first
// copies its half of dh, so that dh may lie where the last step alone writes, and half of it is in
// memory beside the gradients. Where dh does not fit there, the runtime copies nothing, and each step
// reads its half where it lies.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "compiler/plan/plan.h"

namespace attn::plan {

// Whether a kernel sums the terms of each group.
bool sums_groups(const Kernel& k);

// How the result of such a kernel may be cut in blocks.
struct ResultCut {
  size_t dimension = 0;
  int64_t block = 0;
  // What is read at the index of that dimension: in which of its own.
  std::map<ir::TensorId, size_t> read;
  std::set<ir::TensorId> computed;  // of that: what the function computes
};
std::optional<ResultCut> cut_of(const ir::Graph& g, const Kernel& k, const Costs& costs);

struct ResultBlocks {
  Segment segment;
  size_t kernel = 0;  // the product, of which the loop takes the place
};

// The block of a tensor of the workspace that a kernel of a loop copies, and does nothing else;
// invalid: it does another thing.
ir::TensorId copied_by(const Function& f, const Kernel& k);

// The last product of groups of a planned function, whose graph and places get the blocks. None: it
// has none, it cannot be cut, or a later kernel writes as much.
std::optional<ResultBlocks> block_last_result(Function& f, const Costs& costs);

}  // namespace attn::plan
