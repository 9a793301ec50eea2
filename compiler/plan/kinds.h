// The kinds of kernels, and how each claims definitions.
#pragma once

#include <optional>
#include <set>
#include <span>

#include "compiler/plan/plan.h"

namespace attn::plan {

// A sum of products of two factors, matrices or, in a batch, each a matrix and a vector of its own
// (one vector for all rows is better read with what else reads the rows), alone or with the map
// that finishes it. `finish` may be null; it reads the sum at its own free indices only. `keep`:
// the sum is stored beside what finishes it.
std::optional<ContractionForm> claim_contraction(const ir::Graph& g, const ir::Definition& sum,
                                                 const ir::Definition* finish, bool keep = false);

// Whether its factors are packed, each element once: a matrix times a vector is read where it lies.
bool packs(const ir::Graph& g, const ContractionForm& c);

// Adds the products of `other` to the terms of `c`, the contraction of `first`, where its epilogue
// only adds the two sums and their groups of indices agree; false, with `c` as it was, elsewhere.
bool join_sum(const ir::Graph& g, ContractionForm& c, const ir::Definition& first,
              const ir::Definition& other);

// Definitions that one pass over rows can compute, run[0] among them; nothing taken where there are
// none. `run` are definitions in order, none computed yet, and `later` the targets beside them that
// are not computed either: no member of the claim reads these, so the kernel can come at once.
struct RowClaim {
  RowForm form;
  std::vector<size_t> taken;  // the places of its definitions in `run`
};
RowClaim claim_row(const ir::Graph& g, std::span<const ir::Definition> run,
                   const std::set<ir::TensorId>& later);

// Takes reductions over several indices, of which the last runs along memory, in two steps: over
// one index, then over the rest. `definitions` are the graph's to be.
std::vector<ir::Definition> split_sums(ir::Graph& g, std::vector<ir::Definition> definitions);

// Why `d` lowers slowly as plain loops, or empty where loops are the right form (maps, small sums).
std::string why_slow(const ir::Graph& g, const ir::Definition& d);

}  // namespace attn::plan
