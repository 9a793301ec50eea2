/* What generated glue and kernels use of the runtime. Not for calling programs. */
#ifndef ATTN_KERNEL_H
#define ATTN_KERNEL_H

#include <attn/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The layout of Halide's halide_buffer_t, which kernels take. */
typedef struct attn_dimension {
  int32_t min, extent, stride;
  uint32_t flags;
} attn_dimension;

typedef struct attn_buffer {
  uint64_t device;
  const void* device_interface;
  void* host;
  uint64_t flags;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } type; /* code: 0 int, 1 uint, 2 float, 4 bfloat */
  int32_t dimensions;
  attn_dimension* dim; /* innermost first: the reverse of attn_tensor's extents */
  void* padding;
} attn_buffer;

/* 0: x86-64-v2, 1: v3 (AVX2, FMA), 2: v4 (AVX-512). What this processor can run, at most;
 * -1: less than that. */
int attn_cpu_level(void);

/* Begins a call: clears the message and sets the floating point control register to the state that
 * kernels are compiled for; returns what it was. attn_end_call restores it. */
uint32_t attn_begin_call(attn_context* context);
void attn_end_call(attn_context* context, uint32_t saved_control);

/* Leaves a text in the context and returns `status`. */
attn_status attn_fail(attn_context* context, attn_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* Translates what a kernel returned: 0 is ATTN_OK, want of memory ATTN_NO_MEMORY, all else a defect
 * (ATTN_INTERNAL). The message names the kernel and keeps the text that it left. */
attn_status attn_kernel_status(attn_context* context, const char* kernel, int code);

/* Checks tensor against what the model wants: non-null data (unless it has no elements, or
 * `optional`), type, rank, extents, alignment to its element, and byte size below 2^63.
 * `kind` is "parameter", "input" or "output", or says what of one of these the tensor is:
 * "cotangent", "gradient", "tangent"; the argument is then refused unless it is differentiable.
 * `wanted` has rank and extents. */
attn_status attn_check_tensor(attn_context* context, const char* kind,
                              const attn_argument* argument, const attn_tensor* tensor,
                              const attn_tensor* wanted, int optional);

/* Refuses when a written tensor overlaps any other. The tensors are given as parallel arrays. */
attn_status attn_check_overlap(attn_context* context, int count, const attn_tensor* const* tensors,
                               const char* const* names, const int* written);

/* Checks what a step takes: options that are numbers, `step` from 1, gradients and states like
 * their parameters (those with a gradient), no overlap. */
attn_status attn_check_step(attn_context* context, const attn_model* model, const double* options,
                            int64_t step, const attn_tensor* params, const attn_tensor* gradients,
                            const attn_tensor* states);

/* Fills a kernel's view of `data` with the given extents, outermost first. Where an extent is 0 the
 * view is of one zeroed row: extents of 0 read as 1, and every stride but the innermost is 0, so
 * that clamped reads of an empty tensor stay inside memory (and the extents of a view are no sizes:
 * those come as scalars). The row belongs to the context, is the view's own, and lives until
 * attn_end_call. Returns 0, or non-zero when memory ran out or an extent or a stride exceeds
 * 2^31 - 1 (the message is set). */
int attn_view(attn_context* context, attn_buffer* view, attn_dimension* dimensions, void* data,
              attn_type type, int32_t rank, const int64_t* extent);

/* ---- small helpers of generated glue */

static inline int64_t attn_extent(int64_t n) { return n > 0 ? n : 0; }
static inline int64_t attn_larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t attn_align(int64_t bytes) { return (bytes + 127) / 128 * 128; }
/* floor(a / b); 0 where b is 0. */
static inline int64_t attn_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline void attn_shape(attn_tensor* t, attn_type type, int32_t rank, const int64_t* extent) {
  t->type = type;
  t->rank = rank;
  for (int32_t k = 0; k < rank; ++k) t->extent[k] = extent[k];
}
/* Lets `slice`, whose dimensions are there to be filled, show what `whole` has at `step` of its
 * dimension `d`, counted from the innermost. */
static inline void attn_show_step(attn_buffer* slice, const attn_buffer* whole, int32_t d,
                                  int64_t step) {
  attn_dimension* const dimensions = slice->dim;
  *slice = *whole;
  slice->dim = dimensions;
  slice->dimensions = whole->dimensions - 1;
  for (int32_t k = 0; k < slice->dimensions; ++k) dimensions[k] = whole->dim[k < d ? k : k + 1];
  slice->host = (char*)whole->host + step * whole->dim[d].stride * ((whole->type.bits + 7) / 8);
}
/* True when a least and a greatest subscript are not both in [0, extent); a least above the
 * greatest says that there was none. */
static inline int attn_outside(const int32_t* least, const int32_t* greatest, int64_t extent) {
  return *least <= *greatest && (*least < 0 || *greatest >= extent);
}
/* The kernel to take from a table of `count` instruction sets from level `lowest` up; -1, with a
 * message, where this processor runs none of them. */
static inline int attn_level(attn_context* context, int lowest, int count) {
  const int level = attn_cpu_level() - lowest;
  if (level < 0) {
    attn_fail(context, ATTN_REFUSED, "this library was built for x86-64-v%d and later processors",
              lowest + 2);
    return -1;
  }
  return level < count ? level : count - 1;
}

#ifdef __cplusplus
}
#endif
#endif
