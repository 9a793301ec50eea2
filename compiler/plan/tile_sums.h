// Claims groups of wide tensors and of the sums that read them: one kernel that stores none of
// them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/plan/plan.h"

namespace attn::plan {

// A contraction and the definitions that it computes: the sum, and what its epilogue finishes. A
// sum of one factor has a panel of ones, and neither rows nor columns.
struct Whole {
  Contraction contraction;
  ir::Definition sum;
  ir::Definition definition;
  bool alone;  // it computes this sum only
};

// The kernel, and the places of the contractions in it.
struct TileClaim {
  TileSums sums;
  std::set<size_t> members;
};

// The group around the wide tensor that `seed` computes, or nothing where one of its readers cannot
// be part. `all` are the contractions by the place of their last definition in `g`; `readers` the
// places that read each tensor (those of the contraction for its sums), SIZE_MAX for an output.
std::optional<TileClaim> claim_tiles(const ir::Graph& g, size_t seed,
                                     const std::map<size_t, Whole>& all,
                                     const std::map<ir::TensorId, std::set<size_t>>& readers,
                                     const std::set<ir::TensorId>& wide);

}  // namespace attn::plan
