// Types of PTX: how a register of 64 bits holds a value, and how values are rounded to a type.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace ptx {

// f32z: f32 whose instruction has `.ftz`.
enum class Type {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  tf32,
  f32,
  f32z,
  f64,
  f16x2,
  bf16x2
};

Type type_named(const std::string& name);
int bytes_of(Type type);
bool is_float(Type type);
bool is_signed(Type type);

// Of a conversion: to the nearest, to zero, down, up; to the nearest with ties away from zero.
enum class Rounding : uint8_t { nearest, zero, down, up, away };

// The nearest integer in that direction.
long double round_integer(long double x, Rounding rounding);
// The nearest number of `digits` binary digits whose exponent is at least `least`; no overflow.
long double round_to(long double x, int digits, int least, Rounding rounding);
uint16_t half_of(long double x, Rounding rounding = Rounding::nearest);
float of_half(uint64_t bits);
uint16_t bfloat_of(long double x, Rounding rounding = Rounding::nearest);
inline float of_bfloat(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
float single_of(long double x, Rounding rounding);
// A number of 19 bits: what tensor cores read of one of 32.
inline float of_tf32(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) & 0xffffe000u);
}

inline float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

// By type: the value that instructions work with, and its bits in a register.
template <class V>
struct Integer {
  using Value = V;
  static V load(uint64_t bits) { return static_cast<V>(bits); }
  static uint64_t store(V value) { return static_cast<uint64_t>(value); }
};
template <Type>
struct Tag;
template <>
struct Tag<Type::pred> : Integer<bool> {};
template <>
struct Tag<Type::b8> : Integer<uint8_t> {};
template <>
struct Tag<Type::b16> : Integer<uint16_t> {};
template <>
struct Tag<Type::b32> : Integer<uint32_t> {};
template <>
struct Tag<Type::b64> : Integer<uint64_t> {};
template <>
struct Tag<Type::u8> : Integer<uint8_t> {};
template <>
struct Tag<Type::u16> : Integer<uint16_t> {};
template <>
struct Tag<Type::u32> : Integer<uint32_t> {};
template <>
struct Tag<Type::u64> : Integer<uint64_t> {};
template <>
struct Tag<Type::s8> : Integer<int8_t> {};
template <>
struct Tag<Type::s16> : Integer<int16_t> {};
template <>
struct Tag<Type::s32> : Integer<int32_t> {};
template <>
struct Tag<Type::s64> : Integer<int64_t> {};
template <>
struct Tag<Type::f32> {
  using Value = float;
  static float load(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
  static uint64_t store(float value) { return std::bit_cast<uint32_t>(value); }
};
template <>
struct Tag<Type::f32z> {
  using Value = float;
  static float load(uint64_t bits) { return flushed(Tag<Type::f32>::load(bits)); }
  static uint64_t store(float value) { return Tag<Type::f32>::store(flushed(value)); }
};
template <>
struct Tag<Type::f64> {
  using Value = double;
  static double load(uint64_t bits) { return std::bit_cast<double>(bits); }
  static uint64_t store(double value) { return std::bit_cast<uint64_t>(value); }
};
// Sums and products of two numbers of 16 bits are rounded once: their value is a double.
template <>
struct Tag<Type::f16> {
  using Value = double;
  static double load(uint64_t bits) { return of_half(bits & 0xffff); }
  static uint64_t store(double value) { return half_of(value); }
};
template <>
struct Tag<Type::bf16> {
  using Value = double;
  static double load(uint64_t bits) { return of_bfloat(bits & 0xffff); }
  static uint64_t store(double value) { return bfloat_of(value); }
};

}  // namespace ptx
