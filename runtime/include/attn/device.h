/* What the runtime does to the data of a call, as functions of the device that holds it. A context has
 * one device; all that its calls read and write is in that device's memory, and the executor touches it
 * through this table alone. C11 and C++. */
#ifndef ATTN_DEVICE_H
#define ATTN_DEVICE_H

#include <attn/abi.h>

ATTN_BEGIN_C

struct attn_buffer; /* attn/kernel.h */

/* Functions that return an int return 0 where it went well; else they may have called attn_fail. They
 * keep the order of calls with the kernels of the same context, and need not wait for any, but for
 * copy_out and wait. Outside of begin and end nothing runs but they themselves. */
typedef struct attn_device {
  attn_device_id id;
  const char* name; /* in messages: "the CPU", "cuda:0" */
  void* state;      /* of the functions */
  /* Memory aligned to 128 bytes, with 128 bytes before and after it that kernels may read; null where
   * there is none. */
  void* (*allocate)(attn_context* context, size_t bytes);
  void (*free)(attn_context* context, void* memory);
  int (*copy_in)(attn_context* context, void* to, const void* host, size_t bytes);
  int (*copy_out)(attn_context* context, void* host, const void* from, size_t bytes);
  int (*zero)(attn_context* context, void* memory, size_t bytes);
  /* Around the kernels of a call; `end` gets what `begin` returned. */
  uint32_t (*begin)(attn_context* context);
  void (*end)(attn_context* context, uint32_t begun);
  int (*wait)(attn_context* context); /* until all that was begun has ended */
  /* Shows kernels the data: as host or as device address. Null: data is a host address. */
  void (*bind)(attn_context* context, struct attn_buffer* buffer, void* data);
} attn_device;

/* Why contexts of this device cannot be created; null where they can. ATTN_OTHER takes a table of the
 * caller's. */
const char* attn_device_refusal(attn_device_id device);

/* That of the context; null of a null context. */
const attn_device* attn_context_device(const attn_context* context);

/* Memory of the context's device; of the host where the context is null. */
void* attn_device_allocate(attn_context* context, size_t bytes);
void attn_device_free(attn_context* context, void* memory);
/* Copies the elements of a tensor to another of the same type and extents. Each is in memory of the
 * host or of the context's device. A null context is one of the CPU. */
attn_status attn_copy(attn_context* context, const attn_tensor* to, const attn_tensor* from);

ATTN_END_C
#endif
