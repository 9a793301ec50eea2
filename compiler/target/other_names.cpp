// What targets are called elsewhere.
#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/target/target.h"

namespace attn::target {
namespace {

constexpr std::pair<std::string_view, std::string_view> kSame[] = {
    {"sse4", "x86-64-v2"},           {"sse4.2", "x86-64-v2"}, {"avx2", "x86-64-v3"},
    {"haswell", "x86-64-v3"},        {"avx512", "x86-64-v4"}, {"avx512f", "x86-64-v4"},
    {"skylake-avx512", "x86-64-v4"}, {"native", "host"},      {"sm_80", "cuda-sm80"}};

// Their names begin so.
constexpr std::string_view kForeign[] = {"hip", "rocm", "metal", "vulkan", "webgpu", "aarch64",
                                         "arm", "neon", "sve",   "riscv",  "wasm"};

}  // namespace

std::string_view also_known(std::string_view name) {
  const auto* found = std::find_if(std::begin(kSame), std::end(kSame),
                                   [&](const auto& row) { return row.first == name; });
  return found != std::end(kSame) ? found->second : std::string_view();
}

bool is_foreign(std::string_view name) {
  return std::any_of(std::begin(kForeign), std::end(kForeign),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace attn::target
