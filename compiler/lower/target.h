// What a schedule must know of the machine: vector registers and caches.
// Three levels of x86-64 are built for every kernel; each has fixed numbers here, so that equal
// sources give equal objects on any build machine.
#pragma once

#include <Halide.h>

#include <array>
#include <string>

namespace attn::lower {

enum class Level { kV2, kV3, kV4 };  // sse4.2; avx2, fma, f16c; the avx-512 of Skylake servers

constexpr std::array<Level, 3> kLevels = {Level::kV4, Level::kV3, Level::kV2};  // best first

struct TargetInfo {
  Level level = Level::kV2;
  int vector_bytes = 16;
  int registers = 16;        // vector registers
  int l1_bytes = 32 << 10;   // data, per core
  int l2_bytes = 256 << 10;  // per core; the smallest that is common on the level

  // Lanes of a vector of this type.
  int lanes(const Halide::Type& type) const { return vector_bytes / type.bytes(); }
};

// The Halide target of a level, for ahead-of-time objects that our runtime serves: no_runtime,
// user_context, large_buffers, asserts on.
Halide::Target kernel_target(Level level);

// The same instruction set for code that runs in this process with Halide's own runtime.
Halide::Target jit_target(Level level);

// Sets what libHalide reads when it first generates code; without effect afterwards. Code is laid
// out so that no branch crosses a boundary of 32 bytes: on Skylake to Cascade Lake such a loop is
// decoded anew in every round, which costs an innermost loop up to a quarter. What is to be a
// vector is one already, so LLVM looks for no more of them: that took 6 % of the time of compiling,
// made the code 5 % longer and not faster. Arguments for LLVM that the caller's environment has
// (HL_LLVM_ARGS) stand.
void prepare_code_generation();

// The best level that this machine can run.
Level host_level();

// "v2", "v3", "v4": the tail of a kernel's symbol.
std::string level_name(Level level);

TargetInfo target_info(Level level);
TargetInfo target_info(const Halide::Target& target);

}  // namespace attn::lower
