/* digits.h - from digits.attn, written by attnc; C11 and C++17. Link digits.a and libattn_rt.a.
 * Tensors are row-major and dense; nothing here aborts, exits or throws: every call returns a
 * status, and attn_context_message(context) says what was wrong. */
#ifndef ATTN_GENERATED_DIGITS_H
#define ATTN_GENERATED_DIGITS_H

#include <attn/attn.h>

#if ATTN_ABI_VERSION != 18
#error "digits.h is for version 18 of attn/abi.h: compile digits.attn with the attnc of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif
ATTN_NEEDS(digits, ATTN_RUNTIME_SYMBOL);

/* ---- digits: Trains the reader. */
/* Compiled in: N = 8, D = 32, P = 2, G = 4, T = 16, H = 4, C = 10, E = 8. */
typedef struct digits_params {
  attn_tensor reader_patch; /* reader.patch: f32[D, P, P]. What the weights make of a patch, and where a patch is. */
  attn_tensor reader_place; /* reader.place: f32[T, D] */
  attn_tensor reader_layers_0_norm1_gamma; /* reader.layers.0.norm1.gamma: f32[D] */
  attn_tensor reader_layers_0_norm1_beta; /* reader.layers.0.norm1.beta: f32[D] */
  attn_tensor reader_layers_0_attn_wq; /* reader.layers.0.attn.wq: f32[H, 8, D] */
  attn_tensor reader_layers_0_attn_bq; /* reader.layers.0.attn.bq: f32[H, 8] */
  attn_tensor reader_layers_0_attn_wk; /* reader.layers.0.attn.wk: f32[H, 8, D] */
  attn_tensor reader_layers_0_attn_bk; /* reader.layers.0.attn.bk: f32[H, 8] */
  attn_tensor reader_layers_0_attn_wv; /* reader.layers.0.attn.wv: f32[H, 8, D] */
  attn_tensor reader_layers_0_attn_bv; /* reader.layers.0.attn.bv: f32[H, 8] */
  attn_tensor reader_layers_0_attn_wo; /* reader.layers.0.attn.wo: f32[D, H, 8] */
  attn_tensor reader_layers_0_attn_bo; /* reader.layers.0.attn.bo: f32[D] */
  attn_tensor reader_layers_0_norm2_gamma; /* reader.layers.0.norm2.gamma: f32[D] */
  attn_tensor reader_layers_0_norm2_beta; /* reader.layers.0.norm2.beta: f32[D] */
  attn_tensor reader_layers_0_ffn_w1; /* reader.layers.0.ffn.w1: f32[4*D, D] */
  attn_tensor reader_layers_0_ffn_b1; /* reader.layers.0.ffn.b1: f32[4*D] */
  attn_tensor reader_layers_0_ffn_w2; /* reader.layers.0.ffn.w2: f32[D, 4*D] */
  attn_tensor reader_layers_0_ffn_b2; /* reader.layers.0.ffn.b2: f32[D] */
  attn_tensor reader_layers_1_norm1_gamma; /* reader.layers.1.norm1.gamma: f32[D] */
  attn_tensor reader_layers_1_norm1_beta; /* reader.layers.1.norm1.beta: f32[D] */
  attn_tensor reader_layers_1_attn_wq; /* reader.layers.1.attn.wq: f32[H, 8, D] */
  attn_tensor reader_layers_1_attn_bq; /* reader.layers.1.attn.bq: f32[H, 8] */
  attn_tensor reader_layers_1_attn_wk; /* reader.layers.1.attn.wk: f32[H, 8, D] */
  attn_tensor reader_layers_1_attn_bk; /* reader.layers.1.attn.bk: f32[H, 8] */
  attn_tensor reader_layers_1_attn_wv; /* reader.layers.1.attn.wv: f32[H, 8, D] */
  attn_tensor reader_layers_1_attn_bv; /* reader.layers.1.attn.bv: f32[H, 8] */
  attn_tensor reader_layers_1_attn_wo; /* reader.layers.1.attn.wo: f32[D, H, 8] */
  attn_tensor reader_layers_1_attn_bo; /* reader.layers.1.attn.bo: f32[D] */
  attn_tensor reader_layers_1_norm2_gamma; /* reader.layers.1.norm2.gamma: f32[D] */
  attn_tensor reader_layers_1_norm2_beta; /* reader.layers.1.norm2.beta: f32[D] */
  attn_tensor reader_layers_1_ffn_w1; /* reader.layers.1.ffn.w1: f32[4*D, D] */
  attn_tensor reader_layers_1_ffn_b1; /* reader.layers.1.ffn.b1: f32[4*D] */
  attn_tensor reader_layers_1_ffn_w2; /* reader.layers.1.ffn.w2: f32[D, 4*D] */
  attn_tensor reader_layers_1_ffn_b2; /* reader.layers.1.ffn.b2: f32[D] */
  attn_tensor reader_norm_gamma; /* reader.norm.gamma: f32[D] */
  attn_tensor reader_norm_beta; /* reader.norm.beta: f32[D] */
  attn_tensor reader_query; /* reader.query: f32[C, H, E] */
  attn_tensor reader_wk; /* reader.wk: f32[H, E, D] */
  attn_tensor reader_wv; /* reader.wv: f32[H, E, D] */
  attn_tensor reader_wo; /* reader.wo: f32[C, H, E] */
  attn_tensor reader_bias; /* reader.bias: f32[C] */
} digits_params;
typedef struct digits_inputs {
  attn_tensor image; /* f32[B, N, N] */
  attn_tensor label; /* int[B] */
} digits_inputs;
typedef struct digits_outputs {
  attn_tensor loss; /* f32[] */
  attn_tensor logit; /* f32[B, C] */
} digits_outputs;
/* What adam takes beside tensors. */
typedef struct digits_options {
  double lr; /* to be set */
  double beta1; /* 0.9 unless set */
  double beta2; /* 0.999 unless set */
  double eps; /* 1e-08 unless set */
  double clip; /* 0 unless set */
} digits_options;
digits_options digits_default_options(void);
/* Shaped like the parameters; of f16 and bf16 parameters f32. attn_initialise_states fills
 * them before the first step. */
