// Single elements of any type as double. Arrays need not be aligned.
#pragma once

#include <attn/types.h>

namespace attn::rt {

inline bool is_real(attn_type type) { return type <= ATTN_BF16; }

inline int64_t bytes_of(const attn_tensor& tensor) {
  return attn_element_count(&tensor) * attn_type_size(tensor.type);
}

template <class T>
T get(const void* data, int64_t k) {
  T value;
  memcpy(&value, static_cast<const char*>(data) + k * int64_t{sizeof(T)}, sizeof(T));
  return value;
}

template <class T>
void put(void* data, int64_t k, T value) {
  memcpy(static_cast<char*>(data) + k * int64_t{sizeof(T)}, &value, sizeof(T));
}

inline double get_real(attn_type type, const void* data, int64_t k) {
  switch (type) {
    case ATTN_F32:
      return get<float>(data, k);
    case ATTN_F64:
      return get<double>(data, k);
    case ATTN_F16:
      return attn_f32_from_f16(get<uint16_t>(data, k));
    case ATTN_BF16:
      return attn_f32_from_bf16(get<uint16_t>(data, k));
    case ATTN_I32:
      return get<int32_t>(data, k);
    case ATTN_BOOL:
      return get<uint8_t>(data, k);
  }
  return 0;
}

inline void put_real(attn_type type, void* data, int64_t k, double value) {
  switch (type) {
    case ATTN_F32:
      return put(data, k, static_cast<float>(value));
    case ATTN_F64:
      return put(data, k, value);
    case ATTN_F16:
      return put(data, k, attn_f16_from_f64(value));
    case ATTN_BF16:
      return put(data, k, attn_bf16_from_f64(value));
    case ATTN_I32:
      return put(data, k, static_cast<int32_t>(value));
    case ATTN_BOOL:
      return put(data, k, static_cast<uint8_t>(value != 0));
  }
}

}  // namespace attn::rt
