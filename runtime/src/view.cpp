// Views of tensors as kernels take them, and the scan for non-finite bits.
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

// Adding one unit of the exponent to the exponent's bits carries into the sign exactly when they
// were all ones. A whole block is or-ed before it is looked at, which the compiler vectorises.
template <class Bits, Bits kExponent, Bits kUnit>
int has_non_finite(const void* data, int64_t count) {
  constexpr int64_t kBlock = 256;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits* values = static_cast<const Bits*>(data);
  int64_t k = 0;
  for (; k + kBlock <= count; k += kBlock) {
    Bits found = 0;
    for (int64_t j = 0; j < kBlock; ++j) {
      found = static_cast<Bits>(found | static_cast<Bits>((values[k + j] & kExponent) + kUnit));
    }
    if ((found & kSign) != 0) return 1;
  }
  for (; k < count; ++k) {
    if ((static_cast<Bits>((values[k] & kExponent) + kUnit) & kSign) != 0) return 1;
  }
  return 0;
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

int attn_has_non_finite(const void* data, attn_type type, int64_t count) {
  switch (type) {
    case ATTN_F32:
      return has_non_finite<uint32_t, 0x7f800000u, 0x00800000u>(data, count);
    case ATTN_F64:
      return has_non_finite<uint64_t, 0x7ff0000000000000u, 0x0010000000000000u>(data, count);
    case ATTN_F16:
      return has_non_finite<uint16_t, 0x7c00u, 0x0400u>(data, count);
    case ATTN_BF16:
      return has_non_finite<uint16_t, 0x7f80u, 0x0080u>(data, count);
    default:
      return 0;
  }
}
