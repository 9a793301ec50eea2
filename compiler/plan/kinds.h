// The kinds of kernels, and how each claims definitions.
#pragma once

#include <optional>
#include <span>

#include "compiler/plan/plan.h"

namespace attn::plan {

extern const KernelKind kContraction;
extern const KernelKind kRow;
extern const KernelKind kLoops;

// The kinds in the order in which they are asked; the last takes anything.
std::span<const KernelKind* const> kinds();

// A sum of products with two factors worth packing, alone or with the map that finishes it.
// `finish` may be null; its only read of the sum is at its own free indices.
std::optional<Contraction> claim_contraction(ir::Graph& g, const ir::Definition& sum,
                                             const ir::Definition* finish);

// The longest run of definitions from `first` on that one pass over rows can compute; the number of
// definitions taken, or 0. `stored` tells which targets must be in memory afterwards.
struct RowClaim {
  Row row;
  std::vector<ir::Definition> definitions;  // over the kernel's indices
  size_t taken = 0;
};
RowClaim claim_row(ir::Graph& g, std::span<const ir::Definition> definitions);

// Why `d` lowers slowly as plain loops, or empty where loops are the right form (maps, small sums).
std::string why_slow(const ir::Graph& g, const ir::Definition& d);

}  // namespace attn::plan
