// What brackets a call of generated code: the floating point state, the processor's level, and the
// translation of a kernel's result.
#include <xmmintrin.h>

#include "context.h"

namespace attn::rt {

// To nearest, all traps masked, subnormals flushed on the way in and out: they cost up to 80 times
// a normal operation, and nothing above them depends on them.
constexpr uint32_t kKernelControl = 0x1f80 | 0x8000 | 0x0040;

uint32_t enter_kernel_state() {
  const uint32_t before = _mm_getcsr();
  _mm_setcsr(kKernelControl);
  return before;
}

}  // namespace attn::rt

using namespace attn::rt;

uint32_t attn_begin_call(attn_context* context) {
  if (context != nullptr) clear_message(context);
  return enter_kernel_state();
}

void attn_end_call(attn_context* context, uint32_t saved_control) {
  if (context != nullptr) call_release(context);
  _mm_setcsr(saved_control);
}

attn_status attn_kernel_status(attn_context* context, const char* kernel, int code) {
  if (code == 0) return ATTN_OK;
  constexpr int kOutOfMemory = -11;  // halide_error_code_out_of_memory
  if (code == kOutOfMemory)
    return attn_fail(context, ATTN_NO_MEMORY, "out of memory in %s", kernel);
  char text[512];
  const char* detail = context != nullptr ? context->message : "";
  size_t length = 0;
  while (length + 1 < sizeof text && detail[length] != '\0') {
    text[length] = detail[length];
    ++length;
  }
  text[length] = '\0';
  return attn_fail(context, ATTN_INTERNAL, "internal error in kernel %s (%d)%s%s", kernel, code,
                   length > 0 ? ": " : "", text);
}

// The compiler's run-time support knows which registers the system saves, too.
int attn_cpu_level(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return -1;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c") || !__builtin_cpu_supports("lzcnt") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) {
    return 0;
  }
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl")) {
    return 1;
  }
  return 2;
}
