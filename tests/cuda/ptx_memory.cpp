// Memory, branches, and what a thread waits for.
#include <algorithm>
#include <cstring>

#include "ptx_machine.h"

namespace ptx {
namespace {

uint64_t address(const Thread& t, const Instruction& i, uint32_t operand, int which) {
  return read<Type::b64>(t, i.at[operand]) + static_cast<uint64_t>(i.offset[which]);
}

template <Type kType>
bool load(Thread& t, const Instruction& i) {
  using V = typename Tag<kType>::Value;
  const uint32_t n = i.count;
  const char* from =
      reach(t, static_cast<Space>(i.kind), address(t, i, n, 0), n * sizeof(V), false);
  for (uint32_t k = 0; k < n; ++k) {
    V value;
    memcpy(&value, from + k * sizeof(V), sizeof(V));
    write<kType>(t, i.at[k], value);
  }
  return true;
}
template <Type kType>
bool store(Thread& t, const Instruction& i) {
  using V = typename Tag<kType>::Value;
  const uint32_t n = i.count;
  char* to = reach(t, static_cast<Space>(i.kind), address(t, i, 0, 0), n * sizeof(V), true);
  for (uint32_t k = 0; k < n; ++k) {
    const V value = read<kType>(t, i.at[1 + k]);
    memcpy(to + k * sizeof(V), &value, sizeof(V));
  }
  return true;
}

// A copy begins: until somebody waits for it, its bytes are no numbers.
bool begin_copy(Thread& t, const Instruction& i) {
  const uint64_t to = address(t, i, 0, 0), from = address(t, i, 1, 1);
  const size_t bytes = read<Type::u32>(t, i.at[2]);
  const size_t given = i.n == 4 ? read<Type::u32>(t, i.at[3]) : bytes;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || given > bytes)
    fault(t, kLaunchFailed, "copies have 4, 8 or 16 bytes");
  memset(reach(t, Space::shared, to, bytes, true), 0xff, bytes);
  if (from % bytes != 0) fault(t, kMisaligned, "the source is misaligned");
  for (size_t k = 0; k < given; ++k) reach(t, Space::global, from + k, 1, false);
  t.begun.push_back({to, from, bytes, given});
  return true;
}
bool commit(Thread& t, const Instruction&) {
  t.groups.push_back(std::move(t.begun));
  t.begun.clear();
  return true;
}
void finish(Thread& t, const std::vector<Copy>& copies) {
  for (const Copy& c : copies) {
    char* to = reach(t, Space::shared, c.to, c.bytes, true);
    memset(to, 0, c.bytes);
    for (size_t k = 0; k < c.given; ++k) to[k] = *reach(t, Space::global, c.from + k, 1, false);
  }
}
bool wait_group(Thread& t, const Instruction& i) {
  const uint32_t most = read<Type::u32>(t, i.at[0]);
  for (; t.groups.size() > most; t.groups.pop_front()) finish(t, t.groups.front());
  return true;
}
bool wait_all(Thread& t, const Instruction& i) {
  commit(t, i);
  for (; !t.groups.empty(); t.groups.pop_front()) finish(t, t.groups.front());
  return true;
}

template <uint64_t kWindow, bool kToGeneric>
bool change_space(Thread& t, const Instruction& i) {
  const uint64_t a = read<Type::b64>(t, i.at[1]);
  write<Type::b64>(t, i.at[0], kToGeneric ? a + kWindow : a - kWindow);
  return true;
}

bool branch(Thread& t, const Instruction& i) {
  t.pc = i.target;
  return true;
}
bool end(Thread& t, const Instruction&) {
  t.waits = Waits::ended;
  return false;
}
bool wait_barrier(Thread& t, const Instruction& i) {
  if (read<Type::u32>(t, i.at[0]) != 0) fault(t, kLaunchFailed, "only barrier 0 is known here");
  t.waits = Waits::barrier;
  return false;
}
bool trap(Thread& t, const Instruction&) { fault(t, kLaunchFailed, "the kernel stops itself"); }
bool nothing(Thread&, const Instruction&) { return true; }
// Any value will do, where LLVM says so.
bool leave_open(Thread& t, const Instruction& i) {
  t.at[i.at[0]] = ~uint64_t{0};
  return true;
}

bool take_space(Name& rest, Instruction& in) {
  const std::pair<const char*, Space> names[] = {
      {"global", Space::global}, {"shared", Space::shared}, {"shared::cta", Space::shared},
      {"local", Space::local},   {"param", Space::param},   {"const", Space::constant}};
  for (const auto& [name, space] : names)
    if (rest.take(name)) return in.kind = static_cast<uint8_t>(space), true;
  in.kind = static_cast<uint8_t>(Space::generic);
  return false;
}

template <bool kIsLoad, Type... kTypes>
Step access(Type type) {
  Step step = nullptr;
  ((type == kTypes ? void(step = kIsLoad ? load<kTypes> : store<kTypes>) : void()), ...);
  return step;
}

Step load_or_store(bool is_load, Name& rest, Instruction& in) {
  take_space(rest, in);
  for (const char* hint : {"nc", "volatile", "weak", "relaxed", "cta", "gpu", "sys", "ca", "cg",
                           "cs", "lu", "wb", "wt", "L1::no_allocate", "L1::evict_first"})
    rest.take(hint);
  if (rest.take("v2")) in.count = 2;
  if (rest.take("v4")) in.count = 4;
  if (in.n != in.count + 1u || in.n_addresses != 1) return nullptr;
  constexpr Type kBits[] = {Type::b8, Type::b16, Type::b32, Type::b64};
  const int bytes = bytes_of(in.type);
  // Signed integers are extended; the others are bits.
  const Type bits = bytes == 0 ? Type::none : kBits[std::countr_zero(static_cast<unsigned>(bytes))];
  const Type type = is_signed(in.type) ? in.type : bits;
  return is_load ? access<true, Type::b8, Type::b16, Type::b32, Type::b64, Type::s8, Type::s16,
                          Type::s32, Type::s64>(type)
                 : access<false, Type::b8, Type::b16, Type::b32, Type::b64>(bits);
}

Step copies(Name& rest, Instruction& in) {
  if (!rest.take("async")) return nullptr;
  if (rest.take("commit_group")) return in.n == 0 ? commit : nullptr;
  if (rest.take("wait_all")) return in.n == 0 ? wait_all : nullptr;
  if (rest.take("wait_group")) return in.n == 1 ? wait_group : nullptr;
  const bool is_known = rest.take("ca") || rest.take("cg");
  const bool is_to_shared = rest.take("shared") || rest.take("shared::cta");
  for (const char* hint : {"L2::64B", "L2::128B", "L2::256B"}) rest.take(hint);
  const bool is_complete = is_known && is_to_shared && rest.take("global") && in.n_addresses == 2 &&
                           (in.n == 3 || in.n == 4) && in.at[0] != kNone;
  return is_complete ? begin_copy : nullptr;
}

Step converted_address(Name& rest, Instruction& in) {
  const bool to_generic = !rest.take("to");
  if (!take_space(rest, in) || in.n != 2 || bytes_of(in.type) != 8) return nullptr;
  switch (static_cast<Space>(in.kind)) {
    case Space::shared:
      return to_generic ? change_space<kSharedWindow, true> : change_space<kSharedWindow, false>;
    case Space::local:
      return to_generic ? change_space<kLocalWindow, true> : change_space<kLocalWindow, false>;
    case Space::param:
      return to_generic ? change_space<kParamWindow, true> : change_space<kParamWindow, false>;
    default:
      return change_space<0, true>;
  }
}

}  // namespace

