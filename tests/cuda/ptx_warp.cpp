// What the lanes of a warp do together. An instruction is executed when each lane of its mask has
// reached it. Layouts of fragments are those of the PTX ISA.
#include <algorithm>
#include <cstring>

#include "ptx_machine.h"

namespace ptx {
namespace {

bool wait_warp(Thread& t, const Instruction&) {
  t.waits = Waits::warp;
  return false;
}

bool is_member(const Warp& w, uint32_t lane) { return ((w.members >> lane) & 1) != 0; }

// ---- shuffles and votes

enum : uint8_t { kUp, kDown, kButterfly, kIndex };
enum : uint8_t { kAll, kAny, kUniform, kBallot };

// Operands: value, lane, clamp and segments, mask; a lane that is not there has no value.
void shuffle(Warp& w, const Instruction& i) {
  const uint32_t first = i.flag ? 2 : 1;
  uint64_t values[32] = {};
  bool in_range[32] = {};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!is_member(w, lane)) continue;
    const Thread& t = *w.lanes[lane];
    const uint32_t by = read<Type::u32>(t, i.at[first + 1]) & 31;
    const uint32_t control = read<Type::u32>(t, i.at[first + 2]);
    const uint32_t clamp = control & 31, segment = (control >> 8) & 31;
    const uint32_t last = (lane & segment) | (clamp & ~segment), start = lane & segment;
    uint32_t from = lane;
    if (i.kind == kUp)
      from = lane - by, in_range[lane] = static_cast<int>(from) >= static_cast<int>(last);
    if (i.kind == kDown) from = lane + by, in_range[lane] = from <= last;
    if (i.kind == kButterfly) from = lane ^ by, in_range[lane] = from <= last;
    if (i.kind == kIndex) from = start | (by & ~segment), in_range[lane] = from <= last;
    if (!in_range[lane]) from = lane;
    values[lane] = is_member(w, from) ? w.lanes[from]->at[i.at[first]] : kUnwritten;
  }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!is_member(w, lane)) continue;
    w.lanes[lane]->at[i.at[0]] = values[lane];
    if (i.flag) write<Type::pred>(*w.lanes[lane], i.at[1], in_range[lane]);
  }
}

void vote(Warp& w, const Instruction& i) {
  uint32_t holds = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (is_member(w, lane) &&
        read<Type::pred>(*w.lanes[lane], i.at[1]) != (((i.negated >> 1) & 1) != 0))
      holds |= 1u << lane;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!is_member(w, lane)) continue;
    uint64_t result = holds;
    if (i.kind == kAll) result = holds == w.members;
    if (i.kind == kAny) result = holds != 0;
    if (i.kind == kUniform) result = holds == w.members || holds == 0;
    w.lanes[lane]->at[i.at[0]] = result;
  }
}

void meet(Warp& w, const Instruction&) {
  const Thread* t = w.lanes[static_cast<size_t>(std::countr_zero(w.members))];
  t->block->barrier(t->id / 32);
}

// ---- matrices

// A matrix of 8 x 8 for each of the count; lanes 8 k .. 8 k + 7 have the addresses of the k-th's
// rows. A lane gets two elements of a row, or of a column where it is transposed.
void load_matrices(Warp& w, const Instruction& i) {
  for (uint32_t k = 0; k < i.count; ++k) {
    uint16_t matrix[8][8];
    for (uint32_t row = 0; row < 8; ++row) {
      Thread& t = *w.lanes[8 * k + row];
      const uint64_t at = read<Type::b64>(t, i.at[i.count]) + static_cast<uint64_t>(i.offset[0]);
      memcpy(matrix[row], reach(t, Space::shared, at, 16, false), 16);
    }
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t row = lane / 4, column = lane % 4 * 2;
      const uint32_t low = i.flag ? matrix[column][row] : matrix[row][column];
      const uint32_t high = i.flag ? matrix[column + 1][row] : matrix[row][column + 1];
      write<Type::b32>(*w.lanes[lane], i.at[k], high << 16 | low);
    }
  }
}

// d = a b + c with 16 rows and 8 columns. A register has one element of 32 bits or two of 16.
template <Type kType>
float element(const Thread& t, uint32_t slot, uint32_t which) {
  const uint32_t bits = read<Type::b32>(t, slot);
  if (kType == Type::tf32) return of_tf32(bits);
  const uint32_t half = which == 0 ? bits & 0xffff : bits >> 16;
  return kType == Type::f16 ? of_half(half) : of_bfloat(half);
}
template <Type kType, uint32_t kDepth>
void multiply(Warp& w, const Instruction& i) {
  constexpr uint32_t kEach = kType == Type::tf32 ? 1 : 2;
  constexpr uint32_t kOfA = 16 * kDepth / 32 / kEach, kOfB = kOfA / 2;
  double a[16][kDepth], b[kDepth][8];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const Thread& t = *w.lanes[lane];
    const uint32_t group = lane / 4, in_group = lane % 4 * kEach;
    for (uint32_t e = 0; e < kEach; ++e) {
      for (uint32_t r = 0; r < kOfA; ++r)
        a[group + 8 * (r % 2)][in_group + e + r / 2 * 4 * kEach] =
            element<kType>(t, i.at[4 + r], e);
      for (uint32_t r = 0; r < kOfB; ++r)
        b[in_group + e + r * 4 * kEach][group] = element<kType>(t, i.at[4 + kOfA + r], e);
    }
  }
  for (uint32_t lane = 0; lane < 32; ++lane) {
    Thread& t = *w.lanes[lane];
    float result[4];
    for (uint32_t r = 0; r < 4; ++r) {
      const uint32_t row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2;
      double sum = read<Type::f32>(t, i.at[4 + kOfA + kOfB + r]);
      for (uint32_t k = 0; k < kDepth; ++k) sum += a[row][k] * b[k][column];
      result[r] = static_cast<float>(sum);
    }
    for (uint32_t r = 0; r < 4; ++r) write<Type::f32>(t, i.at[r], result[r]);
  }
}

