/* Element types: sizes, names, and exact conversions of the two half precision formats. */
#ifndef ATTN_TYPES_H
#define ATTN_TYPES_H

#include <attn/abi.h>
#include <string.h>

ATTN_BEGIN_C

/* Bytes of one element; 0 for a value that is no type. */
static inline int64_t attn_type_size(attn_type type) {
  static const int8_t sizes[] = {4, 8, 2, 2, 4, 1}; /* by attn_type */
  return type >= ATTN_F32 && type <= ATTN_BOOL ? sizes[type] : 0;
}

/* The type of a gradient or cotangent of a tensor: that of arithmetic, since a half precision sum
 * would lose what training adds up. */
static inline attn_type attn_gradient_type(attn_type type) {
  return type == ATTN_F16 || type == ATTN_BF16 ? ATTN_F32 : type;
}

static inline const char* attn_type_name(attn_type type) {
  static const char names[][5] = {"f32", "f64", "f16", "bf16", "i32", "bool"}; /* by attn_type */
  return type >= ATTN_F32 && type <= ATTN_BOOL ? names[type] : "unknown";
}

/* Elements of a tensor, 0 when an extent is 0; -1 when an extent is negative, the rank is out of
 * range, the bytes exceed 2^63 - 1, or the tensor is null. A zero beside a huge extent does not hide the overflow. */
static inline int64_t attn_element_count(const attn_tensor* tensor) {
  int64_t count = 1, bytes = tensor != NULL ? attn_type_size(tensor->type) : 0;
  int empty = 0, k;
  if (bytes == 0 || tensor->rank < 0 || tensor->rank > ATTN_MAX_RANK) return -1;
  for (k = 0; k < tensor->rank; ++k) {
    const int64_t extent = tensor->extent[k];
    if (extent < 0) return -1;
    if (extent == 0) {
      empty = 1;
      continue;
    }
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
    count *= extent;
  }
  return empty ? 0 : count;
}

/* The conversions work on bits, so no rounding or flushing mode of the processor changes them. */

static inline float attn_f32_from_bf16(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline float attn_f32_from_f16(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu, mantissa = half & 0x3ffu, bits;
  float value;
  if (exponent == 0x1fu) {
    bits = sign | 0x7f800000u | (mantissa << 13);
  } else if (exponent != 0) {
    bits = sign | ((exponent + 112u) << 23) | (mantissa << 13);
  } else if (mantissa == 0) {
    bits = sign;
  } else {
    exponent = 113u;
    while (!(mantissa & 0x400u)) {
      mantissa <<= 1;
      --exponent;
    }
    bits = sign | (exponent << 23) | ((mantissa & 0x3ffu) << 13);
  }
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Rounds to the nearest, ties to even, from the full double: going through f32 would round twice.
 * `mantissa_bits` and `exponent_bits` describe the narrow format. */
static inline uint16_t attn_narrow_from_f64(double value, int mantissa_bits, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t infinity = ((1u << exponent_bits) - 1u) << mantissa_bits;
  uint64_t bits, significand, half, rest;
  uint32_t sign, result;
  int exponent, shift;
  memcpy(&bits, &value, sizeof bits);
  sign = (uint32_t)(bits >> 63) << 15;
  exponent = (int)((bits >> 52) & 0x7ff);
  significand = bits & 0xfffffffffffffull;
  if (exponent == 0x7ff) { /* a NaN keeps its high bits and stays a NaN */
    result = infinity | (uint32_t)(significand >> (52 - mantissa_bits));
    if (significand != 0) result |= 1u << (mantissa_bits - 1);
    return (uint16_t)(sign | result);
  }
  if (exponent == 0) return (uint16_t)sign; /* below every subnormal of both formats */
  significand |= 1ull << 52;
  exponent += bias - 1023; /* biased exponent in the narrow format */
  if (exponent >= (1 << exponent_bits) - 1) return (uint16_t)(sign | infinity);
  shift = 52 - mantissa_bits;
  if (exponent <= 0) { /* subnormal: the implicit one becomes explicit */
    shift += 1 - exponent;
    exponent = 0;
    if (shift > 63) return (uint16_t)sign;
  }
  half = 1ull << (shift - 1);
  rest = significand & ((1ull << shift) - 1);
  result = (uint32_t)(significand >> shift);
  if (rest > half || (rest == half && (result & 1u))) ++result;
  /* A normal result has the implicit one, which adds 1 to the exponent field below; a carry out of
   * the mantissa does the same and may reach infinity, as it should. */
  if (exponent > 0) result += (uint32_t)(exponent - 1) << mantissa_bits;
  return (uint16_t)(sign | result);
}

static inline uint16_t attn_f16_from_f64(double value) {
  return attn_narrow_from_f64(value, 10, 5);
}
static inline uint16_t attn_bf16_from_f64(double value) {
  return attn_narrow_from_f64(value, 7, 8);
}

/* A subnormal f32 would be flushed by a conversion to double under DAZ; none is a subnormal or
 * normal f16, and for bf16 its bits are rounded directly. */
static inline uint16_t attn_bf16_from_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return (uint16_t)(bits >> 16);
}
static inline uint16_t attn_f16_from_f32(float value) { return attn_f16_from_f64((double)value); }

ATTN_END_C
#endif