Step movement(const std::string& name, Name& rest, Instruction& in) {
  if (name == "ld" || name == "st") return load_or_store(name == "ld", rest, in);
  if (name == "cp") return copies(rest, in);
  if (name == "cvta") return converted_address(rest, in);
  if (name == "bra") return rest.take("uni"), in.n == 0 ? branch : nullptr;
  if ((name == "ret" || name == "exit") && in.n == 0) return rest.take("uni"), end;
  if (name == "trap" && in.n == 0) return trap;
  if (name == "implicit-def" && in.n == 1) return leave_open;
  if (name == "membar" || name == "fence") return rest.words.clear(), nothing;
  if (name == "bar" || name == "barrier") {
    rest.take("cta");
    if (!rest.take("sync")) return nullptr;
    rest.take("aligned");
    rest.take("all");
    return in.n == 1 ? wait_barrier : nullptr;
  }
  return nullptr;
}

bool Name::take(const std::string& word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return false;
  words.erase(found);
  return true;
}

bool decode(const std::string& name, Instruction& in) {
  Name rest;
  std::string first;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    const std::string word = name.substr(at, end - at);
    const Type type = type_named(word);
    if (at == 0)
      first = word;
    else if (type != Type::none)
      rest.types.push_back(type);
    else
      rest.words.push_back(word);
    at = end + 1;
  }
  in.type = !rest.types.empty() ? rest.types[0] : Type::none;
  in.from = rest.types.size() > 1 ? rest.types[1] : Type::none;
  if (rest.take("ftz"))
    for (Type* type : {&in.type, &in.from})
      if (*type == Type::f32) *type = Type::f32z;
  in.step = collective(first, rest, in);
  const bool is_collective = in.step != nullptr;
  if (!is_collective && rest.types.size() > (first == "cvt" ? 2 : 1)) return false;
  for (const auto& find : {conversion, comparison, movement, bits, arithmetic})
    if (in.step == nullptr) in.step = find(first, rest, in);
  const bool is_negation_known = in.negated == 0 || first == "setp" || is_collective;
  return in.step != nullptr && rest.words.empty() && is_negation_known;
}

}  // namespace ptx
