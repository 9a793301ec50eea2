// Views of tensors as kernels take them.
#include <attn/types.h>

#include <algorithm>
#include <limits>

#include "context.h"

namespace attn::rt {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

void set_type(attn_buffer* view, attn_type type) {
  constexpr uint8_t kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4;
  view->type.lanes = 1;
  view->type.bits = static_cast<uint8_t>(8 * attn_type_size(type));
  switch (type) {
    case ATTN_I32:
      view->type.code = kInt;
      break;
    case ATTN_BOOL:
      view->type.code = kUint;
      view->type.bits = 1;
      break;
    case ATTN_BF16:
      view->type.code = kBfloat;
      break;
    default:
      view->type.code = kFloat;
  }
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

int attn_view(attn_context* context, attn_buffer* view, attn_dimension* dimensions, void* data,
              attn_type type, int32_t rank, const int64_t* extent) {
  *view = attn_buffer{};
  set_type(view, type);
  view->host = data;
  view->dimensions = rank;
  view->dim = dimensions;
  bool empty = false;
  for (int32_t k = 0; k < rank; ++k) {
    if (extent[k] > kLargest) {
      attn_fail(context, ATTN_REFUSED, "an extent is %lld, kernels take at most 2^31 - 1",
                static_cast<long long>(extent[k]));
      return 1;
    }
    empty = empty || extent[k] <= 0;
  }
  int64_t stride = 1;
  for (int32_t k = 0; k < rank; ++k) {
    const int64_t e = std::max<int64_t>(extent[rank - 1 - k], 1);
    if (stride > kLargest && e > 1) {
      attn_fail(context, ATTN_REFUSED, "a stride is %lld, kernels take at most 2^31 - 1",
                static_cast<long long>(stride));
      return 1;
    }
    dimensions[k].min = 0;
    dimensions[k].extent = static_cast<int32_t>(e);
    dimensions[k].stride = static_cast<int32_t>(std::min(stride, kLargest));
    dimensions[k].flags = 0;
    if (empty && k > 0) dimensions[k].stride = 0;
    stride = std::min<int64_t>(stride, kLargest + 1) * e;
  }
  if (!empty) return 0;
  // The innermost stride stays 1, which kernels demand, so one row of zeros serves every place.
  const int64_t row = rank > 0 ? std::max<int64_t>(extent[rank - 1], 1) : 1;
  const size_t bytes = static_cast<size_t>(row * attn_type_size(type));
  if (context != nullptr) view->host = call_allocate(context, bytes);
  if (context == nullptr || view->host == nullptr) {
    attn_fail(context, ATTN_NO_MEMORY, "out of memory");
    return 1;
  }
  return 0;
}
