#include "ptx_types.h"

#include <algorithm>
#include <iterator>

namespace ptx {
namespace {

struct Row {
  const char* name;
  Type type;
  int bytes;
};
constexpr Row kTypes[] = {
    {"pred", Type::pred, 1}, {"b8", Type::b8, 1},       {"b16", Type::b16, 2},
    {"b32", Type::b32, 4},   {"b64", Type::b64, 8},     {"u8", Type::u8, 1},
    {"u16", Type::u16, 2},   {"u32", Type::u32, 4},     {"u64", Type::u64, 8},
    {"s8", Type::s8, 1},     {"s16", Type::s16, 2},     {"s32", Type::s32, 4},
    {"s64", Type::s64, 8},   {"f16", Type::f16, 2},     {"bf16", Type::bf16, 2},
    {"tf32", Type::tf32, 4}, {"f32", Type::f32, 4},     {"f32.ftz", Type::f32z, 4},
    {"f64", Type::f64, 8},   {"f16x2", Type::f16x2, 4}, {"bf16x2", Type::bf16x2, 4},
};

}  // namespace

Type type_named(const std::string& name) {
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const Row& r) { return name == r.name; });
  return row == std::end(kTypes) ? Type::none : row->type;
}

int bytes_of(Type type) {
  for (const Row& row : kTypes)
    if (row.type == type) return row.bytes;
  return 0;
}

bool is_float(Type type) { return type >= Type::f16; }
bool is_signed(Type type) { return type >= Type::s8 && type <= Type::s64; }

long double round_integer(long double x, Rounding rounding) {
  if (rounding == Rounding::zero) return std::trunc(x);
  if (rounding == Rounding::down) return std::floor(x);
  if (rounding == Rounding::up) return std::ceil(x);
  return rounding == Rounding::away ? std::round(x) : std::nearbyint(x);
}

long double round_to(long double x, int digits, int least, Rounding rounding) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| = [1/2, 1) 2^exponent
  const int last = std::max(exponent - digits, least - digits + 1);
  return std::ldexp(round_integer(std::ldexp(x, -last), rounding), last);
}

// 5 bits of exponent, 10 of fraction.
uint16_t half_of(long double x, Rounding rounding) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return 0x7fff;
  const long double r = std::fabs(round_to(x, 11, -14, rounding));
  if (r > 65504.0L) {
    const bool is_inwards =
        std::isfinite(x) &&
        (rounding == Rounding::zero || rounding == (sign != 0 ? Rounding::up : Rounding::down));
    return static_cast<uint16_t>(sign | (is_inwards ? 0x7bff : 0x7c00));
  }
  if (r < std::ldexp(1.0L, -14))
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::ldexp(r, 24)));
  int exponent = 0;
  const long double fraction = std::frexp(r, &exponent);
  const auto bits = static_cast<uint16_t>(std::ldexp(fraction, 11));
  return static_cast<uint16_t>(sign | ((exponent + 14) << 10) | (bits & 0x3ff));
}

float of_half(uint64_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  float value = std::ldexp(static_cast<float>(fraction + (exponent > 0 ? 1024 : 0)),
                           std::max(exponent, 1) - 25);
  if (exponent == 31)
    value = fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                          : std::numeric_limits<float>::infinity();
  return (bits & 0x8000) != 0 ? -value : value;
}

uint16_t bfloat_of(long double x, Rounding rounding) {
  if (std::isnan(x)) return 0x7fff;
  const float r = single_of(round_to(x, 8, -126, rounding), rounding);
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(r) >> 16);
}

float single_of(long double x, Rounding rounding) {
  if (std::isnan(x)) return std::bit_cast<float>(0x7fffffffu);
  if (rounding == Rounding::nearest) return static_cast<float>(x);
  const long double r = round_to(x, 24, -126, rounding);
  const long double most = std::numeric_limits<float>::max();
  if (std::isfinite(x) && std::fabs(r) > most) {
    const bool is_inwards =
        rounding == Rounding::zero || rounding == (std::signbit(x) ? Rounding::up : Rounding::down);
    if (is_inwards) return static_cast<float>(std::copysign(most, x));
  }
  return static_cast<float>(r);
}

}  // namespace ptx
