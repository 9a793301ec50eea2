// One range for each index of a group.
#pragma once

#include "compiler/plan/grow.h"

namespace attn::plan {

// Gives all definitions of a group the same extents of its indices, those of the readers:
// unmaterialised tensors are cut to them, or are 0 beyond their own, and sums over less get a
// condition. False, with the graph as it was, where readers keep an index at different extents, or
// where no extent can be shown to be the largest; `misfit` is then such a reader. The
// unmaterialised tensors must have no other readers.
bool unify_ranges(ir::Graph& g, Group& group, ir::TensorId& misfit);

}  // namespace attn::plan
