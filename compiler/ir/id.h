// Typed positions in the lists of a graph.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <set>

namespace attn::ir {

template <class Tag>
struct Id {
  int32_t value = -1;
  auto operator<=>(const Id&) const = default;
  bool valid() const { return value >= 0; }
};

using SizeId = Id<struct SizeTag>;
using IndexId = Id<struct IndexTag>;
using TensorId = Id<struct TensorTag>;

template <class T>
void insert_all(std::set<T>& to, const std::set<T>& from) {
  to.insert(from.begin(), from.end());
}

}  // namespace attn::ir

template <class Tag>
struct std::hash<attn::ir::Id<Tag>> {
  size_t operator()(attn::ir::Id<Tag> id) const { return std::hash<int32_t>()(id.value); }
};
