#include "compiler/driver/peak.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>

namespace {

// Enough independent sums to fill two pipelines of latency 4 to 6.
constexpr int kSums = 12;
constexpr int kSteps = 20000;

// Every sum s becomes s / 2 + 1, `kSteps` times; gives a value that depends on all, so that none is
// left out.
__attribute__((target("avx512f"))) float run_16_lanes() {
  __m512 sums[kSums];
  for (int k = 0; k < kSums; ++k) sums[k] = _mm512_set1_ps(static_cast<float>(k));
  const __m512 half = _mm512_set1_ps(0.5f), one = _mm512_set1_ps(1.0f);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int k = 0; k < kSums; ++k) sums[k] = _mm512_fmadd_ps(sums[k], half, one);
  }
  for (int k = 1; k < kSums; ++k) sums[0] = _mm512_add_ps(sums[0], sums[k]);
  return _mm512_cvtss_f32(sums[0]);
}

__attribute__((target("avx2,fma"))) float run_8_lanes() {
  __m256 sums[kSums];
  for (int k = 0; k < kSums; ++k) sums[k] = _mm256_set1_ps(static_cast<float>(k));
  const __m256 half = _mm256_set1_ps(0.5f), one = _mm256_set1_ps(1.0f);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int k = 0; k < kSums; ++k) sums[k] = _mm256_fmadd_ps(sums[k], half, one);
  }
  for (int k = 1; k < kSums; ++k) sums[0] = _mm256_add_ps(sums[0], sums[k]);
  return _mm256_cvtss_f32(sums[0]);
}

float run_4_lanes() {
  __m128 sums[kSums];
  for (int k = 0; k < kSums; ++k) sums[k] = _mm_set1_ps(static_cast<float>(k));
  const __m128 half = _mm_set1_ps(0.5f), one = _mm_set1_ps(1.0f);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int k = 0; k < kSums; ++k) sums[k] = _mm_add_ps(_mm_mul_ps(sums[k], half), one);
  }
  for (int k = 1; k < kSums; ++k) sums[0] = _mm_add_ps(sums[0], sums[k]);
  return _mm_cvtss_f32(sums[0]);
}

}  // namespace

extern "C" double attn_fma_peak(double seconds, int lanes) {
  const bool can_16 = __builtin_cpu_supports("avx512f") && (lanes == 0 || lanes == 16);
  const bool can_8 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && lanes != 4;
  float (*const run)() = can_16 ? run_16_lanes : can_8 ? run_8_lanes : run_4_lanes;
  lanes = can_16 ? 16 : can_8 ? 8 : 4;
  using Clock = std::chrono::steady_clock;
  auto elapsed = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  const Clock::time_point start = Clock::now();
  double best = 1e9;
  volatile float kept = 0;
  do {
    const Clock::time_point begin = Clock::now();
    kept = kept + run();
    best = std::min(best, elapsed(begin));
  } while (elapsed(start) < seconds);
  return 2.0 * lanes * kSums * kSteps / best;
}
