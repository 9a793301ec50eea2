// Bits of integers, and moves between registers.
#include <algorithm>

#include "ptx_machine.h"

namespace ptx {
namespace {

#define BITS Type::b16, Type::b32, Type::b64

constexpr auto kAnd = []<class V>(V a, V b) -> V { return static_cast<V>(a & b); };
constexpr auto kOr = []<class V>(V a, V b) -> V { return static_cast<V>(a | b); };
constexpr auto kXor = []<class V>(V a, V b) -> V { return static_cast<V>(a ^ b); };
constexpr auto kNot = []<class V>(V a) -> V {
  if constexpr (std::is_same_v<V, bool>)
    return !a;
  else
    return static_cast<V>(~a);
};
constexpr auto kReverse = []<class V>(V a) -> V {
  V r = 0;
  for (size_t k = 0; k < 8 * sizeof(V); ++k)
    r = static_cast<V>(r | (((a >> k) & 1) << (8 * sizeof(V) - 1 - k)));
  return r;
};

// Shifts by 32 bits: shifts by more than the width give zeros, or copies of the sign.
template <Type kType, bool kLeft>
bool shift(Thread& t, const Instruction& i) {
  using V = typename Tag<kType>::Value;
  constexpr uint32_t kBits = 8 * sizeof(V);
  const V a = read<kType>(t, i.at[1]);
  const uint32_t by = read<Type::u32>(t, i.at[2]);
  V result = std::is_signed_v<V> && a < 0 && !kLeft ? static_cast<V>(-1) : V{0};
  if (by < kBits)
    result = kLeft ? static_cast<V>(static_cast<uint64_t>(a) << by) : static_cast<V>(a >> by);
  write<kType>(t, i.at[0], result);
  return true;
}

template <bool kLeft, Type... kTypes>
Step shift_of(const Instruction& in) {
  Step step = nullptr;
  ((in.type == kTypes ? void(step = shift<kTypes, kLeft>) : void()), ...);
  return in.n == 3 ? step : nullptr;
}

// Counts of bits, and the place of one, are 32 bits for each type.
template <int (*kCount)(uint64_t value, int width)>
Step count(const Instruction& in) {
  if (in.n != 2 || bytes_of(in.type) < 4) return nullptr;
  return [](Thread& t, const Instruction& i) {
    const bool is_wide = bytes_of(i.type) == 8;
    const uint64_t a = is_wide ? read<Type::b64>(t, i.at[1]) : read<Type::b32>(t, i.at[1]);
    write<Type::s32>(t, i.at[0], kCount(a, is_wide ? 64 : 32));
    return true;
  };
}
int ones(uint64_t value, int) { return std::popcount(value); }
int leading_zeros(uint64_t value, int width) { return std::countl_zero(value) - (64 - width); }
int highest(uint64_t value, int) { return value == 0 ? -1 : 63 - std::countl_zero(value); }

// Bits of a number from a place on, and how many; the sign is the highest bit of the field.
template <Type kType>
bool extract(Thread& t, const Instruction& i) {
  using V = typename Tag<kType>::Value;
  constexpr uint32_t kBits = 8 * sizeof(V);
  const V a = read<kType>(t, i.at[1]);
  const uint32_t from = read<Type::u32>(t, i.at[2]) & 255, n = read<Type::u32>(t, i.at[3]) & 255;
  const uint32_t last = std::min(from + n, kBits) - 1;
  const bool sign = std::is_signed_v<V> && n != 0 && ((static_cast<uint64_t>(a) >> last) & 1) != 0;
  uint64_t result = sign ? ~uint64_t{0} : 0;
  for (uint32_t k = 0; k < n && from + k < kBits; ++k) {
    result &= ~(uint64_t{1} << k);
    result |= ((static_cast<uint64_t>(a) >> (from + k)) & 1) << k;
  }
  write<kType>(t, i.at[0], static_cast<V>(result));
  return true;
}
template <Type kType>
bool insert(Thread& t, const Instruction& i) {
  using V = typename Tag<kType>::Value;
  const V a = read<kType>(t, i.at[1]);
  V result = read<kType>(t, i.at[2]);
  const uint32_t to = read<Type::u32>(t, i.at[3]) & 255, n = read<Type::u32>(t, i.at[4]) & 255;
  for (uint32_t k = 0; k < n && to + k < 8 * sizeof(V); ++k) {
    result &= ~(V{1} << (to + k));
    result |= ((a >> k) & 1) << (to + k);
  }
  write<kType>(t, i.at[0], result);
  return true;
}

// Two words side by side, shifted; `flag`: by 32 at most, else by the last 5 bits.
template <bool kLeft>
bool funnel(Thread& t, const Instruction& i) {
  const uint64_t low = read<Type::b32>(t, i.at[1]), high = read<Type::b32>(t, i.at[2]);
  const uint32_t given = read<Type::u32>(t, i.at[3]);
  const uint32_t by = i.flag ? std::min(given, 32u) : given & 31;
  const uint64_t both = high << 32 | low;
  write<Type::b32>(t, i.at[0], static_cast<uint32_t>(kLeft ? (both << by) >> 32 : both >> by));
  return true;
}

// Bytes of two words, by a selector of 4 bits each; its highest bit copies the byte's sign.
bool permute(Thread& t, const Instruction& i) {
  const uint64_t both = uint64_t{read<Type::b32>(t, i.at[2])} << 32 | read<Type::b32>(t, i.at[1]);
  const uint32_t selectors = read<Type::b32>(t, i.at[3]);
  uint32_t result = 0;
  for (int k = 0; k < 4; ++k) {
    const uint32_t selector = (selectors >> (4 * k)) & 15;
    uint32_t byte = (both >> (8 * (selector & 7))) & 255;
    if ((selector & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << (8 * k);
  }
  write<Type::b32>(t, i.at[0], result);
  return true;
}

// By a table of 8 bits.
bool logic(Thread& t, const Instruction& i) {
  const uint32_t a = read<Type::b32>(t, i.at[1]), b = read<Type::b32>(t, i.at[2]),
                 c = read<Type::b32>(t, i.at[3]), table = read<Type::b32>(t, i.at[4]);
  uint32_t result = 0;
  for (uint32_t k = 0; k < 32; ++k) {
    const uint32_t index = ((a >> k) & 1) << 2 | ((b >> k) & 1) << 1 | ((c >> k) & 1);
    result |= ((table >> index) & 1) << k;
  }
  write<Type::b32>(t, i.at[0], result);
  return true;
}

// The product of two numbers of 24 bits; `flag`: its 48 bits' upper 32. A third is added.
bool product_24(Thread& t, const Instruction& i) {
  const bool is_signed_type = i.type == Type::s32;
  const auto part = [&](uint32_t slot) {
    const uint32_t x = read<Type::b32>(t, slot) & 0xffffff;
    return is_signed_type && (x & 0x800000) != 0 ? int64_t{x} - 0x1000000 : int64_t{x};
  };
  const int64_t product = part(i.at[1]) * part(i.at[2]);
  uint32_t result = static_cast<uint32_t>(i.flag ? product >> 16 : product);
  if (i.n == 4) result += read<Type::b32>(t, i.at[3]);
  write<Type::b32>(t, i.at[0], result);
  return true;
}

template <Type kType>
bool copy(Thread& t, const Instruction& i) {
  write<kType>(t, i.at[0], read<kType>(t, i.at[1]));
  return true;
}

// A register of pieces, or pieces of a register; the lowest first.
bool pack(Thread& t, const Instruction& i) {
  const uint32_t width = static_cast<uint32_t>(bytes_of(i.type)) * 8 / (i.n - 1);
  const uint64_t mask = (uint64_t{1} << width) - 1;
  if (i.to_vector) {
    const uint64_t all = read<Type::b64>(t, i.at[i.n - 1]);
    for (uint32_t k = 0; k + 1 < i.n; ++k) t.at[i.at[k]] = (all >> (k * width)) & mask;
    return true;
  }
  uint64_t all = 0;
  for (uint32_t k = 0; k + 1 < i.n; ++k)
    all |= (read<Type::b64>(t, i.at[k + 1]) & mask) << (k * width);
  t.at[i.at[0]] = all;
  return true;
}

template <Type kType>
bool select(Thread& t, const Instruction& i) {
  const bool p = read<Type::pred>(t, i.at[3]);
  write<kType>(t, i.at[0], read<kType>(t, i.at[p ? 1 : 2]));
  return true;
}

}  // namespace

Step bits(const std::string& name, Name& rest, Instruction& in) {
  const int bytes = bytes_of(in.type);
  if (name == "and") return binary<kAnd, Type::pred, BITS>(in);
  if (name == "or") return binary<kOr, Type::pred, BITS>(in);
  if (name == "xor") return binary<kXor, Type::pred, BITS>(in);
  if (name == "not") return unary<kNot, Type::pred, BITS>(in);
  if (name == "brev") return unary<kReverse, Type::b32, Type::b64>(in);
  if (name == "shl") return shift_of<true, BITS>(in);
  if (name == "shr")
    return shift_of<false, BITS, Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64>(
        in);
  if (name == "popc") return count<ones>(in);
  if (name == "clz") return count<leading_zeros>(in);
  if (name == "bfind") return is_signed(in.type) ? nullptr : count<highest>(in);
  if (name == "bfe" && in.n == 4) {
    if (in.type == Type::u32) return extract<Type::u32>;
    if (in.type == Type::s32) return extract<Type::s32>;
    if (in.type == Type::u64) return extract<Type::u64>;
    return in.type == Type::s64 ? extract<Type::s64> : nullptr;
  }
  if (name == "bfi" && in.n == 5) return bytes == 8 ? insert<Type::b64> : insert<Type::b32>;
  if (name == "shf" && in.n == 4 && bytes == 4) {
    const bool is_left = rest.take("l");
    if (!is_left && !rest.take("r")) return nullptr;
    in.flag = rest.take("clamp");
    if (!in.flag && !rest.take("wrap")) return nullptr;
    return is_left ? funnel<true> : funnel<false>;
  }
  if (name == "prmt" && in.n == 4) return permute;
  if (name == "lop3" && in.n == 5) return logic;
  if ((name == "mul24" && in.n == 3) || (name == "mad24" && in.n == 4)) {
    in.flag = rest.take("hi");
    return (in.flag || rest.take("lo")) && bytes == 4 ? product_24 : nullptr;
  }
  if (name == "mov" && in.n > 2) return pack;
  if (name == "mov" && in.n == 2) {
    if (in.type == Type::pred) return copy<Type::pred>;
    return bytes == 8 ? copy<Type::b64> : bytes == 4 ? copy<Type::b32> : copy<Type::b16>;
  }
  if (name == "selp" && in.n == 4)
    return bytes == 8 ? select<Type::b64> : bytes == 4 ? select<Type::b32> : select<Type::b16>;
  return nullptr;
}

}  // namespace ptx
