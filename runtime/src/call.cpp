// What brackets a call: the device's launch scope, the processor's level, and the translation of a
// kernel's result.
#include "context.h"

using namespace attn::rt;

uint32_t attn_begin_call(attn_context* context) {
  if (context == nullptr) return enter_kernel_state();
  clear_message(context);
  return context->device->begin(context);
}

void attn_end_call(attn_context* context, uint32_t begun) {
  if (context != nullptr)
    context->device->end(context, begun);
  else
    cpu_device().end(nullptr, begun);
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
