// Work on the elements of large tensors, cut into blocks that the threads of a context share.
#pragma once

#include <algorithm>

#include "context.h"

namespace attn::rt {

// task(begin, end) for every block of elements.
template <class Task>
void for_blocks(attn_context* context, int64_t count, Task task) {
  constexpr int64_t kBlock = 65536;
  parallel_for(context, (count + kBlock - 1) / kBlock, [&](int64_t block) {
    task(block * kBlock, std::min((block + 1) * kBlock, count));
    return 0;
  });
}

template <attn_type kType>
struct TypeConstant {
  static constexpr attn_type value = kType;
};

// task(TypeConstant) of a real type.
template <class Task>
void with_type(attn_type type, Task task) {
  switch (type) {
    case ATTN_F64:
      return task(TypeConstant<ATTN_F64>());
    case ATTN_F16:
      return task(TypeConstant<ATTN_F16>());
    case ATTN_BF16:
      return task(TypeConstant<ATTN_BF16>());
    default:
      return task(TypeConstant<ATTN_F32>());
  }
}

}  // namespace attn::rt
