// Arithmetic, and what it is rounded to. Functions that a GPU approximates are exact here up to
// their rounding.
#include <algorithm>

#include "ptx_machine.h"

namespace ptx {
namespace {

#define FLOATS Type::f32, Type::f32z, Type::f64, Type::f16, Type::bf16
#define SIGNED Type::s16, Type::s32, Type::s64
#define UNSIGNED Type::u16, Type::u32, Type::u64
#define BITS Type::b16, Type::b32, Type::b64

template <class V>
constexpr bool kIsFloat = std::is_floating_point_v<V>;

// Integers wrap around.
constexpr auto kAdd = []<class V>(V a, V b) -> V {
  if constexpr (kIsFloat<V>)
    return a + b;
  else
    return static_cast<V>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
};
constexpr auto kSub = []<class V>(V a, V b) -> V {
  if constexpr (kIsFloat<V>)
    return a - b;
  else
    return static_cast<V>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
};
constexpr auto kMul = []<class V>(V a, V b) -> V {
  if constexpr (kIsFloat<V>)
    return a * b;
  else
    return static_cast<V>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
};
constexpr auto kMad = []<class V>(V a, V b, V c) -> V { return kAdd(kMul(a, b), c); };
constexpr auto kFma = []<class V>(V a, V b, V c) -> V { return std::fma(a, b, c); };
template <class V>
constexpr auto kHigh = [](V a, V b) -> V {
  using Wide = std::conditional_t<std::is_signed_v<V>, __int128_t, __uint128_t>;
  return static_cast<V>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(V)));
};
constexpr auto kMulHigh = []<class V>(V a, V b) -> V { return kHigh<V>(a, b); };
constexpr auto kMadHigh = []<class V>(V a, V b, V c) -> V { return kAdd(kHigh<V>(a, b), c); };

// An integer divided by zero has all bits set on a GPU.
constexpr auto kDiv = []<class V>(V a, V b) -> V {
  if constexpr (kIsFloat<V>)
    return a / b;
  else if (b == 0)
    return static_cast<V>(~uint64_t{0});
  else if (std::is_signed_v<V> && b == static_cast<V>(-1))
    return kSub(V{0}, a);
  else
    return static_cast<V>(a / b);
};
constexpr auto kRem = []<class V>(V a, V b) -> V {
  if (b == 0) return a;
  if (std::is_signed_v<V> && b == static_cast<V>(-1)) return 0;
  return static_cast<V>(a % b);
};

// The other one where one is NaN; -0 is less than 0.
constexpr auto kMin = []<class V>(V a, V b) -> V {
  if constexpr (kIsFloat<V>) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
};
constexpr auto kMax = []<class V>(V a, V b) -> V {
  if constexpr (kIsFloat<V>) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
};
constexpr auto kMinNan = []<class V>(V a, V b) -> V {
  return a != a ? a : b != b ? b : kMin(a, b);
};
constexpr auto kMaxNan = []<class V>(V a, V b) -> V {
  return a != a ? a : b != b ? b : kMax(a, b);
};
constexpr auto kAbs = []<class V>(V a) -> V {
  if constexpr (kIsFloat<V>)
    return std::fabs(a);
  else
    return a < 0 ? kSub(V{0}, a) : a;
};
constexpr auto kNeg = []<class V>(V a) -> V {
  if constexpr (kIsFloat<V>)
    return -a;
  else
    return kSub(V{0}, a);
};
constexpr auto kCopySign = []<class V>(V a, V b) -> V { return std::copysign(b, a); };

constexpr auto kRcp = []<class V>(V a) -> V { return 1 / a; };
constexpr auto kSqrt = []<class V>(V a) -> V { return std::sqrt(a); };
template <double (*kFunction)(double)>
constexpr auto kOf = []<class V>(V a) -> V { return static_cast<V>(kFunction(a)); };
double reciprocal_root(double a) { return 1 / std::sqrt(a); }

Step lo_hi_wide(Name& rest, Instruction& in, bool has_sum) {
  if (rest.take("hi"))
    return has_sum ? ternary<kMadHigh, SIGNED, UNSIGNED>(in)
                   : binary<kMulHigh, SIGNED, UNSIGNED>(in);
  if (rest.take("wide")) {
    // Half as wide as the result: extended, then multiplied as the result is.
    const auto wide = [&]<Type kFrom, Type kTo>() -> Step {
      return [](Thread& t, const Instruction& i) {
        using To = typename Tag<kTo>::Value;
        To value = kMul(static_cast<To>(read<kFrom>(t, i.at[1])),
                        static_cast<To>(read<kFrom>(t, i.at[2])));
        if (i.n == 4) value = kAdd(value, read<kTo>(t, i.at[3]));
        write<kTo>(t, i.at[0], value);
        return true;
      };
    };
    if (in.n != (has_sum ? 4u : 3u)) return nullptr;
    if (in.type == Type::u16) return wide.operator()<Type::u16, Type::u32>();
    if (in.type == Type::s16) return wide.operator()<Type::s16, Type::s32>();
    if (in.type == Type::u32) return wide.operator()<Type::u32, Type::u64>();
    if (in.type == Type::s32) return wide.operator()<Type::s32, Type::s64>();
    return nullptr;
  }
  if (!rest.take("lo")) return nullptr;
  return has_sum ? ternary<kMad, SIGNED, UNSIGNED>(in) : binary<kMul, SIGNED, UNSIGNED>(in);
}

