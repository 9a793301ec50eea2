// What kernels call when one of their assertions fails, and what a call makes of it. The runtime
// checks every argument before a kernel runs, so apart from memory these report defects; the codes
// are Halide's. Its other errors are of what no kernel has: extern stages, specialisations, folded
// storage, parameters with bounds, devices.
#include <stdint.h>
#include <stdio.h>

#include "context.h"
#include "execute.h"

namespace {

using Text = const char*;

__attribute__((format(printf, 3, 4))) int report(void* context, int code, Text format, ...) {
  va_list arguments;
  va_start(arguments, format);
  attn::rt::kernel_message(static_cast<attn_context*>(context), format, arguments);
  va_end(arguments);
  return code;
}

}  // namespace

extern "C" {

void attn_k_error(void* context, Text text) { report(context, -1, "%s", text); }

#define WITH_CONTEXT(...) (void* context __VA_OPT__(, ) __VA_ARGS__)
// A function of its name, and of a context and `parameters`; the code that it returns, and its
// text.
#define KERNEL_ERROR(name, code, parameters, ...) \
  int attn_k_error_##name WITH_CONTEXT parameters { return report(context, code, __VA_ARGS__); }

KERNEL_ERROR(explicit_bounds_too_small, -2,
             (Text func, Text var, int min_bound, int max_bound, int min_required,
              int max_required),
             "bounds of %s in %s, %d to %d, do not cover %d to %d", var, func, min_bound, max_bound,
             min_required, max_required)
KERNEL_ERROR(bad_type, -3, (Text func, uint32_t given, uint32_t correct),
             "%s has type 0x%08x, must have 0x%08x", func, given, correct)
KERNEL_ERROR(access_out_of_bounds, -4,
             (Text func, int dimension, int min_touched, int max_touched, int min_valid,
              int max_valid),
             "%s is read from %d to %d in dimension %d, has %d to %d", func, min_touched,
             max_touched, dimension, min_valid, max_valid)
KERNEL_ERROR(buffer_allocation_too_large, -5,
             (Text name, unsigned long long size, unsigned long long limit),
             "%s takes %llu bytes, at most %llu are allowed", name, size, limit)
KERNEL_ERROR(buffer_extents_too_large, -6, (Text name, long long size, long long limit),
             "%s has %lld elements, at most %lld are allowed", name, size, limit)
KERNEL_ERROR(constraints_make_required_region_smaller, -7,
             (Text name, int dimension, int constrained_min, int constrained_extent,
              int required_min, int required_extent),
             "dimension %d of %s is fixed to %d + %d, %d + %d are needed", dimension, name,
             constrained_min, constrained_extent, required_min, required_extent)
KERNEL_ERROR(constraint_violated, -8,
             (Text var, int value, Text constrained, int constrained_value),
             "%s is %d, must be %s (%d)", var, value, constrained, constrained_value)
KERNEL_ERROR(out_of_memory, -11, (), "out of memory")
KERNEL_ERROR(buffer_argument_is_null, -12, (Text name), "%s is null", name)
KERNEL_ERROR(requirement_failed, -27, (Text condition, Text message), "requirement failed: %s: %s",
             condition, message)
KERNEL_ERROR(buffer_extents_negative, -28, (Text name, int dimension, int extent),
             "%s has extent %d in dimension %d", name, extent, dimension)
KERNEL_ERROR(host_is_null, -34, (Text func), "the data of %s is null", func)
KERNEL_ERROR(bad_dimensions, -43, (Text func, int32_t given, int32_t correct),
             "%s has %d dimensions, must have %d", func, given, correct)
KERNEL_ERROR(device_dirty_with_no_device_support, -44, (Text name),
             "%s is dirty on a device, the kernel has no device support", name)
KERNEL_ERROR(storage_bound_too_small, -45, (Text func, Text var, int provided, int required),
             "storage of %s in %s is %d, %d are needed", var, func, provided, required)
KERNEL_ERROR(split_factor_not_positive, -46,
             (Text func, Text original, Text outer, Text inner, Text factor_text, int factor),
             "%s: %s is split into %s and %s by %s, which is %d", func, original, outer, inner,
             factor_text, factor)

}  // extern "C"

namespace attn::rt {

attn_status kernel_status(attn_context* context, const char* kernel, int code) {
  if (code == 0) return ATTN_OK;
  if (code == kDeviceLost) return ATTN_BAD_DEVICE;  // which may be another kernel's doing
  if (code == kKernelOutOfMemory)
    return attn_fail(context, ATTN_NO_MEMORY, "out of memory in %s", kernel);
  char text[1024];
  if (code == kDeviceOutOfMemory) {
    snprintf(text, sizeof text, "%.1000s", context->message);
    return attn_fail(context, ATTN_NO_MEMORY, "out of memory in %s: %s", kernel, text);
  }
  if (code == kDeviceFailed) {
    snprintf(text, sizeof text, "%.1000s", context->message);
    return attn_fail(context, ATTN_BAD_DEVICE, "%s: kernel %s: %s", context->device->name, kernel,
                     text);
  }
  snprintf(text, sizeof text, "%s%.500s", context->message[0] != '\0' ? ": " : "",
           context->message);
  return attn_fail(context, ATTN_INTERNAL, "internal error in kernel %s (%d)%s", kernel, code,
                   text);
}

}  // namespace attn::rt
