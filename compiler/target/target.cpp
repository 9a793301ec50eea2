#include "compiler/target/target.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "compiler/base/check.h"

namespace attn::target {
namespace {

// A bit of a processor's features: of CPUID (Intel SDM, volume 2A), or of the registers that the
// system saves.
struct Bit {
  attn_cpu_word word;
  int bit;
};
constexpr Bit kFma{ATTN_CPUID_1_ECX, 12}, kSse42{ATTN_CPUID_1_ECX, 20};
constexpr Bit kPopcnt{ATTN_CPUID_1_ECX, 23}, kOsxsave{ATTN_CPUID_1_ECX, 27};
constexpr Bit kAvx{ATTN_CPUID_1_ECX, 28}, kF16c{ATTN_CPUID_1_ECX, 29};
constexpr Bit kBmi{ATTN_CPUID_7_EBX, 3}, kAvx2{ATTN_CPUID_7_EBX, 5}, kBmi2{ATTN_CPUID_7_EBX, 8};
constexpr Bit kAvx512f{ATTN_CPUID_7_EBX, 16}, kAvx512dq{ATTN_CPUID_7_EBX, 17};
constexpr Bit kAvx512cd{ATTN_CPUID_7_EBX, 28}, kAvx512bw{ATTN_CPUID_7_EBX, 30};
constexpr Bit kAvx512vl{ATTN_CPUID_7_EBX, 31}, kLzcnt{ATTN_CPUID_80000001_ECX, 5};
constexpr Bit kXmm{ATTN_XCR0, 1}, kYmm{ATTN_XCR0, 2}, kMasks{ATTN_XCR0, 5};
constexpr Bit kZmmHalves{ATTN_XCR0, 6}, kZmm16{ATTN_XCR0, 7};

constexpr Features with(Features features, std::initializer_list<Bit> more) {
  for (const Bit& b : more) features[b.word] |= uint32_t{1} << b.bit;
  return features;
}
constexpr Features kV2 = with({}, {kSse42, kPopcnt});
constexpr Features kV3 =
    with(kV2, {kFma, kOsxsave, kAvx, kF16c, kBmi, kAvx2, kBmi2, kLzcnt, kXmm, kYmm});
constexpr Features kV4 =
    with(kV3, {kAvx512f, kAvx512dq, kAvx512cd, kAvx512bw, kAvx512vl, kMasks, kZmmHalves, kZmm16});

// Each level has fixed numbers, so that equal sources give equal objects on any build machine.
constexpr Target kTargets[] = {
    {.name = "x86-64-v2",  // sse4.1
     .tail = "_v2",
     .arch = Arch::x86_64,
     .level = Level::x86_64_v2,
     .features = kV2,
     .vector_bytes = 16,
     .registers = 16,
     .l1_bytes = 32 << 10,
     .l2_bytes = 256 << 10,
     .machine = "x86-64-linux-sse41"},
    {.name = "x86-64-v3",  // avx2, fma, f16c
     .tail = "_v3",
     .arch = Arch::x86_64,
     .level = Level::x86_64_v3,
     .features = kV3,
     .vector_bytes = 32,
     .registers = 16,
     .l1_bytes = 32 << 10,
     .l2_bytes = 256 << 10,
     .machine = "x86-64-linux-sse41-avx-avx2-fma-f16c"},
    {.name = "x86-64-v4",  // the avx-512 of Skylake servers
     .tail = "_v4",
     .arch = Arch::x86_64,
     .level = Level::x86_64_v4,
     .features = kV4,
     .vector_bytes = 64,
     .registers = 32,
     .l1_bytes = 32 << 10,
     .l2_bytes = 1 << 20,
     .machine = "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake"},
    {.name = "opencl",  // 2.0 with shared virtual memory, and doubles
     .tail = "_cl",
     .arch = Arch::gpu,
     .level = Level::opencl,
     .device = ATTN_OPENCL,
     .machine = "x86-64-linux-opencl-cl_doubles"},
    {.name = "cuda-sm80",  // Ampere and later
     .tail = "_sm80",
     .arch = Arch::gpu,
     .level = Level::cuda_sm80,
     .device = ATTN_CUDA,
     .capability = 80,
     .machine = "x86-64-linux-cuda-cuda_capability_80"},
};

// By Arch. Of GPUs nothing was measured: their plans are those of x86-64, but for blocks of terms,
// which are more launches, and for running sums, which are one thread's.
constexpr Costs kCosts[] = {
    {}, {.least_running = std::numeric_limits<double>::infinity(), .least_block = 0}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Target& t : kTargets) result.emplace_back(t.name);
  return result;
}

std::vector<std::string> names_for(attn_device_type device) {
  std::vector<std::string> result;
  for (const Target& t : kTargets)
    if (t.device == device) result.emplace_back(t.name);
  return result;
}

const char* device_name(attn_device_type device) {
  switch (device) {
    case ATTN_CPU:
      return "cpu";
    case ATTN_CUDA:
      return "cuda";
    case ATTN_OPENCL:
      return "opencl";
    case ATTN_OTHER:
      break;
  }
  return nullptr;
}

std::optional<attn_device_type> device_called(std::string_view name) {
  for (attn_device_type device : {ATTN_CPU, ATTN_CUDA, ATTN_OPENCL})
    if (name == device_name(device)) return device;
  return std::nullopt;
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
