/* Contexts: threads, pooled memory and the last error text. C11 and C++.
 * Nothing here aborts, exits or keeps state outside the context. */
#ifndef ATTN_ATTN_H
#define ATTN_ATTN_H

#include <attn/device.h>

ATTN_BEGIN_C

typedef enum attn_log_level { ATTN_LOG_WARNING = 1, ATTN_LOG_ERROR = 2 } attn_log_level;

/* What a kernel did, or a whole call. */
typedef struct attn_trace_event {
  const char *model, *function; /* "digits", "backward" */
  const char* kernel;           /* "contraction q"; null: the whole call */
  int32_t index;                /* of the kernel in its function, checks first; -1 for the call */
  double milliseconds;
  /* Each tensor once; of the steps of a recurrence each has its part of what is not sliced. */
  double bytes_read, bytes_written;
  double operations; /* additions and multiplications, as `attnc emit --stage=plan` counts them */
} attn_trace_event;

typedef struct attn_context_options {
  int32_t threads;    /* 0: as many as this process may run on */
  int64_t pool_bytes; /* memory kept for reuse; 0: 1 GiB; negative: none */
  /* Receives every error text and warning, on the thread that calls. May be null. */
  void (*log)(void* log_data, attn_log_level level, const char* text);
  void* log_data;
  attn_device_id device;                /* zeroed: the CPU */
  const attn_device* device_functions;  /* of ATTN_OTHER; outlive the context */
  /* Of ATTN_CUDA: the caller's own CUcontext of that device, and its CUstream, in which all work is
   * then done. Both outlive the context. Null: the device's primary context, and a stream of the
   * context's own, which waits for no other and for which no other waits. The driver's default
   * stream has a name: (void*)1, CU_STREAM_LEGACY. */
  void* cuda_context;
  void* cuda_stream;
  /* Called after every kernel, and at the end of every call that ran kernels, on the thread that calls;
   * waits for the device each time. May be null. */
  void (*trace)(void* trace_data, const attn_trace_event* event);
  void* trace_data;
} attn_context_options;

/* Options may be null. A device that cannot be had is ATTN_REFUSED: there is no context then, and
 * attn_device_refusal says why, as the log is told. Worker threads start with the first parallel loop
 * that needs them; where the system refuses some, calls run with fewer and give the same bits. A
 * context that lives on in a forked child starts threads of its own there. */
attn_status attn_context_create(const attn_context_options* options, attn_context** context);

/* Ends the worker threads. Null is allowed. Memory from attn_allocate stays valid. */
void attn_context_destroy(attn_context* context);

/* Until the device has done all that calls with the context have begun. Calls return before it has, and
 * a failure of what they began is the status of a later call, or of this. On the CPU there is nothing
 * to wait for. */
attn_status attn_context_wait(attn_context* context);

/* The text of the last failure, "" after a success. Valid until the next call with the context. */
const char* attn_context_message(const attn_context* context);

/* In place of those of the options; null ends them. */
void attn_context_set_trace(attn_context* context,
                            void (*trace)(void* trace_data, const attn_trace_event* event),
                            void* trace_data);

/* Whether calls that come again with the same tensors, sizes and memory are launched as one graph, on a
 * device of CUDA: they are, unless this ends it. Those that are there are given up then. A traced call
 * is launched kernel by kernel. */
void attn_context_set_launch_graphs(attn_context* context, int32_t is_wanted);

/* The number of threads that was asked for, the caller's included. */
int32_t attn_context_threads(const attn_context* context);

/* Takes effect at once: threads that are no longer wanted have ended on return. 0 as in options. */
attn_status attn_context_set_threads(attn_context* context, int32_t threads);

/* Returns pooled memory to the system. */
void attn_context_trim(attn_context* context);

/* Memory aligned to 128 bytes, with slack at both ends as kernels expect; null when there is none.
 * A context keeps what is freed for the next request of about that size; without one (null) it
 * comes from and goes to the system. Either kind may be freed with or without a context. */
void* attn_allocate(attn_context* context, size_t bytes);
void attn_free(attn_context* context, void* memory);

/* For tests: lets the n-th allocation (thread creation) from now fail, once; 0: none. */
void attn_context_fail_allocation(attn_context* context, int64_t n);
void attn_context_fail_thread(attn_context* context, int64_t n);

/* Runs task(data, index) for every index below count, on the threads of the context; a nested loop
 * runs on the thread that meets it. Returns the first non-zero result that was seen, after which
 * indices that have not begun are skipped. ATTN_REFUSED for a null task. */
int attn_parallel_for(attn_context* context, int count, int (*task)(void* data, int index),
                      void* data);

ATTN_END_C
#endif
