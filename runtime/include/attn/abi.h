/* The types that a generated model, the runtime and a calling program share. C11 and C++.
 * Nothing here allocates, throws, aborts or exits. */
#ifndef ATTN_ABI_H
#define ATTN_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Around declarations in C: of functions that programs and shared libraries see. */
#ifdef __cplusplus
#define ATTN_BEGIN_C _Pragma("GCC visibility push(default)") extern "C" {
#define ATTN_END_C } _Pragma("GCC visibility pop")
#else
#define ATTN_BEGIN_C _Pragma("GCC visibility push(default)")
#define ATTN_END_C _Pragma("GCC visibility pop")
#endif

ATTN_BEGIN_C

/* Grows with every change to what a model, the runtime and a program share. A generated header makes
 * its program need the symbol attn_runtime_of_abi_VERSION: linking it with another runtime fails. */
#define ATTN_ABI_VERSION 18
#define ATTN_JOINED_(a, b) a##b
#define ATTN_JOINED(a, b) ATTN_JOINED_(a, b)
#define ATTN_RUNTIME_SYMBOL ATTN_JOINED(attn_runtime_of_abi_, ATTN_ABI_VERSION)
extern const char ATTN_RUNTIME_SYMBOL;
/* What includes this does not link without `symbol`, even where the linker drops what nobody uses.
 * `who`: a name that is the includer's own. */
#define ATTN_NEEDS(who, symbol) \
  extern const char symbol;     \
  static const char* const ATTN_JOINED(who##_needs_, symbol) ATTN_RETAINED = &symbol
#define ATTN_RETAINED __attribute__((used))
#ifdef __has_attribute
#if __has_attribute(retain)
#undef ATTN_RETAINED
#define ATTN_RETAINED __attribute__((used, retain))
#endif
#endif
#define ATTN_MAX_RANK 8

typedef enum attn_status {
  ATTN_OK = 0,
  ATTN_REFUSED = 1,    /* an argument is wrong: null, type, shape, alignment, overlap */
  ATTN_BAD_DATA = 2,   /* integer data is out of the range that the model reads with it */
  ATTN_NO_MEMORY = 3,
  ATTN_BAD_FILE = 4,   /* unreadable or malformed weights or arrays */
  ATTN_BAD_DEVICE = 5, /* the device is lost, or has too little of something for a kernel */
  ATTN_INTERNAL = 70   /* a defect of the generated code or the runtime */
} attn_status;

typedef enum attn_type
#ifdef __cplusplus
    : int /* any value that a caller may pass can be looked at */
#endif
{
  ATTN_F32 = 0, ATTN_F64 = 1, ATTN_F16 = 2, ATTN_BF16 = 3, ATTN_I32 = 4, ATTN_BOOL = 5 /* one byte, 0 or 1 */
} attn_type;

/* Where memory is, by DLPack's numbers; but the host is 0. */
typedef enum attn_device_type
#ifdef __cplusplus
    : int
#endif
{
  ATTN_CPU = 0, ATTN_CUDA = 2, ATTN_OPENCL = 4, ATTN_OTHER = 12 /* the program's own: attn/device.h */
} attn_device_type;
typedef struct attn_device_id {
  attn_device_type type;
  int32_t ordinal;
} attn_device_id;

/* A view of an array: row-major and dense (the last extent is adjacent). `data` may be null only
 * where an extent is 0 or the argument is optional. */
typedef struct attn_tensor {
  void* data;
  attn_type type;
  int32_t rank;
  int64_t extent[ATTN_MAX_RANK];
  attn_device_id device; /* where the data is; zeroed: memory of the host */
} attn_tensor;

/* A device, threads, a pooled allocator and the last error text. One context serves one call at a
 * time; use one context per calling thread. */
typedef struct attn_context attn_context;

/* Memory that a caller lends: `bytes` of it from `data`, aligned to 64 bytes and on the context's
 * device. Zeroed: none. */
typedef struct attn_block {
  void* data;
  int64_t bytes;
} attn_block;

/* Bytes that a call needs beside its tensors, for the sizes of the arguments given. */
typedef struct attn_sizes {
  int64_t forward_workspace;  /* of forward, with or without a saved block */
  int64_t training_workspace; /* of forward with a saved block, and of backward */
  int64_t backward_workspace;
  int64_t saved; /* what forward keeps for backward */
  int64_t jvp_workspace, hvp_workspace;
  int64_t probe_workspace; /* enough for each of the probes */
} attn_sizes;

/* How a parameter starts. The fans are the products of extents that its first reader reduces and
 * keeps; see attn_initialise. */
typedef enum attn_init {
  ATTN_INIT_ZEROS, ATTN_INIT_ONES, ATTN_INIT_CONSTANT, ATTN_INIT_NORMAL, ATTN_INIT_UNIFORM,
  ATTN_INIT_XAVIER, ATTN_INIT_ORTHOGONAL
} attn_init;

/* One parameter, input or output of a model, as text and flags for generic tools. */
typedef struct attn_argument {
  const char* name;                      /* "attn.wq" */
  attn_type type;
  int32_t rank;
  const char* extent[ATTN_MAX_RANK];     /* "B", "4*D": the text of each extent */
  int32_t differentiable;                /* 1: derivatives are taken by it, or of it */
  const char* weight_name;               /* its name in a weight file */
  attn_init init;
  double init_a, init_b;                 /* constant; mean, deviation; lower, upper */
  uint64_t fan_in_mask;                  /* bit k: extent k is reduced by the first reader */
  int32_t shape;                         /* among those of the model's program */
} attn_argument;

/* A scalar that an update takes; `value` is NAN where there is no default. */
typedef struct attn_step_option {
  const char* name;
  double value;
} attn_step_option;

/* What an update remembers of each parameter, and its value before the first step. */
typedef struct attn_step_state {
  const char* name;
  double value;
} attn_step_state;

/* What the runtime executes: attn/program.h. */
typedef struct attn_program attn_program;

/* A compiled model, for code that does not know it at compile time: attn/model.h calls it. Arrays of
 * tensors are in the order of the tables. */
typedef struct attn_model {
  uint32_t abi_version;
  const char* name;
  uint64_t source_hash;
  int32_t n_params, n_inputs, n_outputs, n_sizes, n_states;
  const attn_argument* params;
  const attn_argument* inputs;           /* the last n_states are states: forward changes them in place */
  const attn_argument* outputs;
  const char* const* size_names;         /* the run-time sizes */
  int32_t has_backward, has_jvp, has_hvp;
  int32_t n_probes;
  const attn_argument* probes;           /* results that are computed only for those who ask */
  /* The update that the model names with `using`. */
  int32_t has_step, n_step_options, n_step_states;
  const attn_step_option* step_options;
  const attn_step_state* step_states;
  const attn_program* program;
} attn_model;

ATTN_END_C
#endif