typedef struct digits_states {
  digits_params m;
  digits_params v;
} digits_states;
ATTN_NEEDS(digits, digits_archive_of_6a4267f73beaae6b);
/* For generic callers: attn/model.h, attn_model_save, attn::Model and the like. */
const attn_model* digits_model(void);
/* Bytes of workspace and saved block for these arguments. Smaller blocks are refused. */
attn_status digits_sizes(attn_context* context, const digits_params* params,
    const digits_inputs* inputs, attn_sizes* sizes);
/* `saved` may be zeroed where no backward follows. */
attn_status digits_forward(attn_context* context, const digits_params* params,
    const digits_inputs* inputs, const digits_outputs* outputs, attn_block saved,
    attn_block workspace);
/* A cotangent with null data is 0; a gradient with null data is not wanted. Of f16 and bf16
 * tensors both are f32. */
attn_status digits_backward(attn_context* context, const digits_params* params,
    const digits_inputs* inputs, const digits_outputs* outputs, attn_block saved,
    const digits_outputs* cotangents, const digits_params* param_gradients,
    const digits_inputs* input_gradients, attn_block workspace);
/* Bytes of workspace for forward_backward with these arguments, of which some may have null data. */
attn_status digits_forward_backward_workspace(attn_context* context,
    const digits_params* params, const digits_inputs* inputs, const digits_outputs* cotangents,
    const digits_params* param_gradients, const digits_inputs* input_gradients, int64_t* bytes);
/* Forward and backward in one call, which needs no saved block and less memory than the two. */
attn_status digits_forward_backward(attn_context* context, const digits_params* params,
    const digits_inputs* inputs, const digits_outputs* outputs,
    const digits_outputs* cotangents, const digits_params* param_gradients,
    const digits_inputs* input_gradients, attn_block workspace);
/* Bytes of workspace; a zeroed block will do for 0. */
int64_t digits_step_workspace(const digits_params* params);
/* Updates parameters and states in place; `step` counts from 1. A parameter whose gradient has
 * null data stays as it is. */
attn_status digits_step(attn_context* context, const digits_options* options, int64_t step,
    const digits_params* params, const digits_params* gradients, const digits_states* states,
    attn_block workspace);

