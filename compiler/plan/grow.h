// Groups of unmaterialised tensors and of the definitions that read them.
#pragma once

#include <optional>

#include "compiler/plan/tiles.h"

namespace attn::plan {

// One group, its definitions named by their targets.
struct Group {
  Axes axes;
  std::vector<ir::IndexId> indices;  // batch, row and column, as the seed has them
  std::map<ir::TensorId, Names> names;
  std::set<ir::TensorId> tiles;
  std::vector<ir::TensorId> readers;  // in the graph's order
};

// The group around `seed`, which grows along the definitions that read a tile and what else they
// read, as long as they agree on the indices, whose ranges become the same in all of them. Nothing
// where one does not fit: `misfit` is then it, or the tensor that it reads. `candidates` may become
// tiles.
std::optional<Group> grow_group(ir::Graph& g, const Costs& costs,
                                const std::set<ir::TensorId>& candidates, ir::TensorId seed,
                                ir::TensorId& misfit);

// A sum of products over the points of an unmaterialised tensor and other indices is split: what
// needs the others is summed first, to a tensor over the points. `candidates` are unmaterialised,
// and get the new ones.
void split_inner_sums(ir::Graph& g, std::set<ir::TensorId>& candidates);

}  // namespace attn::plan
