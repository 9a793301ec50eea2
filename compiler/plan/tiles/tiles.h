// The claim of tiles, step by step: unmaterialised tensors and the definitions that read them form
// groups (grow, ranges), what reads a tile becomes a result of a kernel (results, streaming), and
// the results of a group are divided among kernels (sweeps).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/plan/plan.h"
#include "compiler/plan/sets.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {

struct Axes {
  std::vector<ir::IndexId> batch;
  ir::IndexId row, column;
};

inline bool reads_any(const ir::Expr& e, const std::set<ir::TensorId>& some) {
  return has_any(some, ir::tensors(e));
}

// ---- groups

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

// Gives all definitions of a group the same extents of its indices, those of the readers:
// unmaterialised tensors are cut to them, or are 0 beyond their own, and sums over less get a
// condition. False, with the graph as it was, where readers keep an index at different extents, or
// where no extent can be shown to be the largest; `misfit` is then such a reader. The
// unmaterialised tensors must have no other readers.
bool unify_ranges(ir::Graph& g, Group& group, ir::TensorId& misfit);

// ---- in the terms of a group: tiles, and what sums them

// A tensor of the group. Its products are divided into a factor of the rows and one of the columns
// where they can be.
Tile tile_of(const ir::Graph& g, const Group& group, ir::TensorId t);

// The number of the tile that is `weight` where `counted` holds, and 0 elsewhere: a new one where
// none is.
size_t weight_tile(std::vector<Tile>& tiles, const ir::Expr& weight, const ir::Conditions& counted);

// Merges tiles that are sums of products into the only tile that reads them. Numbers in `results`
// are those of the tiles that are left.
void fuse_tiles(const ir::Graph& g, std::vector<Tile>& tiles, std::vector<TileResult>& results);

// A definition that reads tiles as the result of a kernel, and what is left to do with it.
struct ResultOf {
  TileResult result;                   // its tile: not set
  ir::Expr weight;                     // of the panel, over (batch, row, column)
  ir::Conditions counted;              // where it is not 0
  ir::Conditions outer;                // of the result as a whole
  ir::Definition stored;               // what defines `result.tensor`
  std::optional<ir::Definition> rest;  // reads that, and gives the target of the definition
};

// Of a reader of the group. Nothing where it is neither a sum over the rows or the columns, nor has
// a position for each point. A result over fewer indices than the batch's and the kept one has a
// tensor of its own, new in `g`, that `rest` sums; `rest` also has the factors of the result that
// read `later`.
std::optional<ResultOf> result_of(ir::Graph& g, const solve::Unmaterialised& unmaterialised,
                                  const Group& group, const ir::Definition& d,
                                  const std::set<ir::TensorId>& later);

// The argument of a log-sum-exp over the columns, in the group's indices.
struct Scores {
  ir::Expr argument;
  ir::Conditions visible;
  ir::Expr lse;  // its value at a row
};

// `sum` in this form, or nothing where its weight is anything else or reads `lse` besides.
std::optional<TileResult> weighted_sum(const ir::Graph& g, const Scores& scores,
                                       const ResultOf& sum);

// ---- kernels

struct GroupKernels {
  std::vector<Kernel> kernels;
  std::map<ir::TensorId, std::vector<ir::Definition>> replaced;  // of a reader: what computes it
};

// The results of a group are computed in sweeps: a tile that needs a result of one sweep can be
// used in the next only, and is computed again there. `others` are kernels of other groups, whose
// definitions stand together in `g`. Nothing where a reader is no result; `misfit` is then its
// target.
std::optional<GroupKernels> kernels_of(ir::Graph& g, const solve::Unmaterialised& unmaterialised,
                                       const Group& group, const std::vector<Kernel>& others,
                                       ir::TensorId& misfit);

}  // namespace attn::plan
