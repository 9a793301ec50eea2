// Definitions in the terms of a group: unmaterialised tensors over (batch, row, column), which
// exist in tiles only, and what sums them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/plan/plan.h"
#include "compiler/plan/sets.h"

namespace attn::plan {

struct Axes {
  std::vector<ir::IndexId> batch;
  ir::IndexId row, column;
};

inline bool reads_any(const ir::Expr& e, const std::set<ir::TensorId>& some) {
  return has_any(some, ir::tensors(e));
}

// Definition `d` of an unmaterialised tensor. Its products are divided into a factor of the rows
// and one of the columns where they can be.
Tile tile_of(const ir::Graph& g, const ir::Definition& d, const Names& names, const Axes& axes);

// The number of the tile that is `weight` where `counted` holds, and 0 elsewhere: a new one where
// none is.
size_t weight_tile(std::vector<Tile>& tiles, const ir::Expr& weight, const ir::Conditions& counted);

// Merges tiles that are sums of products into the only tile that reads them. Numbers in `results`
// are those of the tiles that are left.
void fuse_tiles(const ir::Graph& g, std::vector<Tile>& tiles, std::vector<TileResult>& results);

}  // namespace attn::plan
