#include "compiler/lower/halide/target.h"

#include <cstdlib>
#include <string>

#include "compiler/base/check.h"

namespace attn::lower {
namespace {

// Of a GPU's kernels LargeBuffers would make every index 64 bits wide, and lose their alignment.
Halide::Target instruction_set(const Target& target) {
  const Halide::Target machine{std::string(target.machine)};
  return target.arch == target::Arch::gpu ? machine
                                          : machine.with_feature(Halide::Target::LargeBuffers);
}

bool runs(const Halide::Target& machine, const Halide::Target& code) {
  if (machine.arch != code.arch || machine.bits != code.bits) return false;
  for (int k = 0; k < Halide::Target::FeatureEnd; ++k) {
    const auto feature = static_cast<Halide::Target::Feature>(k);
    if (code.has_feature(feature) && !machine.has_feature(feature)) return false;
  }
  return true;
}

}  // namespace

Halide::Target kernel_target(const Target& target) {
  return instruction_set(target)
      .with_feature(Halide::Target::NoRuntime)
      .with_feature(Halide::Target::UserContext)
      .with_feature(Halide::Target::NoBoundsQuery);
}

Halide::Target jit_target(const Target& target) {
  return instruction_set(target).with_feature(Halide::Target::JIT);
}

void prepare_code_generation(target::Arch arch) {
  std::string arguments = "-vectorize-slp=false";
  switch (arch) {
    case target::Arch::gpu:
      break;
    case target::Arch::x86_64:
      arguments += " -x86-branches-within-32B-boundaries";
      arguments += " -x86-experimental-pref-innermost-loop-alignment=6";  // 2^6 bytes
  }
  setenv("HL_LLVM_ARGS", arguments.c_str(), 1);
}

const Target& host() {
  const Halide::Target machine = Halide::get_host_target();
  const Target* best = nullptr;
  for (const Target& t : target::targets())
    if (t.arch == target::Arch::x86_64 && runs(machine, Halide::Target(std::string(t.machine))))
      best = &t;
  ATTN_CHECK(best, "this machine runs none of the targets");
  return *best;
}

}  // namespace attn::lower
