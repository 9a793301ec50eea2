/* Buffers as kernels take them, and what the parts of the runtime use of each other. Not for calling
 * programs. */
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

/* Begins a call: clears the message and enters the device's launch scope; on the CPU that sets the
 * floating point control register to the state that kernels are compiled for. attn_end_call takes what
 * it returned. */
uint32_t attn_begin_call(attn_context* context);
void attn_end_call(attn_context* context, uint32_t begun);

/* Leaves a text in the context and returns `status`. */
attn_status attn_fail(attn_context* context, attn_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* Translates what a kernel returned: 0 is ATTN_OK, want of memory ATTN_NO_MEMORY, all else a defect
 * (ATTN_INTERNAL). The message names the kernel and keeps the text that it left. */
attn_status attn_kernel_status(attn_context* context, const char* kernel, int code);

/* Checks tensor against what the model wants: non-null data (unless it has no elements, or
 * `optional`), device, type, rank, extents, alignment to its element, and byte size below 2^63.
 * `kind` is "parameter", "input" or "output", or says what of one of these the tensor is:
 * "cotangent", "gradient", "tangent"; the argument is then refused unless it is differentiable.
 * `wanted` has rank and extents. */
attn_status attn_check_tensor(attn_context* context, const char* kind,
                              const attn_argument* argument, const attn_tensor* tensor,
                              const attn_tensor* wanted, int optional);

/* The memory of an argument. */
typedef struct attn_interval {
  uintptr_t begin, end;
  const char* name;
  int written;
} attn_interval;
/* Refuses when a written interval overlaps any other. Sorts the list. */
attn_status attn_check_overlap(attn_context* context, int count, attn_interval* list);

#ifdef __cplusplus
}
#endif
#endif
