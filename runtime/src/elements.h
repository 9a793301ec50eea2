// Single elements of any type as double.
#pragma once

#include <attn/types.h>

namespace attn::rt {

inline bool is_real(attn_type type) {
  return type == ATTN_F32 || type == ATTN_F64 || type == ATTN_F16 || type == ATTN_BF16;
}

inline double get_real(attn_type type, const void* data, int64_t k) {
  switch (type) {
    case ATTN_F32:
      return static_cast<const float*>(data)[k];
    case ATTN_F64:
      return static_cast<const double*>(data)[k];
    case ATTN_F16:
      return attn_f32_from_f16(static_cast<const uint16_t*>(data)[k]);
    case ATTN_BF16:
      return attn_f32_from_bf16(static_cast<const uint16_t*>(data)[k]);
    case ATTN_I32:
      return static_cast<const int32_t*>(data)[k];
    case ATTN_BOOL:
      return static_cast<const uint8_t*>(data)[k];
  }
  return 0;
}

inline void put_real(attn_type type, void* data, int64_t k, double value) {
  switch (type) {
    case ATTN_F32:
      static_cast<float*>(data)[k] = static_cast<float>(value);
      break;
    case ATTN_F64:
      static_cast<double*>(data)[k] = value;
      break;
    case ATTN_F16:
      static_cast<uint16_t*>(data)[k] = attn_f16_from_f64(value);
      break;
    case ATTN_BF16:
      static_cast<uint16_t*>(data)[k] = attn_bf16_from_f64(value);
      break;
    case ATTN_I32:
      static_cast<int32_t*>(data)[k] = static_cast<int32_t>(value);
      break;
    case ATTN_BOOL:
      static_cast<uint8_t*>(data)[k] = value != 0;
      break;
  }
}

}  // namespace attn::rt
