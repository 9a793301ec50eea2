// Which tensors are better kept in tiles because of how they are read, whatever their sizes depend
// on.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace attn::solve {

// Marks sums of products of two factors that both come from data and have fewer elements together
// than the sum, and the maps of these, where every reader is such a map, sums over an index that
// only one of the factors has, or sums over the batch alone. All read each point once, be it at the
// digits of an index. Some reader makes more of them than another product of that kind: several
// such products in a row are better computed one after the other. Where steps of recurrences read
// them, nothing else does, and each at its own step.
std::vector<bool> read_in_tiles(const ir::Graph& g);

}  // namespace attn::solve
