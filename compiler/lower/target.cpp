#include "compiler/lower/target.h"

#include <cstdlib>

#include "compiler/base/check.h"

namespace attn::lower {

using Halide::Target;

namespace {

Target instruction_set(Level level) {
  Target target(Target::Linux, Target::X86, 64);
  target.set_feature(Target::SSE41);
  target.set_feature(Target::LargeBuffers);
  if (level == Level::kV2) return target;
  for (auto feature : {Target::AVX, Target::AVX2, Target::FMA, Target::F16C}) {
    target.set_feature(feature);
  }
  if (level == Level::kV3) return target;
  target.set_feature(Target::AVX512);
  target.set_feature(Target::AVX512_Skylake);
  return target;
}

}  // namespace

Target kernel_target(Level level) {
  Target target = instruction_set(level);
  target.set_feature(Target::NoRuntime);
  target.set_feature(Target::UserContext);
  target.set_feature(Target::NoBoundsQuery);
  return target;
}

Target jit_target(Level level) {
  Target target = instruction_set(level);
  target.set_feature(Target::JIT);
  return target;
}

void prepare_code_generation() {
  setenv("HL_LLVM_ARGS", "-x86-branches-within-32B-boundaries -vectorize-slp=false", 0);
}

Level host_level() {
  Target host = Halide::get_host_target();
  if (host.has_feature(Target::AVX512_Skylake)) return Level::kV4;
  if (host.has_feature(Target::AVX2) && host.has_feature(Target::FMA) &&
      host.has_feature(Target::F16C)) {
    return Level::kV3;
  }
  ATTN_CHECK(host.has_feature(Target::SSE41), "this machine lacks sse4.1");
  return Level::kV2;
}

std::string level_name(Level level) {
  if (level == Level::kV4) return "v4";
  return level == Level::kV3 ? "v3" : "v2";
}

TargetInfo target_info(Level level) {
  switch (level) {
    case Level::kV4:
      return {level, 64, 32, 32 << 10, 1 << 20};
    case Level::kV3:
      return {level, 32, 16, 32 << 10, 256 << 10};
    case Level::kV2:
      break;
  }
  return {Level::kV2, 16, 16, 32 << 10, 256 << 10};
}

TargetInfo target_info(const Target& target) {
  if (target.has_feature(Target::AVX512_Skylake)) return target_info(Level::kV4);
  return target_info(target.has_feature(Target::AVX2) ? Level::kV3 : Level::kV2);
}

}  // namespace attn::lower
