// Definitions up to the names of their indices.
#pragma once

#include <compare>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::ir {

// What is equal for equal definitions and quick to compute.
struct QuickKey {
  Combine combine;
  Type type;
  std::vector<Poly> free;     // extents, by position
  std::vector<Poly> reduced;  // extents, sorted
  std::set<TensorId> tensors;
  uint64_t weight;
  auto operator<=>(const QuickKey&) const = default;
};
QuickKey quick_key(const Graph& g, const Definition& d);

// Equal for two definitions of one graph that compute the same tensor, whatever their indices are
// called and in whatever order they reduce; the targets do not count. Body, guard and position have the free
// indices numbered by position and the reduced ones in the order that gives the least key.
struct Key {
  QuickKey quick;
  std::vector<Poly> reduced;
  Expr body;
  Conditions guard;
  std::vector<Expr> position;
  auto operator<=>(const Key&) const = default;
};
Key key(const Graph& g, const Definition& d);

}  // namespace attn::ir