Collective matrix_product(Name& rest, const Instruction& in) {
  const std::vector<Type>& types = rest.types;
  if (types.size() != 4 || types[0] != Type::f32 || types[3] != Type::f32 || types[1] != types[2] ||
      !rest.take("row") || !rest.take("col"))
    return nullptr;
  const bool is_deep = rest.take("m16n8k16");
  if (!is_deep && !rest.take("m16n8k8")) return nullptr;
  if (types[1] == Type::tf32) return !is_deep && in.n == 14 ? multiply<Type::tf32, 8> : nullptr;
  if (in.n != (is_deep ? 14u : 11u)) return nullptr;
  if (types[1] == Type::f16) return is_deep ? multiply<Type::f16, 16> : multiply<Type::f16, 8>;
  if (types[1] == Type::bf16) return is_deep ? multiply<Type::bf16, 16> : multiply<Type::bf16, 8>;
  return nullptr;
}

template <size_t n>
bool take_kind(Name& rest, Instruction& in, const char* const (&names)[n]) {
  for (uint8_t k = 0; k < n; ++k)
    if (rest.take(names[k])) return in.kind = k, true;
  return false;
}

// The lanes that must come; without a mask among the operands, all 32.
uint32_t mask_of(const Thread& t, const Instruction& in) {
  const bool has_mask = in.collective == shuffle || in.collective == vote || in.collective == meet;
  return has_mask ? read<Type::b32>(t, in.at[in.n - 1]) : ~uint32_t{0};
}

}  // namespace

Step collective(const std::string& name, Name& rest, Instruction& in) {
  constexpr const char* kShuffles[] = {"up", "down", "bfly", "idx"};
  constexpr const char* kVotes[] = {"all", "any", "uni", "ballot"};
  if (name == "bar" && rest.take("warp")) {
    if (rest.take("sync") && in.n == 1) in.collective = meet;
  } else if (name == "shfl" && rest.take("sync") && take_kind(rest, in, kShuffles)) {
    in.flag = in.n == 6;
    if ((in.n == 5 || in.flag) && in.type == Type::b32) in.collective = shuffle;
  } else if (name == "vote" && rest.take("sync") && take_kind(rest, in, kVotes)) {
    if (in.n == 3 && in.type == (in.kind == kBallot ? Type::b32 : Type::pred)) in.collective = vote;
  } else if (name == "ldmatrix" && rest.take("sync") && rest.take("aligned") && rest.take("m8n8")) {
    in.count = rest.take("x4") ? 4 : rest.take("x2") ? 2 : rest.take("x1") ? 1 : 0;
    in.flag = rest.take("trans");
    const bool is_shared = rest.take("shared") || rest.take("shared::cta");
    if (is_shared && in.type == Type::b16 && in.count > 0 && in.n == in.count + 1u &&
        in.n_addresses == 1)
      in.collective = load_matrices;
  } else if (name == "mma" && rest.take("sync") && rest.take("aligned")) {
    in.collective = matrix_product(rest, in);
  }
  return in.collective != nullptr ? wait_warp : nullptr;
}

bool run_collective(Block& block, uint32_t warp) {
  Warp w;
  w.lanes.assign(32, nullptr);
  uint32_t waiting = 0, there = 0;
  for (uint32_t lane = 0; lane < 32 && warp * 32 + lane < block.threads.size(); ++lane) {
    Thread& t = block.threads[warp * 32 + lane];
    w.lanes[lane] = &t;
    there |= 1u << lane;
    if (t.waits == Waits::warp) waiting |= 1u << lane;
  }
  const Thread* in_vain = nullptr;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (((waiting >> lane) & 1) == 0) continue;
    const Thread& first = *w.lanes[lane];
    const Instruction& in = block.entry->code[first.pc - 1];
    in_vain = &first;
    const uint32_t mask = mask_of(first, in);
    const bool needs_all =
        in.collective != shuffle && in.collective != vote && in.collective != meet;
    w.members = 0;
    for (uint32_t k = 0; k < 32; ++k)
      if (((waiting & mask) >> k & 1) != 0 && w.lanes[k]->pc == first.pc) w.members |= 1u << k;
    if (!is_member(w, lane)) fault(first, kLaunchFailed, "the mask lacks the lane itself");
    if (w.members != (needs_all ? mask : mask & there)) continue;
    in.collective(w, in);
    for (uint32_t k = 0; k < 32; ++k)
      if (is_member(w, k)) w.lanes[k]->waits = Waits::no;
    return true;
  }
  if (in_vain != nullptr)
    fault(*in_vain, kLaunchFailed, "waits for lanes of its warp that ended or are elsewhere");
  return false;
}

}  // namespace ptx
