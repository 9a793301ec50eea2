/* Buffers as kernels take them, and how a device's functions report errors. Not for calling programs. */
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

/* Leaves a text in the context and returns `status`. */
attn_status attn_fail(attn_context* context, attn_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif
