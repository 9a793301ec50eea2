// Kernels that keep wide tensors in tiles.
#pragma once

#include <map>
#include <set>

#include "compiler/plan/plan.h"
#include "compiler/solve/wide.h"

namespace attn::plan {

struct Groups {
  std::map<ir::TensorId, Kernel> kernels;  // by the target of the definition at which each runs
  std::set<ir::TensorId> members;          // all that they compute
};

// Groups the wide tensors of `g` with the definitions that read them. Sums over part of a group's
// batch get tensors of their own, new in `g`; the definitions are put in an order in which each
// kernel can run as a whole. Wide tensors of no group stay as they are.
Groups find_groups(ir::Graph& g, const solve::Wide& wide);

}  // namespace attn::plan
