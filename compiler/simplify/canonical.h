// Definitions up to the names of their indices.
#pragma once

#include <compare>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::simplify {

// What is equal for equal definitions and quick to compute.
struct Signature {
  ir::Combine combine;
  ir::Type type;
  std::vector<ir::Poly> free;     // extents, by position
  std::vector<ir::Poly> reduced;  // extents, sorted
  std::set<ir::TensorId> tensors;
  uint64_t weight;
  auto operator<=>(const Signature&) const = default;
};
Signature signature(const ir::Graph& g, const ir::Definition& d);

// Body and guard with the free indices numbered by position and the reduced ones in the order that
// gives the least result. Two definitions of one signature compute the same when these are equal.
struct Canonical {
  std::vector<ir::Poly> reduced;
  ir::Expr body;
  ir::Conditions guard;
  auto operator<=>(const Canonical&) const = default;
};
Canonical canonical(const ir::Graph& g, const ir::Definition& d);

}  // namespace attn::simplify
