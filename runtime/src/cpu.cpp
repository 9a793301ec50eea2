#include "cpu.h"

#include <attn/attn.h>
#include <cpuid.h>
#include <string.h>
#include <xmmintrin.h>

namespace attn::rt {
namespace {

// To nearest, all traps masked, subnormals flushed on the way in and out: they cost up to 80 times
// a normal operation, and nothing above them depends on them.
constexpr uint32_t kKernelControl = 0x1f80 | 0x8000 | 0x0040;

int copy(attn_context*, void* to, const void* from, size_t bytes) {
  memcpy(to, from, bytes);
  return 0;
}
int zero(attn_context*, void* memory, size_t bytes) {
  memset(memory, 0, bytes);
  return 0;
}
uint32_t begin(attn_context*) { return enter_kernel_state(); }
void end(attn_context*, uint32_t begun) { _mm_setcsr(begun); }
int wait(attn_context*) { return 0; }

}  // namespace

uint32_t enter_kernel_state() {
  const uint32_t before = _mm_getcsr();
  _mm_setcsr(kKernelControl);
  return before;
}

attn_device cpu_device() {
  return {
      .id = {ATTN_CPU, 0},
      .name = "the CPU",
      .state = nullptr,
      .allocate = attn_allocate,
      .free = attn_free,
      .copy_in = copy,
      .copy_out = copy,
      .zero = zero,
      .begin = begin,
      .end = end,
      .wait = wait,
      .bind = nullptr,
  };
}

void read_cpu_features(uint32_t* words) {
  uint32_t eax, ebx, ecx, edx;
  memset(words, 0, sizeof *words * ATTN_CPU_WORDS);
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) words[ATTN_CPUID_1_ECX] = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    words[ATTN_CPUID_7_EBX] = ebx;
    words[ATTN_CPUID_7_ECX] = ecx;
    if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx))
      words[ATTN_CPUID_7_1_EAX] = eax;
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx)) words[ATTN_CPUID_80000001_ECX] = ecx;
  if ((words[ATTN_CPUID_1_ECX] & bit_OSXSAVE) == 0) return;
  asm volatile("xgetbv" : "=a"(words[ATTN_XCR0]), "=d"(edx) : "c"(0));
}

}  // namespace attn::rt
