// Comparisons, and conversions between types.
#include <algorithm>

#include "ptx_machine.h"

namespace ptx {
namespace {

// How two numbers compare: a bit each for less, equal, greater and unordered.
struct Relation {
  const char* name;
  uint8_t holds;
};
constexpr Relation kRelations[] = {
    {"eq", 2},  {"ne", 5},   {"lt", 1},   {"le", 3},   {"gt", 4},   {"ge", 6},
    {"lo", 1},  {"ls", 3},   {"hi", 4},   {"hs", 6},   {"equ", 10}, {"neu", 13},
    {"ltu", 9}, {"leu", 11}, {"gtu", 12}, {"geu", 14}, {"num", 7},  {"nan", 8},
};
// How the result is combined with a third operand.
enum : uint8_t { kAlone, kWithAnd, kWithOr, kWithXor };

// `p` or `p|q`, which gets the opposite.
template <Type kType>
bool compare(Thread& t, const Instruction& i) {
  const uint32_t first = i.flag ? 2 : 1;
  const auto a = read<kType>(t, i.at[first]), b = read<kType>(t, i.at[first + 1]);
  const int relation = a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
  bool holds = (relation & i.count) != 0, opposite = !holds;
  if (i.kind != kAlone) {
    const bool other =
        read<Type::pred>(t, i.at[first + 2]) != (((i.negated >> (first + 2)) & 1) != 0);
    const auto combined = [&](bool own) {
      return i.kind == kWithAnd ? own && other : i.kind == kWithOr ? own || other : own != other;
    };
    holds = combined(holds), opposite = combined(opposite);
  }
  write<Type::pred>(t, i.at[0], holds);
  if (i.flag) write<Type::pred>(t, i.at[1], opposite);
  return true;
}

template <Type... kTypes>
Step compare_of(Type type) {
  Step step = nullptr;
  ((type == kTypes ? void(step = compare<kTypes>) : void()), ...);
  return step;
}

bool take_rounding(Name& rest, Instruction& in) {
  constexpr const char* kNames[] = {"rn", "rz", "rm", "rp", "rna"};
  constexpr const char* kOfIntegers[] = {"rni", "rzi", "rmi", "rpi"};
  for (int k = 0; k < 5; ++k)
    if (rest.take(kNames[k])) return in.rounding = static_cast<Rounding>(k), true;
  for (int k = 0; k < 4; ++k)
    if (rest.take(kOfIntegers[k]))
      return in.rounding = static_cast<Rounding>(k), in.to_integer = true;
  return false;
}

// What is converted: exact in one of three.
struct Number {
  enum { real, positive, negative } kind = real;
  long double value = 0;
  uint64_t bits = 0;
};
Number number(const Thread& t, const Instruction& i) {
  const uint32_t slot = i.at[1];
  const auto of = [](auto integer) {
    return Number{integer < 0 ? Number::negative : Number::positive,
                  static_cast<long double>(integer), static_cast<uint64_t>(integer)};
  };
  switch (i.from) {
    case Type::f16:
      return {Number::real, read<Type::f16>(t, slot), 0};
    case Type::bf16:
      return {Number::real, read<Type::bf16>(t, slot), 0};
    case Type::f32:
      return {Number::real, read<Type::f32>(t, slot), 0};
    case Type::f32z:
      return {Number::real, read<Type::f32z>(t, slot), 0};
    case Type::f64:
      return {Number::real, read<Type::f64>(t, slot), 0};
    case Type::s8:
      return of(read<Type::s8>(t, slot));
    case Type::s16:
      return of(read<Type::s16>(t, slot));
    case Type::s32:
      return of(read<Type::s32>(t, slot));
    case Type::s64:
      return of(read<Type::s64>(t, slot));
    case Type::u8:
      return of(read<Type::u8>(t, slot));
    case Type::u16:
      return of(read<Type::u16>(t, slot));
    case Type::u32:
      return of(read<Type::u32>(t, slot));
    default:
      return of(read<Type::u64>(t, slot));
  }
}

// NaN becomes zero, and what does not fit the nearest integer that does.
template <Type kTo>
bool to_integer(Thread& t, const Instruction& i) {
  using V = typename Tag<kTo>::Value;
  constexpr auto kLeast = std::numeric_limits<V>::min(), kMost = std::numeric_limits<V>::max();
  const Number a = number(t, i);
  if (a.kind != Number::real && !i.is_saturated) {
    write<kTo>(t, i.at[0], static_cast<V>(a.bits));
    return true;
  }
  const long double x = a.kind == Number::real ? round_integer(a.value, i.rounding) : a.value;
  V result = 0;
  if (x <= static_cast<long double>(kLeast))
    result = kLeast;
  else if (x >= static_cast<long double>(kMost))
    result = kMost;
  else if (x == x)
    result = static_cast<V>(x);
  write<kTo>(t, i.at[0], result);
  return true;
}

template <Type kTo>
bool to_float(Thread& t, const Instruction& i) {
  long double x = number(t, i).value;
  if (i.to_integer) x = round_integer(x, i.rounding);
  if (i.is_saturated) x = x != x ? 0 : std::clamp(x, 0.0L, 1.0L);
  const Rounding rounding = i.to_integer ? Rounding::nearest : i.rounding;
  if constexpr (kTo == Type::f16)
    t.at[i.at[0]] = half_of(x, rounding);
  else if constexpr (kTo == Type::bf16)
    t.at[i.at[0]] = bfloat_of(x, rounding);
  else if constexpr (kTo == Type::f64)
    write<kTo>(t, i.at[0], static_cast<double>(round_to(x, 53, -1022, rounding)));
  else
    write<kTo>(t, i.at[0], single_of(x, rounding));
  return true;
}

// Two numbers in one register; the first operand is its upper half.
template <uint16_t (*kConvert)(long double, Rounding)>
bool to_pair(Thread& t, const Instruction& i) {
  const uint32_t high = kConvert(read<Type::f32>(t, i.at[1]), i.rounding);
  write<Type::b32>(t, i.at[0], high << 16 | kConvert(read<Type::f32>(t, i.at[2]), i.rounding));
  return true;
}
// Ties away from zero.
bool to_tf32(Thread& t, const Instruction& i) {
  const float x = read<Type::f32>(t, i.at[1]);
  write<Type::f32>(t, i.at[0], single_of(round_to(x, 11, -126, i.rounding), Rounding::nearest));
  return true;
}

// Words between these types are exact: most conversions of kernels.
template <Type kFrom, Type kTo>
bool extend(Thread& t, const Instruction& i) {
  write<kTo>(t, i.at[0], static_cast<typename Tag<kTo>::Value>(read<kFrom>(t, i.at[1])));
  return true;
}

template <Type... kTypes>
Step to_integer_of(Type type) {
  Step step = nullptr;
  ((type == kTypes ? void(step = to_integer<kTypes>) : void()), ...);
  return step;
}

}  // namespace

Step comparison(const std::string& name, Name& rest, Instruction& in) {
  if (name != "setp") return nullptr;
  in.count = 0;
  for (const Relation& r : kRelations)
    if (rest.take(r.name)) in.count = r.holds;
  constexpr const char* kNames[] = {"and", "or", "xor"};
  for (uint8_t k = 0; k < 3; ++k)
    if (rest.take(kNames[k])) in.kind = static_cast<uint8_t>(k + 1);
  const uint32_t expected = in.kind == kAlone ? 3 : 4;
  in.flag = in.n == expected + 1;
  if (in.count == 0 || (in.n != expected && !in.flag)) return nullptr;
  if ((in.negated & ~(1u << (in.n - 1))) != 0 || (in.negated != 0 && in.kind == kAlone))
    return nullptr;
  return compare_of<Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64, Type::s16,
                    Type::s32, Type::s64, Type::f16, Type::bf16, Type::f32, Type::f32z, Type::f64>(
      in.type);
}

Step conversion(const std::string& name, Name& rest, Instruction& in) {
  if (name != "cvt" || in.from == Type::none) return nullptr;
  const bool is_rounded = take_rounding(rest, in);
  in.is_saturated = rest.take("sat");
  if (in.type == Type::f16x2 || in.type == Type::bf16x2) {
    if (in.n != 3 || in.from != Type::f32 || !is_rounded) return nullptr;
    return in.type == Type::f16x2 ? to_pair<half_of> : to_pair<bfloat_of>;
  }
  if (in.n != 2) return nullptr;
  if (in.type == Type::tf32) return in.from == Type::f32 && is_rounded ? to_tf32 : nullptr;
  const bool is_plain = !is_rounded && !in.is_saturated;
  if (is_plain && in.type == Type::u64 && in.from == Type::u32) return extend<Type::u32, Type::u64>;
  if (is_plain && in.type == Type::s64 && in.from == Type::s32) return extend<Type::s32, Type::s64>;
  if (is_plain && in.type == Type::u32 && in.from == Type::u64) return extend<Type::u64, Type::u32>;
  switch (in.type) {
    case Type::f16:
      return to_float<Type::f16>;
    case Type::bf16:
      return to_float<Type::bf16>;
    case Type::f32:
      return to_float<Type::f32>;
    case Type::f32z:
      return to_float<Type::f32z>;
    case Type::f64:
      return to_float<Type::f64>;
    default:
      break;
  }
  if (is_float(in.from) && !in.to_integer) return nullptr;
  return to_integer_of<Type::u8, Type::u16, Type::u32, Type::u64, Type::s8, Type::s16, Type::s32,
                       Type::s64>(in.type);
}

}  // namespace ptx