/* ---- digits_read: Reads with the same weights, and shows how much each class looks at each patch. */
/* Compiled in: N = 8, D = 32, P = 2, G = 4, T = 16, H = 4, C = 10, E = 8. */
typedef struct digits_read_params {
  attn_tensor reader_patch; /* reader.patch: f32[D, P, P]. What the weights make of a patch, and where a patch is. */
  attn_tensor reader_place; /* reader.place: f32[T, D] */
  attn_tensor reader_layers_0_norm1_gamma; /* reader.layers.0.norm1.gamma: f32[D] */
  attn_tensor reader_layers_0_norm1_beta; /* reader.layers.0.norm1.beta: f32[D] */
  attn_tensor reader_layers_0_attn_wq; /* reader.layers.0.attn.wq: f32[H, 8, D] */
  attn_tensor reader_layers_0_attn_bq; /* reader.layers.0.attn.bq: f32[H, 8] */
  attn_tensor reader_layers_0_attn_wk; /* reader.layers.0.attn.wk: f32[H, 8, D] */
  attn_tensor reader_layers_0_attn_bk; /* reader.layers.0.attn.bk: f32[H, 8] */
  attn_tensor reader_layers_0_attn_wv; /* reader.layers.0.attn.wv: f32[H, 8, D] */
  attn_tensor reader_layers_0_attn_bv; /* reader.layers.0.attn.bv: f32[H, 8] */
  attn_tensor reader_layers_0_attn_wo; /* reader.layers.0.attn.wo: f32[D, H, 8] */
  attn_tensor reader_layers_0_attn_bo; /* reader.layers.0.attn.bo: f32[D] */
  attn_tensor reader_layers_0_norm2_gamma; /* reader.layers.0.norm2.gamma: f32[D] */
  attn_tensor reader_layers_0_norm2_beta; /* reader.layers.0.norm2.beta: f32[D] */
  attn_tensor reader_layers_0_ffn_w1; /* reader.layers.0.ffn.w1: f32[4*D, D] */
  attn_tensor reader_layers_0_ffn_b1; /* reader.layers.0.ffn.b1: f32[4*D] */
  attn_tensor reader_layers_0_ffn_w2; /* reader.layers.0.ffn.w2: f32[D, 4*D] */
  attn_tensor reader_layers_0_ffn_b2; /* reader.layers.0.ffn.b2: f32[D] */
  attn_tensor reader_layers_1_norm1_gamma; /* reader.layers.1.norm1.gamma: f32[D] */
  attn_tensor reader_layers_1_norm1_beta; /* reader.layers.1.norm1.beta: f32[D] */
  attn_tensor reader_layers_1_attn_wq; /* reader.layers.1.attn.wq: f32[H, 8, D] */
  attn_tensor reader_layers_1_attn_bq; /* reader.layers.1.attn.bq: f32[H, 8] */
  attn_tensor reader_layers_1_attn_wk; /* reader.layers.1.attn.wk: f32[H, 8, D] */
  attn_tensor reader_layers_1_attn_bk; /* reader.layers.1.attn.bk: f32[H, 8] */
  attn_tensor reader_layers_1_attn_wv; /* reader.layers.1.attn.wv: f32[H, 8, D] */
  attn_tensor reader_layers_1_attn_bv; /* reader.layers.1.attn.bv: f32[H, 8] */
  attn_tensor reader_layers_1_attn_wo; /* reader.layers.1.attn.wo: f32[D, H, 8] */
  attn_tensor reader_layers_1_attn_bo; /* reader.layers.1.attn.bo: f32[D] */
  attn_tensor reader_layers_1_norm2_gamma; /* reader.layers.1.norm2.gamma: f32[D] */
  attn_tensor reader_layers_1_norm2_beta; /* reader.layers.1.norm2.beta: f32[D] */
  attn_tensor reader_layers_1_ffn_w1; /* reader.layers.1.ffn.w1: f32[4*D, D] */
  attn_tensor reader_layers_1_ffn_b1; /* reader.layers.1.ffn.b1: f32[4*D] */
  attn_tensor reader_layers_1_ffn_w2; /* reader.layers.1.ffn.w2: f32[D, 4*D] */
  attn_tensor reader_layers_1_ffn_b2; /* reader.layers.1.ffn.b2: f32[D] */
  attn_tensor reader_norm_gamma; /* reader.norm.gamma: f32[D] */
  attn_tensor reader_norm_beta; /* reader.norm.beta: f32[D] */
  attn_tensor reader_query; /* reader.query: f32[C, H, E] */
  attn_tensor reader_wk; /* reader.wk: f32[H, E, D] */
  attn_tensor reader_wv; /* reader.wv: f32[H, E, D] */
  attn_tensor reader_wo; /* reader.wo: f32[C, H, E] */
  attn_tensor reader_bias; /* reader.bias: f32[C] */
} digits_read_params;
typedef struct digits_read_inputs {
  attn_tensor image; /* f32[B, N, N] */
} digits_read_inputs;
typedef struct digits_read_outputs {
  attn_tensor logit; /* f32[B, C] */
  attn_tensor look; /* f32[B, C, H, T] */
} digits_read_outputs;
ATTN_NEEDS(digits_read, digits_read_archive_of_ebf59748ab088c76);
/* For generic callers: attn/model.h, attn_model_save, attn::Model and the like. */
const attn_model* digits_read_model(void);
/* Bytes of workspace and saved block for these arguments. Smaller blocks are refused. */
attn_status digits_read_sizes(attn_context* context, const digits_read_params* params,
    const digits_read_inputs* inputs, attn_sizes* sizes);
/* `saved` may be zeroed where no backward follows. */
attn_status digits_read_forward(attn_context* context, const digits_read_params* params,
    const digits_read_inputs* inputs, const digits_read_outputs* outputs, attn_block saved,
    attn_block workspace);

#ifdef __cplusplus
}  /* extern "C" */

namespace digits_sizes_of {
constexpr int64_t N = 8;
constexpr int64_t D = 32;
constexpr int64_t P = 2;
constexpr int64_t G = 4;
constexpr int64_t T = 16;
constexpr int64_t H = 4;
constexpr int64_t C = 10;
constexpr int64_t E = 8;
}

namespace digits_read_sizes_of {
constexpr int64_t N = 8;
constexpr int64_t D = 32;
constexpr int64_t P = 2;
constexpr int64_t G = 4;
constexpr int64_t T = 16;
constexpr int64_t H = 4;
constexpr int64_t C = 10;
constexpr int64_t E = 8;
}
#endif
#endif
