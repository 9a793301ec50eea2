/* attention.h - from attention.attn, written by attnc; C11 and C++17. Link attention.a and libattn_rt.a.
 * Tensors are row-major and dense; nothing here aborts, exits or throws: every call returns a
 * status, and attn_context_message(context) says what was wrong. */
#ifndef ATTN_GENERATED_ATTENTION_H
#define ATTN_GENERATED_ATTENTION_H

#include <attn/attn.h>

#if ATTN_ABI_VERSION != 18
#error "attention.h is for version 18 of attn/abi.h: compile attention.attn with the attnc of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif
ATTN_NEEDS(attention, ATTN_RUNTIME_SYMBOL);

/* ---- attention */
/* Compiled in: D = 256, H = 8, E = 32. */
typedef struct attention_params {
  attn_tensor wq; /* f32[H, E, D] */
  attn_tensor wk; /* f32[H, E, D] */
  attn_tensor wv; /* f32[H, E, D] */
  attn_tensor wo; /* f32[D, H, E] */
} attention_params;
typedef struct attention_inputs {
  attn_tensor x; /* f32[B, T, D] */
  attn_tensor wanted; /* f32[B, T, D] */
} attention_inputs;
typedef struct attention_outputs {
  attn_tensor loss; /* f32[] */
  attn_tensor y; /* f32[B, T, D] */
} attention_outputs;
/* What adam takes beside tensors. */
typedef struct attention_options {
  double lr; /* to be set */
  double beta1; /* 0.9 unless set */
  double beta2; /* 0.999 unless set */
  double eps; /* 1e-08 unless set */
  double clip; /* 0 unless set */
} attention_options;
attention_options attention_default_options(void);
/* Shaped like the parameters; of f16 and bf16 parameters f32. attn_initialise_states fills
 * them before the first step. */
typedef struct attention_states {
  attention_params m;
  attention_params v;
} attention_states;
ATTN_NEEDS(attention, attention_archive_of_d5386c0653e765cb);
/* For generic callers: attn/model.h, attn_model_save, attn::Model and the like. */
const attn_model* attention_model(void);
/* Bytes of workspace and saved block for these arguments. Smaller blocks are refused. */
attn_status attention_sizes(attn_context* context, const attention_params* params,
    const attention_inputs* inputs, attn_sizes* sizes);
/* `saved` may be zeroed where no backward follows. */
attn_status attention_forward(attn_context* context, const attention_params* params,
    const attention_inputs* inputs, const attention_outputs* outputs, attn_block saved,
    attn_block workspace);
/* A cotangent with null data is 0; a gradient with null data is not wanted. Of f16 and bf16
 * tensors both are f32. */
attn_status attention_backward(attn_context* context, const attention_params* params,
    const attention_inputs* inputs, const attention_outputs* outputs, attn_block saved,
    const attention_outputs* cotangents, const attention_params* param_gradients,
    const attention_inputs* input_gradients, attn_block workspace);
/* Bytes of workspace for forward_backward with these arguments, of which some may have null data. */
attn_status attention_forward_backward_workspace(attn_context* context,
    const attention_params* params, const attention_inputs* inputs,
    const attention_outputs* cotangents, const attention_params* param_gradients,
    const attention_inputs* input_gradients, int64_t* bytes);
/* Forward and backward in one call, which needs no saved block and less memory than the two. */
attn_status attention_forward_backward(attn_context* context,
    const attention_params* params, const attention_inputs* inputs,
    const attention_outputs* outputs, const attention_outputs* cotangents,
    const attention_params* param_gradients, const attention_inputs* input_gradients,
    attn_block workspace);
/* Bytes of workspace; a zeroed block will do for 0. */
int64_t attention_step_workspace(const attention_params* params);
/* Updates parameters and states in place; `step` counts from 1. A parameter whose gradient has
 * null data stays as it is. */
attn_status attention_step(attn_context* context, const attention_options* options,
    int64_t step, const attention_params* params, const attention_params* gradients,
    const attention_states* states, attn_block workspace);

#ifdef __cplusplus
}  /* extern "C" */

namespace attention_sizes_of {
constexpr int64_t D = 256;
constexpr int64_t H = 8;
constexpr int64_t E = 32;
}
#endif
#endif