// Sums of 32 bits with a carry: `.cc` sets it, names that end in c add it.
template <bool kIsHigh, bool kHasProduct, bool kHasBorrow = false>
Step carried(Instruction& in, bool adds, bool sets) {
  in.flag = sets;
  in.kind = adds ? 1 : 0;
  if (bytes_of(in.type) != 4 || in.n != (kHasProduct ? 4u : 3u)) return nullptr;
  return [](Thread& t, const Instruction& i) {
    uint64_t a = read<Type::u32>(t, i.at[1]), b = read<Type::u32>(t, i.at[2]);
    if (kHasProduct) {
      a = i.type == Type::s32 && kIsHigh ? static_cast<uint32_t>(kHigh<int32_t>(
                                               static_cast<int32_t>(a), static_cast<int32_t>(b)))
                                         : (kIsHigh ? (a * b) >> 32 : (a * b) & 0xffffffff);
      b = read<Type::u32>(t, i.at[3]);
    }
    const uint64_t carry = i.kind != 0 && t.carry ? 1 : 0;
    const uint64_t sum = kHasBorrow ? a - b - carry : a + b + carry;
    if (i.flag) t.carry = (sum >> 32) != 0;
    write<Type::u32>(t, i.at[0], static_cast<uint32_t>(sum));
    return true;
  };
}

}  // namespace

Step arithmetic(const std::string& name, Name& rest, Instruction& in) {
  const bool is_float_type = is_float(in.type);
  const bool sets = !is_float_type && rest.take("cc");
  if (name == "addc" || (name == "add" && sets))
    return carried<false, false>(in, name == "addc", sets);
  if (name == "subc" || (name == "sub" && sets))
    return carried<false, false, true>(in, name == "subc", sets);
  if (name == "madc" || (name == "mad" && sets)) {
    if (rest.take("hi")) return carried<true, true>(in, name == "madc", sets);
    return rest.take("lo") ? carried<false, true>(in, name == "madc", sets) : nullptr;
  }
  // To the nearest, as without it. An approximation may be exact.
  const bool is_near = is_float_type && rest.take("rn");
  const bool is_approximate =
      is_float_type && !is_near && (rest.take("approx") || (name == "div" && rest.take("full")));
  if (name == "add") return binary<kAdd, FLOATS, SIGNED, UNSIGNED>(in);
  if (name == "sub") return binary<kSub, FLOATS, SIGNED, UNSIGNED>(in);
  if (name == "mul" && is_float_type) return binary<kMul, FLOATS>(in);
  if (name == "mul" || (name == "mad" && !is_float_type))
    return lo_hi_wide(rest, in, name == "mad");
  if (name == "fma" && is_near) return ternary<kFma, FLOATS>(in);
  if (name == "div") {
    if (is_float_type && !is_near && !is_approximate) return nullptr;
    return binary<kDiv, Type::f32, Type::f32z, Type::f64, SIGNED, UNSIGNED>(in);
  }
  if (name == "rem") return binary<kRem, SIGNED, UNSIGNED>(in);
  if (name == "min" && rest.take("NaN")) return binary<kMinNan, FLOATS>(in);
  if (name == "max" && rest.take("NaN")) return binary<kMaxNan, FLOATS>(in);
  if (name == "min") return binary<kMin, FLOATS, SIGNED, UNSIGNED>(in);
  if (name == "max") return binary<kMax, FLOATS, SIGNED, UNSIGNED>(in);
  if (name == "abs") return unary<kAbs, FLOATS, SIGNED>(in);
  if (name == "neg") return unary<kNeg, FLOATS, SIGNED>(in);
  if (name == "copysign") return binary<kCopySign, Type::f32, Type::f64>(in);
  if (!is_near && !is_approximate) return nullptr;
  if (name == "rcp") return unary<kRcp, Type::f32, Type::f32z, Type::f64>(in);
  if (name == "sqrt") return unary<kSqrt, Type::f32, Type::f32z, Type::f64>(in);
  if (!is_approximate) return nullptr;
  if (name == "rsqrt") return unary<kOf<reciprocal_root>, Type::f32, Type::f32z, Type::f64>(in);
  if (name == "ex2") return unary<kOf<std::exp2>, Type::f32, Type::f32z>(in);
  if (name == "lg2") return unary<kOf<std::log2>, Type::f32, Type::f32z>(in);
  if (name == "sin") return unary<kOf<std::sin>, Type::f32, Type::f32z>(in);
  if (name == "cos") return unary<kOf<std::cos>, Type::f32, Type::f32z>(in);
  if (name == "tanh") return unary<kOf<std::tanh>, Type::f32, Type::f32z>(in);
  return nullptr;
}

}  // namespace ptx
