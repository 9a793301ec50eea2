// What attn.hpp and products.hpp do with tensors of their own: making them in a shape, finding them
// by name.
#pragma once

#include <attn/abi.h>

#include <attn/tensor.hpp>
#include <string_view>

namespace attn::detail {

// Null where there is none, as the C interface wants it.
inline const attn_tensor* views(const std::vector<attn_tensor>& list) {
  return list.empty() ? nullptr : list.data();
}

// The position of a name; `count` where there is none.
inline size_t find(const attn_argument* list, int32_t count, std::string_view name) {
  size_t k = 0;
  while (k < static_cast<size_t>(count) && name != list[k].name) ++k;
  return k;
}

inline bool same_shape(const attn_tensor& a, const attn_tensor& b) {
  if (a.type != b.type || a.rank != b.rank) return false;
  for (int k = 0; k < a.rank; ++k) {
    if (a.extent[k] != b.extent[k]) return false;
  }
  return true;
}

// Keeps the tensor where it has that shape.
inline Status make(Tensor& tensor, const attn_tensor& shape) {
  if (tensor.ok() && same_shape(tensor.view(), shape)) return {};
  tensor = Tensor::like(shape);
  return tensor.ok() ? Status() : Status(ATTN_NO_MEMORY, "out of memory");
}

// At least `bytes` bytes; never null, so that an empty buffer is still a buffer.
inline Status make_buffer(Tensor& buffer, int64_t bytes) {
  if (buffer.ok() && buffer.bytes() >= bytes) return {};
  View shape;
  shape.type = ATTN_BOOL;
  shape.rank = 1;
  shape.extent[0] = bytes;
  buffer = Tensor::unset(shape);
  return buffer.ok() ? Status() : Status(ATTN_NO_MEMORY, "out of memory");
}

}  // namespace attn::detail
