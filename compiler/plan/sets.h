// Questions about a definition's indices, and about sets of indices and tensors.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/ir/expr.h"

namespace attn::plan {

// Indices as others, of a group or a kernel, name them.
using Names = std::map<ir::IndexId, ir::IndexId>;

inline std::map<ir::IndexId, ir::Expr> values_of(const Names& names) {
  std::map<ir::IndexId, ir::Expr> values;
  for (auto [own, other] : names) values.emplace(own, ir::index_value(other));
  return values;
}

inline bool contains(const std::vector<ir::IndexId>& all, ir::IndexId i) {
  return std::ranges::find(all, i) != all.end();
}

// Whether a set, or a map by key, has any or all of `some`.
template <class Some, class Set>
bool has_any(const Set& set, const Some& some) {
  return std::ranges::any_of(some, [&](const auto& x) { return set.count(x) > 0; });
}
template <class Some, class Set>
bool has_all(const Set& set, const Some& some) {
  return std::ranges::all_of(some, [&](const auto& x) { return set.count(x) > 0; });
}

template <class Some, class Set>
bool has_none(const Set& set, const Some& some) {
  return !has_any(set, some);
}

}  // namespace attn::plan
