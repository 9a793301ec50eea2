#include "compiler/target/target.h"

#include <algorithm>

#include "compiler/base/check.h"

namespace attn::target {
namespace {

// Each level has fixed numbers, so that equal sources give equal objects on any build machine.
constexpr Target kTargets[] = {
    {.name = "x86-64-v2",  // sse4.1
     .tail = "_v2",
     .arch = Arch::x86_64,
     .level = Level::x86_64_v2,
     .rank = 0,
     .vector_bytes = 16,
     .registers = 16,
     .l1_bytes = 32 << 10,
     .l2_bytes = 256 << 10,
     .machine = "x86-64-linux-sse41"},
    {.name = "x86-64-v3",  // avx2, fma, f16c
     .tail = "_v3",
     .arch = Arch::x86_64,
     .level = Level::x86_64_v3,
     .rank = 1,
     .vector_bytes = 32,
     .registers = 16,
     .l1_bytes = 32 << 10,
     .l2_bytes = 256 << 10,
     .machine = "x86-64-linux-sse41-avx-avx2-fma-f16c"},
    {.name = "x86-64-v4",  // the avx-512 of Skylake servers
     .tail = "_v4",
     .arch = Arch::x86_64,
     .level = Level::x86_64_v4,
     .rank = 2,
     .vector_bytes = 64,
     .registers = 32,
     .l1_bytes = 32 << 10,
     .l2_bytes = 1 << 20,
     .machine = "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake"},
};

constexpr Costs kCosts[] = {{}};  // by Arch

}  // namespace

std::span<const Target> targets() { return kTargets; }

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Target& t : kTargets) result.emplace_back(t.name);
  return result;
}

const Target* find(std::string_view name) {
  auto found = std::ranges::find(kTargets, name, &Target::name);
  return found == std::end(kTargets) ? nullptr : found;
}

const Target& named(std::string_view name) {
  const Target* found = find(name);
  ATTN_CHECK(found, "no such target: " + std::string(name));
  return *found;
}

const Costs& costs(Arch arch) { return kCosts[static_cast<size_t>(arch)]; }

}  // namespace attn::target
