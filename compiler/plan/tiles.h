// Definitions in the terms of a group: unmaterialised tensors over (batch, row, column), which
// exist in tiles only, and what sums them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/plan/plan.h"

namespace attn::plan {

// A definition's indices among the group's.
using Names = std::map<ir::IndexId, ir::IndexId>;

struct Axes {
  std::vector<ir::IndexId> batch;
  ir::IndexId row, column;
  bool in_batch(ir::IndexId i) const;
};

// Each of a definition's indices as the group's.
std::map<ir::IndexId, ir::Expr> values_of(const Names& names);
std::vector<ir::Expr> factors_of(const ir::Expr& e);
bool contains(const std::vector<ir::IndexId>& all, ir::IndexId i);
bool uses_any(const std::set<ir::IndexId>& used, const std::vector<ir::IndexId>& some);
bool reads_any(const ir::Expr& e, const std::set<ir::TensorId>& some);

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
