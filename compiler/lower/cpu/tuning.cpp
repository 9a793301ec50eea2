#include "compiler/lower/cpu/tuning.h"

#include "compiler/base/check.h"

namespace attn::lower {
namespace {

using target::Level;

StreamTiles stream_in_16_registers(int vectors) {
  return {6, 6, 2, 6, vectors % 2 == 0 ? 2 : 1, 512, 4};
}

StreamTiles stream_in_32_registers(int vectors) {
  if (vectors % 4 == 0) return {6, 6, 4, 6, 4, 512, 2};
  if (vectors % 3 == 0) return {18, 6, 4, 9, 3, 192, 2};
  if (vectors == 5) return {30, 6, 4, 5, 5, 128, 2};
  return {12, 6, 4, 12, vectors % 2 == 0 ? 2 : 1, 256, 2};
}

constexpr int kSumRowsIn16[] = {8, 6, 4, 2}, kSumRowsIn32[] = {12, 12, 8, 6, 4};

constexpr Tuning kV2 = {
    {4, 2, 64, 256, 256}, {4, 3, 64, 96}, stream_in_16_registers, {4, 3, 48, 96}, kSumRowsIn16};
constexpr Tuning kV3 = {
    {6, 2, 96, 256, 256}, {4, 3, 64, 96}, stream_in_16_registers, {4, 3, 48, 96}, kSumRowsIn16};
constexpr Tuning kV4 = {
    {12, 2, 192, 256, 512}, {4, 6, 64, 96}, stream_in_32_registers, {8, 3, 48, 144}, kSumRowsIn32};

}  // namespace

const Tuning& tuning(const Target& target) {
  switch (target.level) {
    case Level::x86_64_v4:
      return kV4;
    case Level::x86_64_v3:
      return kV3;
    case Level::x86_64_v2:
      return kV2;
    default:
      throw InternalError("a target without vector registers");
  }
}

int lanes_of(const Target& target, const Type& type) { return target.vector_bytes / type.bytes(); }

}  // namespace attn::lower
