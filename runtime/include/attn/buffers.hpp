// What attn.hpp and products.hpp do with tensors of their own: making them in a shape, finding them
// by name.
#pragma once

#include <attn/abi.h>

#include <algorithm>
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

// Keeps the tensor where it has that shape, and is in memory of the context's device.
inline bool is_there(const Context& context, const Tensor& tensor) {
  const attn_device_id a = tensor.view().device, b = context.device();
  return tensor.ok() && a.type == b.type && a.ordinal == b.ordinal;
}
inline Status make(Context& context, Tensor& tensor, const attn_tensor& shape) {
  if (is_there(context, tensor) && same_shape(tensor.view(), shape)) return {};
  tensor = Tensor::like(shape, &context);
  return tensor.ok() ? Status() : Status(ATTN_NO_MEMORY, "out of memory");
}

// At least `bytes` bytes; never null, so that an empty buffer is still a buffer.
inline Status make_buffer(Context& context, Tensor& buffer, int64_t bytes) {
  if (is_there(context, buffer) && buffer.bytes() >= bytes) return {};
  View shape;
  shape.type = ATTN_BOOL;
  shape.rank = 1;
  shape.extent[0] = bytes;
  buffer = Tensor::unset(shape, &context);
  return buffer.ok() ? Status() : Status(ATTN_NO_MEMORY, "out of memory");
}

// Arrays of the host that a context's device does not see; calls get copies, which are kept.
class Staged {
 public:
  Status take(Context& context, std::vector<attn_tensor>& list) {
    if (context.elsewhere() == nullptr) return {};
    copies_.resize(std::max(copies_.size(), list.size()));
    for (size_t k = 0; k < list.size(); ++k) {
      attn_tensor& given = list[k];
      if (given.data == nullptr || given.device.type != ATTN_CPU) continue;
      if (Status s = make(context, copies_[k], given); !s) return s;
      Status s = context.status(attn_copy(context.get(), &copies_[k].view(), &given));
      if (!s) return s;
      given = copies_[k].view();
    }
    return {};
  }

 private:
  std::vector<Tensor> copies_;
};

}  // namespace attn::detail
