/* The types that a generated model, the runtime and a calling program share. C11 and C++.
 * Nothing here allocates, throws, aborts or exits. */
#ifndef ATTN_ABI_H
#define ATTN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTN_ABI_VERSION 4
#define ATTN_MAX_RANK 8

typedef enum attn_status {
  ATTN_OK = 0,
  ATTN_REFUSED = 1,    /* an argument is wrong: null, type, shape, alignment, overlap */
  ATTN_BAD_DATA = 2,   /* integer data is out of the range that the model reads with it */
  ATTN_NO_MEMORY = 3,
  ATTN_BAD_FILE = 4,   /* unreadable or malformed weights or arrays */
  ATTN_INTERNAL = 70   /* a defect of the generated code or the runtime */
} attn_status;

typedef enum attn_type
#ifdef __cplusplus
    : int /* any value that a caller may pass can be looked at */
#endif
{
  ATTN_F32 = 0, ATTN_F64 = 1, ATTN_F16 = 2, ATTN_BF16 = 3, ATTN_I32 = 4, ATTN_BOOL = 5 /* one byte, 0 or 1 */
} attn_type;

/* A view of an array: row-major and dense (the last extent is adjacent). `data` may be null only
 * where an extent is 0 or the argument is optional. */
typedef struct attn_tensor {
  void* data;
  attn_type type;
  int32_t rank;
  int64_t extent[ATTN_MAX_RANK];
} attn_tensor;

/* Threads, a pooled allocator and the last error text. One context serves one call at a time;
 * use one context per calling thread. */
typedef struct attn_context attn_context;

/* Bytes that a call needs beside its tensors, for the sizes of the arguments given. */
typedef struct attn_sizes {
  int64_t forward_workspace;
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

/* A result that a model computes only for those who ask, after a forward call. */
typedef struct attn_probe {
  const attn_argument* result; /* its init and fan_in_mask say nothing */
  /* Fills rank, type and extents (never data) for the given run-time sizes. */
  void (*shape)(const int64_t* sizes, attn_tensor* result);
  /* Bytes of workspace for them. */
  int64_t (*workspace)(const int64_t* sizes);
  /* Parameters, inputs, outputs and saved block are those of the forward call, unchanged. `saved`
   * may be null where the model has no backward. */
  attn_status (*run)(attn_context*, const attn_tensor* params, const attn_tensor* inputs,
                     const attn_tensor* outputs, const void* saved, const attn_tensor* result,
                     void* workspace);
} attn_probe;

/* A compiled model, for code that does not know it at compile time. Arrays of tensors are in the
 * order of the tables. */
typedef struct attn_model {
  uint32_t abi_version;
  const char* name;
  uint64_t source_hash;
  int32_t n_params, n_inputs, n_outputs, n_sizes;
  const attn_argument* params;
  const attn_argument* inputs;
  const attn_argument* outputs;
  const char* const* size_names;         /* the run-time sizes */
  int32_t has_backward;
  /* Reads the run-time sizes from the extents of parameters and inputs, and checks both against
   * them; parameters may be null (n_params of them are then not looked at). */
  attn_status (*read_sizes)(attn_context*, const attn_tensor* params, const attn_tensor* inputs,
                            int64_t* sizes);
  /* Fills rank, type and extents (never data) of every tensor for the given run-time sizes; any
   * array may be null. */
  void (*shapes)(const int64_t* sizes, attn_tensor* params, attn_tensor* inputs,
                 attn_tensor* outputs);
  attn_status (*sizes)(attn_context*, const attn_tensor* params, const attn_tensor* inputs,
                       attn_sizes*);
  attn_status (*forward)(attn_context*, const attn_tensor* params, const attn_tensor* inputs,
                         const attn_tensor* outputs, void* saved, void* workspace);
  /* Cotangents are tensors shaped like the outputs, gradients like params and inputs; of f16 and
   * bf16 tensors both are f32 (attn_gradient_type). Null data: a zero cotangent; a gradient that is
   * not wanted. Gradients are overwritten. */
  attn_status (*backward)(attn_context*, const attn_tensor* params, const attn_tensor* inputs,
                          const attn_tensor* outputs, const void* saved,
                          const attn_tensor* cotangents, const attn_tensor* param_gradients,
                          const attn_tensor* input_gradients, void* workspace);
  /* The outputs, and how they change along the tangents, which are tensors like gradients; so are
   * output_tangents to outputs. Null data: a zero tangent; a result that is not wanted. Null where it
   * was not asked for when compiling. */
  attn_status (*jvp)(attn_context*, const attn_tensor* params, const attn_tensor* inputs,
                     const attn_tensor* param_tangents, const attn_tensor* input_tangents,
                     const attn_tensor* outputs, const attn_tensor* output_tangents,
                     void* workspace);
  /* How the gradient of the first scalar output changes along the tangents. Nulls as for jvp. */
  attn_status (*hvp)(attn_context*, const attn_tensor* params, const attn_tensor* inputs,
                     const attn_tensor* param_tangents, const attn_tensor* input_tangents,
                     const attn_tensor* param_products, const attn_tensor* input_products,
                     void* workspace);
  /* The update that the model names with `using`; 0 and null where it names none. */
  int32_t n_step_options, n_step_states;
  const attn_step_option* step_options;
  const attn_step_state* step_states;
  /* Bytes of workspace for a step, from the parameters' shapes alone. */
  int64_t (*step_workspace)(const attn_tensor* params);
  /* Updates parameters and states in place. `step` counts from 1. `states` are n_step_states times
   * n_params tensors, those of the first state first, of the parameters' extents and in
   * attn_state_type of their types. A gradient with null data leaves its parameter as it is. */
  attn_status (*step)(attn_context*, const double* options, int64_t step,
                      const attn_tensor* params, const attn_tensor* param_gradients,
                      const attn_tensor* states, void* workspace);
  int32_t n_probes;
  const attn_probe* probes; /* null where there are none */
} attn_model;

#ifdef __cplusplus
}
#endif
#endif
