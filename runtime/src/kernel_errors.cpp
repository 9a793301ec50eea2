// What kernels call when one of their assertions fails. The runtime checks every argument before a
// kernel runs, so apart from memory these report defects; the codes are Halide's.
#include <stdint.h>

#include "context.h"

namespace {

__attribute__((format(printf, 3, 4))) int report(void* context, int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  attn::rt::kernel_message(static_cast<attn_context*>(context), format, arguments);
  va_end(arguments);
  return code;
}

long long wide(int64_t value) { return value; }
unsigned long long wide_unsigned(uint64_t value) { return value; }

}  // namespace

extern "C" {

void attn_k_error(void* context, const char* text) { report(context, -1, "%s", text); }

int attn_k_error_bounds_inference_call_failed(void* context, const char* stage, int result) {
  return report(context, result, "bounds of extern stage %s: %d", stage, result);
}
int attn_k_error_extern_stage_failed(void* context, const char* stage, int result) {
  return report(context, result, "extern stage %s: %d", stage, result);
}
int attn_k_error_explicit_bounds_too_small(void* context, const char* func, const char* var,
                                           int min_bound, int max_bound, int min_required,
                                           int max_required) {
  return report(context, -2, "bounds of %s in %s, %d to %d, do not cover %d to %d", var, func,
                min_bound, max_bound, min_required, max_required);
}
int attn_k_error_bad_type(void* context, const char* func, uint32_t given, uint32_t correct) {
  return report(context, -3, "%s has type 0x%08x, must have 0x%08x", func, given, correct);
}
int attn_k_error_access_out_of_bounds(void* context, const char* func, int dimension,
                                      int min_touched, int max_touched, int min_valid,
                                      int max_valid) {
  return report(context, -4, "%s is read from %d to %d in dimension %d, has %d to %d", func,
                min_touched, max_touched, dimension, min_valid, max_valid);
}
int attn_k_error_buffer_allocation_too_large(void* context, const char* name, uint64_t size,
                                             uint64_t limit) {
  return report(context, -5, "%s takes %llu bytes, at most %llu are allowed", name,
                wide_unsigned(size), wide_unsigned(limit));
}
int attn_k_error_buffer_extents_too_large(void* context, const char* name, int64_t size,
                                          int64_t limit) {
  return report(context, -6, "%s has %lld elements, at most %lld are allowed", name, wide(size),
                wide(limit));
}
int attn_k_error_constraints_make_required_region_smaller(void* context, const char* name,
                                                          int dimension, int constrained_min,
                                                          int constrained_extent, int required_min,
                                                          int required_extent) {
  return report(context, -7, "dimension %d of %s is fixed to %d + %d, %d + %d are needed",
                dimension, name, constrained_min, constrained_extent, required_min,
                required_extent);
}
int attn_k_error_constraint_violated(void* context, const char* var, int value,
                                     const char* constrained, int constrained_value) {
  return report(context, -8, "%s is %d, must be %s (%d)", var, value, constrained,
                constrained_value);
}
int attn_k_error_param_too_small_i64(void* context, const char* name, int64_t value,
                                     int64_t least) {
  return report(context, -9, "%s is %lld, must be at least %lld", name, wide(value), wide(least));
}
int attn_k_error_param_too_small_u64(void* context, const char* name, uint64_t value,
                                     uint64_t least) {
  return report(context, -9, "%s is %llu, must be at least %llu", name, wide_unsigned(value),
                wide_unsigned(least));
}
int attn_k_error_param_too_small_f64(void* context, const char* name, double value, double least) {
  return report(context, -9, "%s is %g, must be at least %g", name, value, least);
}
int attn_k_error_param_too_large_i64(void* context, const char* name, int64_t value, int64_t most) {
  return report(context, -10, "%s is %lld, must be at most %lld", name, wide(value), wide(most));
}
int attn_k_error_param_too_large_u64(void* context, const char* name, uint64_t value,
                                     uint64_t most) {
  return report(context, -10, "%s is %llu, must be at most %llu", name, wide_unsigned(value),
                wide_unsigned(most));
}
int attn_k_error_param_too_large_f64(void* context, const char* name, double value, double most) {
  return report(context, -10, "%s is %g, must be at most %g", name, value, most);
}
int attn_k_error_out_of_memory(void* context) { return report(context, -11, "out of memory"); }
int attn_k_error_buffer_argument_is_null(void* context, const char* name) {
  return report(context, -12, "%s is null", name);
}
int attn_k_error_debug_to_file_failed(void* context, const char* func, const char* file, int code) {
  return report(context, -13, "%s could not be written to %s: %d", func, file, code);
}
int attn_k_error_no_device_interface(void* context) {
  return report(context, -19, "a buffer has no device interface");
}
int attn_k_error_unaligned_host_ptr(void* context, const char* func, int alignment) {
  return report(context, -24, "%s is not aligned to %d bytes", func, alignment);
}
int attn_k_error_bad_fold(void* context, const char* func, const char* var, const char* loop) {
  return report(context, -25, "%s cannot be folded over %s in loop %s", func, var, loop);
}
int attn_k_error_fold_factor_too_small(void* context, const char* func, const char* var, int factor,
                                       const char* loop, int required) {
  return report(context, -26, "%s is folded over %s by %d, loop %s needs %d", func, var, factor,
                loop, required);
}
int attn_k_error_requirement_failed(void* context, const char* condition, const char* message) {
  return report(context, -27, "requirement failed: %s: %s", condition, message);
}
int attn_k_error_buffer_extents_negative(void* context, const char* name, int dimension,
                                         int extent) {
  return report(context, -28, "%s has extent %d in dimension %d", name, extent, dimension);
}
int attn_k_error_specialize_fail(void* context, const char* message) {
  return report(context, -31, "no specialisation applies: %s", message);
}
int attn_k_error_host_is_null(void* context, const char* func) {
  return report(context, -34, "the data of %s is null", func);
}
int attn_k_error_bad_extern_fold(void* context, const char* func, int dimension, int min,
                                 int extent, int valid_min, int factor) {
  return report(context, -35, "%s: dimension %d is read at %d + %d, folded from %d by %d", func,
                dimension, min, extent, valid_min, factor);
}
int attn_k_error_device_interface_no_device(void* context) {
  return report(context, -36, "a buffer has a device interface and no device");
}
int attn_k_error_host_and_device_dirty(void* context) {
  return report(context, -37, "a buffer is dirty on host and device");
}
int attn_k_error_buffer_is_null(void* context, const char* routine) {
  return report(context, -38, "a buffer given to %s is null", routine);
}
int attn_k_error_device_crop_failed(void* context) {
  return report(context, -41, "a device buffer could not be cropped");
}
int attn_k_error_bad_dimensions(void* context, const char* func, int32_t given, int32_t correct) {
  return report(context, -43, "%s has %d dimensions, must have %d", func, given, correct);
}
int attn_k_error_device_dirty_with_no_device_support(void* context, const char* name) {
  return report(context, -44, "%s is dirty on a device, the kernel has no device support", name);
}
int attn_k_error_storage_bound_too_small(void* context, const char* func, const char* var,
                                         int provided, int required) {
  return report(context, -45, "storage of %s in %s is %d, %d are needed", var, func, provided,
                required);
}
int attn_k_error_split_factor_not_positive(void* context, const char* func, const char* original,
                                           const char* outer, const char* inner,
                                           const char* factor_text, int factor) {
  return report(context, -46, "%s: %s is split into %s and %s by %s, which is %d", func, original,
                outer, inner, factor_text, factor);
}
int attn_k_error_vscale_invalid(void* context, const char* func, int at_run, int at_compile) {
  return report(context, -47, "%s: vscale is %d, was compiled for %d", func, at_run, at_compile);
}

}  // extern "C"
