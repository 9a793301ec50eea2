/* attention.c - the glue of attention.attn, written by attnc: checks, workspace, kernel calls in order.
 * Compile it with the runtime's headers; attention.a holds it compiled. */
#include "attention.h"

#include <attn/kernel.h>
#include <attn/types.h>
#include <math.h>
#include <string.h>

/* ---- model attention */

static const attn_argument attention_params_table[] = {
  {"wq", ATTN_F32, 3, {"H", "E", "D", }, 1, "wq", ATTN_INIT_XAVIER, 0, 0, 4u},
  {"wk", ATTN_F32, 3, {"H", "E", "D", }, 1, "wk", ATTN_INIT_XAVIER, 0, 0, 4u},
  {"wv", ATTN_F32, 3, {"H", "E", "D", }, 1, "wv", ATTN_INIT_XAVIER, 0, 0, 4u},
  {"wo", ATTN_F32, 3, {"D", "H", "E", }, 1, "wo", ATTN_INIT_XAVIER, 0, 0, 6u},
};
static const attn_argument attention_inputs_table[] = {
  {"x", ATTN_F32, 3, {"B", "T", "D", }, 1, "x", ATTN_INIT_XAVIER, 0, 0, 4u},
  {"wanted", ATTN_F32, 3, {"B", "T", "D", }, 1, "wanted", ATTN_INIT_XAVIER, 0, 0, 7u},
};
static const attn_argument attention_outputs_table[] = {
  {"loss", ATTN_F32, 0, {0}, 1, "loss", ATTN_INIT_ZEROS, 0, 0, 0u},
  {"y", ATTN_F32, 3, {"B", "T", "D", }, 1, "y", ATTN_INIT_XAVIER, 0, 0, 7u},
};
static const char* const attention_size_names[] = {"B", "T", 0};

static void attention_shapes(const int64_t* size, attn_tensor* params, attn_tensor* inputs,
                      attn_tensor* outputs) {
  const int64_t n_B = size[0];
  const int64_t n_T = size[1];
  (void)n_B;
  (void)n_T;
  (void)size;
  if (params) {
    attn_shape(&params[0], ATTN_F32, 3, (const int64_t[]){8, 32, 256});
    attn_shape(&params[1], ATTN_F32, 3, (const int64_t[]){8, 32, 256});
    attn_shape(&params[2], ATTN_F32, 3, (const int64_t[]){8, 32, 256});
    attn_shape(&params[3], ATTN_F32, 3, (const int64_t[]){256, 8, 32});
  }
  if (inputs) {
    attn_shape(&inputs[0], ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256});
    attn_shape(&inputs[1], ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256});
  }
  if (outputs) {
    attn_shape(&outputs[0], ATTN_F32, 0, (const int64_t[]){0});
    attn_shape(&outputs[1], ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256});
  }
}

static attn_status attention_sizes_read(attn_context* context, const attn_tensor* params,
                                  const attn_tensor* inputs, int64_t* size) {
  attn_status status = ATTN_OK;
  if (!inputs) return attn_fail(context, ATTN_REFUSED, "attention: no inputs");
  (void)inputs, (void)params;
  const int64_t n_B = inputs[0].extent[0];
  const int64_t n_T = inputs[0].extent[1];
  size[0] = n_B;
  size[1] = n_T;
  attn_tensor wanted_params[4];
  attn_tensor wanted_inputs[2];
  attention_shapes(size, wanted_params, wanted_inputs, 0);
  for (int k = 0; inputs && k < 2 && !status; ++k)
    status = attn_check_tensor(context, "input", &attention_inputs_table[k], &inputs[k], &wanted_inputs[k], 0);
  for (int k = 0; params && k < 4 && !status; ++k)
    status = attn_check_tensor(context, "parameter", &attention_params_table[k], &params[k], &wanted_params[k], 0);
  if (status) return status;
  if (n_B < 0 || n_B > 2147483647)
    return attn_fail(context, ATTN_REFUSED, "size B is %lld, must be in 0..",
                     (long long)n_B);
  if (n_T < 0 || n_T > 2147483647)
    return attn_fail(context, ATTN_REFUSED, "size T is %lld, must be in 0..",
                     (long long)n_T);
  return status;
}

static int64_t attention_saved_layout(const int64_t* size, int64_t* at) {
  const int64_t n_B = size[0];
  const int64_t n_T = size[1];
  (void)n_B;
  (void)n_T;
  (void)size;
  int64_t end = attn_align(24);
  if (at) at[0] = end;
  end += attn_align(4 * n_B * 8 * n_T * 32); /* q */
  if (at) at[1] = end;
  end += attn_align(4 * n_B * 8 * n_T * 32); /* k */
  if (at) at[2] = end;
  end += attn_align(4 * n_B * 8 * n_T * 32); /* v */
  if (at) at[3] = end;
  end += attn_align(8 * n_B * 8 * n_T); /* p.lse */
  if (at) at[4] = end;
  end += attn_align(4 * n_B * 8 * n_T * 32); /* z */
  (void)at;
  return end;
}

int attention_forward_0_q_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_0_q_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_0_q_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_forward_0_q[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_forward_0_q_v2, attention_forward_0_q_v3, attention_forward_0_q_v4};
int attention_forward_0_q_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_0_q_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_0_q_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_forward_1_k[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_forward_0_q_v2, attention_forward_0_q_v3, attention_forward_0_q_v4};
int attention_forward_0_q_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_0_q_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_0_q_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_forward_2_v[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_forward_0_q_v2, attention_forward_0_q_v3, attention_forward_0_q_v4};
int attention_forward_3_p_lse_v2(void*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*);
int attention_forward_3_p_lse_v3(void*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*);
int attention_forward_3_p_lse_v4(void*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*);
static int (*const attention_forward_3_p_lse[])(void*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*) = {attention_forward_3_p_lse_v2, attention_forward_3_p_lse_v3, attention_forward_3_p_lse_v4};
int attention_forward_4_y_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_4_y_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_4_y_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_forward_4_y[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_forward_4_y_v2, attention_forward_4_y_v3, attention_forward_4_y_v4};
int attention_forward_5_loss_part_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_5_loss_part_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_forward_5_loss_part_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_forward_5_loss_part[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_forward_5_loss_part_v2, attention_forward_5_loss_part_v3, attention_forward_5_loss_part_v4};
int attention_forward_6_loss_v2(void*, attn_buffer*, attn_buffer*);
int attention_forward_6_loss_v3(void*, attn_buffer*, attn_buffer*);
int attention_forward_6_loss_v4(void*, attn_buffer*, attn_buffer*);
static int (*const attention_forward_6_loss[])(void*, attn_buffer*, attn_buffer*) = {attention_forward_6_loss_v2, attention_forward_6_loss_v3, attention_forward_6_loss_v4};

static int64_t attention_forward_layout(const int64_t* size, int64_t* at) {
  const int64_t n_B = size[0];
  const int64_t n_T = size[1];
  (void)n_B;
  (void)n_T;
  (void)size;
  int64_t end = 0, most = 0;
  (void)most, (void)at;
  most = 0;
  most = attn_larger(most, 4 * 256); /* loss.part */
  if (at) at[0] = end;
  end += attn_align(most);
  return end + 64;
}

static attn_status attention_forward_run(attn_context* context, const attn_tensor* params,
    const attn_tensor* inputs, const attn_tensor* outputs, const int64_t* size, char* saved,
    char* workspace) {
  const int level = attn_level(context, 0, 3);
  if (level < 0) return ATTN_REFUSED;
  const int64_t n_B = size[0];
  const int64_t n_T = size[1];
  (void)n_B;
  (void)n_T;
  (void)size;
  int64_t at[2];
  attention_forward_layout(size, at);
  (void)params, (void)inputs, (void)workspace;
  int64_t saved_at[6];
  attention_saved_layout(size, saved_at);
  (void)outputs, (void)saved, (void)saved_at;
  int failed = 0;
  (void)at, (void)level, (void)failed;

  void* pt_x = inputs[0].data;
  attn_buffer t_x;
  attn_dimension dt_x[3];
  if (attn_view(context, &t_x, dt_x, pt_x, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_wanted = inputs[1].data;
  attn_buffer t_wanted;
  attn_dimension dt_wanted[3];
  if (attn_view(context, &t_wanted, dt_wanted, pt_wanted, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_wq = params[0].data;
  attn_buffer t_wq;
  attn_dimension dt_wq[3];
  if (attn_view(context, &t_wq, dt_wq, pt_wq, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_wk = params[1].data;
  attn_buffer t_wk;
  attn_dimension dt_wk[3];
  if (attn_view(context, &t_wk, dt_wk, pt_wk, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_wv = params[2].data;
  attn_buffer t_wv;
  attn_dimension dt_wv[3];
  if (attn_view(context, &t_wv, dt_wv, pt_wv, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_wo = params[3].data;
  attn_buffer t_wo;
  attn_dimension dt_wo[3];
  if (attn_view(context, &t_wo, dt_wo, pt_wo, ATTN_F32, 3, (const int64_t[]){256, 8, 32})) return ATTN_REFUSED;
  void* pt_q = saved + saved_at[0];
  attn_buffer t_q;
  attn_dimension dt_q[4];
  if (attn_view(context, &t_q, dt_q, pt_q, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_k = saved + saved_at[1];
  attn_buffer t_k;
  attn_dimension dt_k[4];
  if (attn_view(context, &t_k, dt_k, pt_k, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_v = saved + saved_at[2];
  attn_buffer t_v;
  attn_dimension dt_v[4];
  if (attn_view(context, &t_v, dt_v, pt_v, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_p_lse = saved + saved_at[3];
  attn_buffer t_p_lse;
  attn_dimension dt_p_lse[4];
  if (attn_view(context, &t_p_lse, dt_p_lse, pt_p_lse, ATTN_F32, 4, (const int64_t[]){2, n_B, 8, n_T})) return ATTN_REFUSED;
  void* pt_z = saved + saved_at[4];
  attn_buffer t_z;
  attn_dimension dt_z[4];
  if (attn_view(context, &t_z, dt_z, pt_z, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_y = outputs[1].data;
  attn_buffer t_y;
  attn_dimension dt_y[3];
  if (attn_view(context, &t_y, dt_y, pt_y, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_loss = outputs[0].data;
  attn_buffer t_loss;
  attn_dimension dt_loss[1];
  if (attn_view(context, &t_loss, dt_loss, pt_loss, ATTN_F32, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_loss_part = workspace + at[0];
  attn_buffer t_loss_part;
  attn_dimension dt_loss_part[1];
  if (attn_view(context, &t_loss_part, dt_loss_part, pt_loss_part, ATTN_F32, 1, (const int64_t[]){256})) return ATTN_REFUSED;

  /* contraction q */
  if (n_B * 8 * n_T * 32 > 0 && (failed = attention_forward_0_q[level](context, &t_x, &t_wq, (int32_t)n_B, (int32_t)n_T, &t_q)) != 0)
    return attn_kernel_status(context, "attention_forward_0_q", failed);
  /* contraction k */
  if (n_B * 8 * n_T * 32 > 0 && (failed = attention_forward_1_k[level](context, &t_x, &t_wk, (int32_t)n_B, (int32_t)n_T, &t_k)) != 0)
    return attn_kernel_status(context, "attention_forward_1_k", failed);
  /* contraction v */
  if (n_B * 8 * n_T * 32 > 0 && (failed = attention_forward_2_v[level](context, &t_x, &t_wv, (int32_t)n_B, (int32_t)n_T, &t_v)) != 0)
    return attn_kernel_status(context, "attention_forward_2_v", failed);
  /* streaming s p.lse z */
  if (n_B * 8 * n_T + n_B * 8 * n_T * 32 > 0 && (failed = attention_forward_3_p_lse[level](context, &t_q, &t_k, &t_v, (int32_t)n_B, (int32_t)n_T, &t_p_lse, &t_z)) != 0)
    return attn_kernel_status(context, "attention_forward_3_p_lse", failed);
  /* contraction y */
  if (n_B * n_T * 256 > 0 && (failed = attention_forward_4_y[level](context, &t_wo, &t_z, (int32_t)n_B, (int32_t)n_T, &t_y)) != 0)
    return attn_kernel_status(context, "attention_forward_4_y", failed);
  /* row loss.part */
  if ((failed = attention_forward_5_loss_part[level](context, &t_wanted, &t_y, (int32_t)n_B, (int32_t)n_T, &t_loss_part)) != 0)
    return attn_kernel_status(context, "attention_forward_5_loss_part", failed);
  /* row loss */
  if ((failed = attention_forward_6_loss[level](context, &t_loss_part, &t_loss)) != 0)
    return attn_kernel_status(context, "attention_forward_6_loss", failed);
  return ATTN_OK;
}

int attention_backward_0_dy_total_v2(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_0_dy_total_v3(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_0_dy_total_v4(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_0_dy_total[])(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_0_dy_total_v2, attention_backward_0_dy_total_v3, attention_backward_0_dy_total_v4};
int attention_backward_1_dz_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_1_dz_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_1_dz_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_1_dz[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_1_dz_v2, attention_backward_1_dz_v3, attention_backward_1_dz_v4};
int attention_backward_2_dp_lse_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_2_dp_lse_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_2_dp_lse_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_2_dp_lse[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_2_dp_lse_v2, attention_backward_2_dp_lse_v3, attention_backward_2_dp_lse_v4};
int attention_backward_3_dv_v2(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*, attn_buffer*);
int attention_backward_3_dv_v3(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*, attn_buffer*);
int attention_backward_3_dv_v4(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*, attn_buffer*);
static int (*const attention_backward_3_dv[])(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*, attn_buffer*) = {attention_backward_3_dv_v2, attention_backward_3_dv_v3, attention_backward_3_dv_v4};
int attention_backward_4_dx_v2(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_4_dx_v3(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_4_dx_v4(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_4_dx[])(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_4_dx_v2, attention_backward_4_dx_v3, attention_backward_4_dx_v4};
int attention_backward_5_dwanted_v2(void*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_5_dwanted_v3(void*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_5_dwanted_v4(void*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_5_dwanted[])(void*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_5_dwanted_v2, attention_backward_5_dwanted_v3, attention_backward_5_dwanted_v4};
int attention_backward_6_dwq_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_6_dwq_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_6_dwq_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_6_dwq[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_6_dwq_v2, attention_backward_6_dwq_v3, attention_backward_6_dwq_v4};
int attention_backward_6_dwq_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_6_dwq_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_6_dwq_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_7_dwk[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_6_dwq_v2, attention_backward_6_dwq_v3, attention_backward_6_dwq_v4};
int attention_backward_6_dwq_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_6_dwq_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_6_dwq_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_8_dwv[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_6_dwq_v2, attention_backward_6_dwq_v3, attention_backward_6_dwq_v4};
int attention_backward_9_dwo_v2(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_9_dwo_v3(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_backward_9_dwo_v4(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_backward_9_dwo[])(void*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_backward_9_dwo_v2, attention_backward_9_dwo_v3, attention_backward_9_dwo_v4};

static int64_t attention_backward_layout(const int64_t* size, int64_t* at) {
  const int64_t n_B = size[0];
  const int64_t n_T = size[1];
  (void)n_B;
  (void)n_T;
  (void)size;
  int64_t end = 0, most = 0;
  (void)most, (void)at;
  most = 0;
  most = attn_larger(most, 4 * n_B * n_T * 256); /* dy.total */
  if (at) at[0] = end;
  end += attn_align(most);
  most = 0;
  most = attn_larger(most, 4 * n_B * 8 * n_T * 32); /* dz */
  if (at) at[1] = end;
  end += attn_align(most);
  most = 0;
  most = attn_larger(most, 4 * n_B * 8 * n_T * 32); /* dv */
  if (at) at[2] = end;
  end += attn_align(most);
  most = 0;
  most = attn_larger(most, 4 * n_B * 8 * n_T * 32); /* dk */
  if (at) at[3] = end;
  end += attn_align(most);
  most = 0;
  most = attn_larger(most, 4 * n_B * 8 * n_T * 32); /* dq */
  if (at) at[4] = end;
  end += attn_align(most);
  most = 0;
  most = attn_larger(most, 4 * n_B * 8 * n_T); /* dp.lse */
  if (at) at[5] = end;
  end += attn_align(most);
  if (at) at[6] = end;
  end += attn_align(4); /* dloss, where the caller has none */
  if (at) at[7] = end;
  end += attn_align(4 * n_B * n_T * 256); /* dy, where the caller has none */
  return end + 64;
}

static attn_status attention_backward_run(attn_context* context, const attn_tensor* params,
    const attn_tensor* inputs, const attn_tensor* outputs, const int64_t* size, char* saved,
    char* workspace, const attn_tensor* cotangents,
    const attn_tensor* param_gradients, const attn_tensor* input_gradients) {
  const int level = attn_level(context, 0, 3);
  if (level < 0) return ATTN_REFUSED;
  const int64_t n_B = size[0];
  const int64_t n_T = size[1];
  (void)n_B;
  (void)n_T;
  (void)size;
  int64_t at[9];
  attention_backward_layout(size, at);
  (void)params, (void)inputs, (void)workspace;
  int64_t saved_at[6];
  attention_saved_layout(size, saved_at);
  (void)outputs, (void)saved, (void)saved_at;
  (void)cotangents, (void)param_gradients, (void)input_gradients;
  int failed = 0;
  (void)at, (void)level, (void)failed;

  void* pt_x = inputs[0].data;
  attn_buffer t_x;
  attn_dimension dt_x[3];
  if (attn_view(context, &t_x, dt_x, pt_x, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_wanted = inputs[1].data;
  attn_buffer t_wanted;
  attn_dimension dt_wanted[3];
  if (attn_view(context, &t_wanted, dt_wanted, pt_wanted, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_wq = params[0].data;
  attn_buffer t_wq;
  attn_dimension dt_wq[3];
  if (attn_view(context, &t_wq, dt_wq, pt_wq, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_wk = params[1].data;
  attn_buffer t_wk;
  attn_dimension dt_wk[3];
  if (attn_view(context, &t_wk, dt_wk, pt_wk, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_wv = params[2].data;
  attn_buffer t_wv;
  attn_dimension dt_wv[3];
  if (attn_view(context, &t_wv, dt_wv, pt_wv, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_wo = params[3].data;
  attn_buffer t_wo;
  attn_dimension dt_wo[3];
  if (attn_view(context, &t_wo, dt_wo, pt_wo, ATTN_F32, 3, (const int64_t[]){256, 8, 32})) return ATTN_REFUSED;
  void* pt_q = saved + saved_at[0];
  attn_buffer t_q;
  attn_dimension dt_q[4];
  if (attn_view(context, &t_q, dt_q, pt_q, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_k = saved + saved_at[1];
  attn_buffer t_k;
  attn_dimension dt_k[4];
  if (attn_view(context, &t_k, dt_k, pt_k, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_v = saved + saved_at[2];
  attn_buffer t_v;
  attn_dimension dt_v[4];
  if (attn_view(context, &t_v, dt_v, pt_v, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_p_lse = saved + saved_at[3];
  attn_buffer t_p_lse;
  attn_dimension dt_p_lse[4];
  if (attn_view(context, &t_p_lse, dt_p_lse, pt_p_lse, ATTN_F32, 4, (const int64_t[]){2, n_B, 8, n_T})) return ATTN_REFUSED;
  void* pt_z = saved + saved_at[4];
  attn_buffer t_z;
  attn_dimension dt_z[4];
  if (attn_view(context, &t_z, dt_z, pt_z, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_y = outputs[1].data;
  attn_buffer t_y;
  attn_dimension dt_y[3];
  if (attn_view(context, &t_y, dt_y, pt_y, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_dloss = cotangents[0].data;
  if (!pt_dloss) memset(workspace + at[6], 0, (size_t)(4)), pt_dloss = workspace + at[6];
  attn_buffer t_dloss;
  attn_dimension dt_dloss[1];
  if (attn_view(context, &t_dloss, dt_dloss, pt_dloss, ATTN_F32, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_dy = cotangents[1].data;
  if (!pt_dy) memset(workspace + at[7], 0, (size_t)(4 * n_B * n_T * 256)), pt_dy = workspace + at[7];
  attn_buffer t_dy;
  attn_dimension dt_dy[3];
  if (attn_view(context, &t_dy, dt_dy, pt_dy, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_dx = input_gradients ? input_gradients[0].data : 0;
  attn_buffer t_dx;
  attn_dimension dt_dx[3];
  if (attn_view(context, &t_dx, dt_dx, pt_dx, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_dwanted = input_gradients ? input_gradients[1].data : 0;
  attn_buffer t_dwanted;
  attn_dimension dt_dwanted[3];
  if (attn_view(context, &t_dwanted, dt_dwanted, pt_dwanted, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_dwq = param_gradients ? param_gradients[0].data : 0;
  attn_buffer t_dwq;
  attn_dimension dt_dwq[3];
  if (attn_view(context, &t_dwq, dt_dwq, pt_dwq, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_dwk = param_gradients ? param_gradients[1].data : 0;
  attn_buffer t_dwk;
  attn_dimension dt_dwk[3];
  if (attn_view(context, &t_dwk, dt_dwk, pt_dwk, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_dwv = param_gradients ? param_gradients[2].data : 0;
  attn_buffer t_dwv;
  attn_dimension dt_dwv[3];
  if (attn_view(context, &t_dwv, dt_dwv, pt_dwv, ATTN_F32, 3, (const int64_t[]){8, 32, 256})) return ATTN_REFUSED;
  void* pt_dwo = param_gradients ? param_gradients[3].data : 0;
  attn_buffer t_dwo;
  attn_dimension dt_dwo[3];
  if (attn_view(context, &t_dwo, dt_dwo, pt_dwo, ATTN_F32, 3, (const int64_t[]){256, 8, 32})) return ATTN_REFUSED;
  void* pt_dy_total = workspace + at[0];
  attn_buffer t_dy_total;
  attn_dimension dt_dy_total[3];
  if (attn_view(context, &t_dy_total, dt_dy_total, pt_dy_total, ATTN_F32, 3, (const int64_t[]){n_B, n_T, 256})) return ATTN_REFUSED;
  void* pt_dz = workspace + at[1];
  attn_buffer t_dz;
  attn_dimension dt_dz[4];
  if (attn_view(context, &t_dz, dt_dz, pt_dz, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_dp_lse = workspace + at[5];
  attn_buffer t_dp_lse;
  attn_dimension dt_dp_lse[3];
  if (attn_view(context, &t_dp_lse, dt_dp_lse, pt_dp_lse, ATTN_F32, 3, (const int64_t[]){n_B, 8, n_T})) return ATTN_REFUSED;
  void* pt_dv = workspace + at[2];
  attn_buffer t_dv;
  attn_dimension dt_dv[4];
  if (attn_view(context, &t_dv, dt_dv, pt_dv, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_dk = workspace + at[3];
  attn_buffer t_dk;
  attn_dimension dt_dk[4];
  if (attn_view(context, &t_dk, dt_dk, pt_dk, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;
  void* pt_dq = workspace + at[4];
  attn_buffer t_dq;
  attn_dimension dt_dq[4];
  if (attn_view(context, &t_dq, dt_dq, pt_dq, ATTN_F32, 4, (const int64_t[]){n_B, 8, n_T, 32})) return ATTN_REFUSED;

  /* loops dy.total */
  if (n_B * n_T * 256 > 0 && (failed = attention_backward_0_dy_total[level](context, &t_wanted, &t_y, &t_dloss, &t_dy, (int32_t)n_B, (int32_t)n_T, &t_dy_total)) != 0)
    return attn_kernel_status(context, "attention_backward_0_dy_total", failed);
  /* contraction dz */
  if (n_B * 8 * n_T * 32 > 0 && (failed = attention_backward_1_dz[level](context, &t_wo, &t_dy_total, (int32_t)n_B, (int32_t)n_T, &t_dz)) != 0)
    return attn_kernel_status(context, "attention_backward_1_dz", failed);
  /* row dp.lse */
  if (n_B * 8 * n_T > 0 && (failed = attention_backward_2_dp_lse[level](context, &t_z, &t_dz, (int32_t)n_B, (int32_t)n_T, &t_dp_lse)) != 0)
    return attn_kernel_status(context, "attention_backward_2_dp_lse", failed);
  /* tiles s p dp ds dv dk dq */
  if (n_B * 8 * n_T * 32 + n_B * 8 * n_T * 32 + n_B * 8 * n_T * 32 > 0 && (failed = attention_backward_3_dv[level](context, &t_q, &t_k, &t_v, &t_p_lse, &t_dz, &t_dp_lse, (int32_t)n_B, (int32_t)n_T, &t_dv, &t_dk, &t_dq)) != 0)
    return attn_kernel_status(context, "attention_backward_3_dv", failed);
  /* contraction dx.3 dx.2 dx.1 dx */
  if (pt_dx && n_B * n_T * 256 > 0 && (failed = attention_backward_4_dx[level](context, &t_wq, &t_wk, &t_wv, &t_dv, &t_dk, &t_dq, (int32_t)n_B, (int32_t)n_T, &t_dx)) != 0)
    return attn_kernel_status(context, "attention_backward_4_dx", failed);
  /* loops dwanted */
  if (pt_dwanted && n_B * n_T * 256 > 0 && (failed = attention_backward_5_dwanted[level](context, &t_wanted, &t_y, &t_dloss, (int32_t)n_B, (int32_t)n_T, &t_dwanted)) != 0)
    return attn_kernel_status(context, "attention_backward_5_dwanted", failed);
  /* contraction dwq */
  if (pt_dwq && (failed = attention_backward_6_dwq[level](context, &t_x, &t_dq, (int32_t)n_B, (int32_t)n_T, &t_dwq)) != 0)
    return attn_kernel_status(context, "attention_backward_6_dwq", failed);
  /* contraction dwk */
  if (pt_dwk && (failed = attention_backward_7_dwk[level](context, &t_x, &t_dk, (int32_t)n_B, (int32_t)n_T, &t_dwk)) != 0)
    return attn_kernel_status(context, "attention_backward_7_dwk", failed);
  /* contraction dwv */
  if (pt_dwv && (failed = attention_backward_8_dwv[level](context, &t_x, &t_dv, (int32_t)n_B, (int32_t)n_T, &t_dwv)) != 0)
    return attn_kernel_status(context, "attention_backward_8_dwv", failed);
  /* contraction dwo */
  if (pt_dwo && (failed = attention_backward_9_dwo[level](context, &t_z, &t_dy_total, (int32_t)n_B, (int32_t)n_T, &t_dwo)) != 0)
    return attn_kernel_status(context, "attention_backward_9_dwo", failed);
  return ATTN_OK;
}

attn_status attention_sizes(attn_context* context, const attention_params* params, const attention_inputs* inputs,
    attn_sizes* result) {
  int64_t size[3];
  if (!context || !result) return ATTN_REFUSED;
  attn_status status = attention_sizes_read(context, (const attn_tensor*)params,
                                     (const attn_tensor*)inputs, size);
  if (status) return status;
  memset(result, 0, sizeof *result);
  result->saved = attention_saved_layout(size, 0);
  result->forward_workspace = attention_forward_layout(size, 0) + attention_saved_layout(size, 0);
  result->backward_workspace = attention_backward_layout(size, 0);
  return ATTN_OK;
}

attn_status attention_forward(attn_context* context, const attention_params* params, const attention_inputs* inputs, const attention_outputs* outputs, void* saved, void* workspace) {
  int64_t size[3];
  if (!context) return ATTN_REFUSED;
  if (!params) return attn_fail(context, ATTN_REFUSED, "attention: no parameters");
  attn_status status = attention_sizes_read(context, (const attn_tensor*)params,
                                     (const attn_tensor*)inputs, size);
  if (status) return status;
  attn_tensor wanted[2];
  attention_shapes(size, 0, 0, wanted);
  if (!outputs) return attn_fail(context, ATTN_REFUSED, "attention: no outputs");
  const attn_tensor* out = (const attn_tensor*)outputs;
  for (int k = 0; k < 2 && !status; ++k)
    status = attn_check_tensor(context, "output", &attention_outputs_table[k], &out[k], &wanted[k], 0);
  if (status) return status;
  if (!workspace || (uintptr_t)workspace % 64)
    return attn_fail(context, ATTN_REFUSED, "attention: the workspace must be aligned to 64 bytes");
  const attn_tensor* all[9];
  const char* names[9];
  int written[9], count = 0;
  for (int k = 0; params && k < 4; ++k) {
    all[count] = (const attn_tensor*)params + k;
    names[count] = attention_params_table[k].name;
    written[count++] = 0;
  }
  for (int k = 0; inputs && k < 2; ++k) {
    all[count] = (const attn_tensor*)inputs + k;
    names[count] = attention_inputs_table[k].name;
    written[count++] = 0;
  }
  for (int k = 0; outputs && k < 2; ++k) {
    all[count] = (const attn_tensor*)outputs + k;
    names[count] = attention_outputs_table[k].name;
    written[count++] = 1;
  }
  status = attn_check_overlap(context, count, all, names, written);
  if (status) return status;
  char* kept = saved ? (char*)saved : (char*)workspace + attention_forward_layout(size, 0);
  if ((uintptr_t)kept % 64)
    return attn_fail(context, ATTN_REFUSED, "attention: the saved block must be aligned to 64 bytes");
  const uint32_t control = attn_begin_call(context);
  status = attention_forward_run(context, (const attn_tensor*)params, (const attn_tensor*)inputs, out,
                          size, kept, (char*)workspace);
  attn_end_call(context, control);
  if (!status) {
    const uint64_t hash = 17969462981063585247u;
    memcpy(kept, &hash, 8);
    memcpy(kept + 8, size, 16);
  }
  return status;
}

attn_status attention_backward(attn_context* context, const attention_params* params, const attention_inputs* inputs, const attention_outputs* outputs, const void* saved, const attention_outputs* cotangents, const attention_params* param_gradients, const attention_inputs* input_gradients, void* workspace) {
  int64_t size[3];
  if (!context) return ATTN_REFUSED;
  if (!params) return attn_fail(context, ATTN_REFUSED, "attention: no parameters");
  attn_status status = attention_sizes_read(context, (const attn_tensor*)params,
                                     (const attn_tensor*)inputs, size);
  if (status) return status;
  attn_tensor wanted[2];
  attention_shapes(size, 0, 0, wanted);
  if (!outputs) return attn_fail(context, ATTN_REFUSED, "attention: no outputs");
  const attn_tensor* out = (const attn_tensor*)outputs;
  for (int k = 0; k < 2 && !status; ++k)
    status = attn_check_tensor(context, "output", &attention_outputs_table[k], &out[k], &wanted[k], 0);
  if (status) return status;
  if (!workspace || (uintptr_t)workspace % 64)
    return attn_fail(context, ATTN_REFUSED, "attention: the workspace must be aligned to 64 bytes");
  if (!saved || (uintptr_t)saved % 64)
    return attn_fail(context, ATTN_REFUSED, "attention: the saved block must be aligned to 64 bytes");
  uint64_t hash = 0;
  memcpy(&hash, saved, 8);
  if (hash != 17969462981063585247u || memcmp((const char*)saved + 8, size, 16))
    return attn_fail(context, ATTN_REFUSED, "attention: the saved block is of another call");
  if (!cotangents) return attn_fail(context, ATTN_REFUSED, "attention: no cotangents");
  attn_tensor wanted_params[5], wanted_inputs[3];
  attention_shapes(size, wanted_params, wanted_inputs, 0);
  for (int k = 0; cotangents && k < 2 && !status; ++k)
    if (((const attn_tensor*)cotangents)[k].data) {
      attn_argument argument = attention_outputs_table[k];
      argument.type = attn_gradient_type(argument.type);
      status = attn_check_tensor(context, "cotangent", &argument,
                                 (const attn_tensor*)cotangents + k, &wanted[k], 1);
    }
  for (int k = 0; param_gradients && k < 4 && !status; ++k)
    if (((const attn_tensor*)param_gradients)[k].data) {
      attn_argument argument = attention_params_table[k];
      argument.type = attn_gradient_type(argument.type);
      status = attn_check_tensor(context, "gradient", &argument,
                                 (const attn_tensor*)param_gradients + k, &wanted_params[k], 1);
    }
  for (int k = 0; input_gradients && k < 2 && !status; ++k)
    if (((const attn_tensor*)input_gradients)[k].data) {
      attn_argument argument = attention_inputs_table[k];
      argument.type = attn_gradient_type(argument.type);
      status = attn_check_tensor(context, "gradient", &argument,
                                 (const attn_tensor*)input_gradients + k, &wanted_inputs[k], 1);
    }
  if (status) return status;
  const attn_tensor* all[17];
  const char* names[17];
  int written[17], count = 0;
  for (int k = 0; params && k < 4; ++k) {
    all[count] = (const attn_tensor*)params + k;
    names[count] = attention_params_table[k].name;
    written[count++] = 0;
  }
  for (int k = 0; inputs && k < 2; ++k) {
    all[count] = (const attn_tensor*)inputs + k;
    names[count] = attention_inputs_table[k].name;
    written[count++] = 0;
  }
  for (int k = 0; outputs && k < 2; ++k) {
    all[count] = (const attn_tensor*)outputs + k;
    names[count] = attention_outputs_table[k].name;
    written[count++] = 0;
  }
  for (int k = 0; cotangents && k < 2; ++k) {
    all[count] = (const attn_tensor*)cotangents + k;
    names[count] = attention_outputs_table[k].name;
    written[count++] = 0;
  }
  for (int k = 0; param_gradients && k < 4; ++k) {
    all[count] = (const attn_tensor*)param_gradients + k;
    names[count] = attention_params_table[k].name;
    written[count++] = 1;
  }
  for (int k = 0; input_gradients && k < 2; ++k) {
    all[count] = (const attn_tensor*)input_gradients + k;
    names[count] = attention_inputs_table[k].name;
    written[count++] = 1;
  }
  status = attn_check_overlap(context, count, all, names, written);
  if (status) return status;
  const uint32_t control = attn_begin_call(context);
  status = attention_backward_run(context, (const attn_tensor*)params, (const attn_tensor*)inputs, out,
                           size, (char*)saved, (char*)workspace, (const attn_tensor*)cotangents,
                           (const attn_tensor*)param_gradients, (const attn_tensor*)input_gradients);
  attn_end_call(context, control);
  return status;
}

static const attn_step_option attention_step_options[] = {
  {"lr", NAN},
  {"beta1", 0.9},
  {"beta2", 0.999},
  {"eps", 1e-08},
  {"clip", 0},
  {0, 0}};
static const attn_step_state attention_step_states[] = {
  {"m", 0},
  {"v", 0},
  {0, 0}};

static int64_t attention_norm_f32_saved_layout(const int64_t* size, int64_t* at) {
  (void)size, (void)at;
  return 0;
}
int attention_norm_f32_forward_0_square_part_v2(void*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_norm_f32_forward_0_square_part_v3(void*, attn_buffer*, int32_t, int32_t, attn_buffer*);
int attention_norm_f32_forward_0_square_part_v4(void*, attn_buffer*, int32_t, int32_t, attn_buffer*);
static int (*const attention_norm_f32_forward_0_square_part[])(void*, attn_buffer*, int32_t, int32_t, attn_buffer*) = {attention_norm_f32_forward_0_square_part_v2, attention_norm_f32_forward_0_square_part_v3, attention_norm_f32_forward_0_square_part_v4};
int attention_norm_f32_forward_1_square_v2(void*, attn_buffer*, int32_t, attn_buffer*);
int attention_norm_f32_forward_1_square_v3(void*, attn_buffer*, int32_t, attn_buffer*);
int attention_norm_f32_forward_1_square_v4(void*, attn_buffer*, int32_t, attn_buffer*);
static int (*const attention_norm_f32_forward_1_square[])(void*, attn_buffer*, int32_t, attn_buffer*) = {attention_norm_f32_forward_1_square_v2, attention_norm_f32_forward_1_square_v3, attention_norm_f32_forward_1_square_v4};

static int64_t attention_norm_f32_forward_layout(const int64_t* size, int64_t* at) {
  const int64_t n_Rows = size[0];
  const int64_t n_Columns = size[1];
  (void)n_Rows;
  (void)n_Columns;
  (void)size;
  int64_t end = 0, most = 0;
  (void)most, (void)at;
  most = 0;
  most = attn_larger(most, 8 * n_Columns); /* square.part */
  if (at) at[0] = end;
  end += attn_align(most);
  return end + 64;
}

static attn_status attention_norm_f32_forward_run(attn_context* context, const attn_tensor* params,
    const attn_tensor* inputs, const attn_tensor* outputs, const int64_t* size, char* saved,
    char* workspace) {
  const int level = attn_level(context, 0, 3);
  if (level < 0) return ATTN_REFUSED;
  const int64_t n_Rows = size[0];
  const int64_t n_Columns = size[1];
  (void)n_Rows;
  (void)n_Columns;
  (void)size;
  int64_t at[2];
  attention_norm_f32_forward_layout(size, at);
  (void)params, (void)inputs, (void)workspace;
  int64_t saved_at[1];
  attention_norm_f32_saved_layout(size, saved_at);
  (void)outputs, (void)saved, (void)saved_at;
  int failed = 0;
  (void)at, (void)level, (void)failed;

  void* pt_g = inputs[0].data;
  attn_buffer t_g;
  attn_dimension dt_g[2];
  if (attn_view(context, &t_g, dt_g, pt_g, ATTN_F32, 2, (const int64_t[]){n_Rows, n_Columns})) return ATTN_REFUSED;
  void* pt_square = outputs[0].data;
  attn_buffer t_square;
  attn_dimension dt_square[1];
  if (attn_view(context, &t_square, dt_square, pt_square, ATTN_F64, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_square_part = workspace + at[0];
  attn_buffer t_square_part;
  attn_dimension dt_square_part[1];
  if (attn_view(context, &t_square_part, dt_square_part, pt_square_part, ATTN_F64, 1, (const int64_t[]){n_Columns})) return ATTN_REFUSED;

  /* row square.part */
  if (n_Columns > 0 && (failed = attention_norm_f32_forward_0_square_part[level](context, &t_g, (int32_t)n_Rows, (int32_t)n_Columns, &t_square_part)) != 0)
    return attn_kernel_status(context, "attention_norm_f32_forward_0_square_part", failed);
  /* row square */
  if ((failed = attention_norm_f32_forward_1_square[level](context, &t_square_part, (int32_t)n_Columns, &t_square)) != 0)
    return attn_kernel_status(context, "attention_norm_f32_forward_1_square", failed);
  return ATTN_OK;
}

static attn_status attention_norm_f32_part(attn_context* context, const attn_tensor* gradient,
    int64_t begin, int64_t rows, int64_t columns, void* workspace, double* square) {
  const int64_t size[2] = {rows, columns};
  attn_tensor inputs[1], outputs[1];
  inputs[0].data = (char*)gradient->data + 4 * begin;
  outputs[0].data = square;
  return attention_norm_f32_forward_run(context, 0, inputs, outputs, size, 0, (char*)workspace);
}

static int64_t attention_step_f32_saved_layout(const int64_t* size, int64_t* at) {
  (void)size, (void)at;
  return 0;
}
int attention_step_f32_forward_0_m_next_v2(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*, attn_buffer*);
int attention_step_f32_forward_0_m_next_v3(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*, attn_buffer*);
int attention_step_f32_forward_0_m_next_v4(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*, attn_buffer*);
static int (*const attention_step_f32_forward_0_m_next[])(void*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, attn_buffer*, int32_t, int32_t, attn_buffer*, attn_buffer*, attn_buffer*) = {attention_step_f32_forward_0_m_next_v2, attention_step_f32_forward_0_m_next_v3, attention_step_f32_forward_0_m_next_v4};

static int64_t attention_step_f32_forward_layout(const int64_t* size, int64_t* at) {
  const int64_t n_Rows = size[0];
  const int64_t n_Columns = size[1];
  (void)n_Rows;
  (void)n_Columns;
  (void)size;
  int64_t end = 0, most = 0;
  (void)most, (void)at;
  return end + 64;
}

static attn_status attention_step_f32_forward_run(attn_context* context, const attn_tensor* params,
    const attn_tensor* inputs, const attn_tensor* outputs, const int64_t* size, char* saved,
    char* workspace) {
  const int level = attn_level(context, 0, 3);
  if (level < 0) return ATTN_REFUSED;
  const int64_t n_Rows = size[0];
  const int64_t n_Columns = size[1];
  (void)n_Rows;
  (void)n_Columns;
  (void)size;
  int64_t at[1];
  attention_step_f32_forward_layout(size, at);
  (void)params, (void)inputs, (void)workspace;
  int64_t saved_at[1];
  attention_step_f32_saved_layout(size, saved_at);
  (void)outputs, (void)saved, (void)saved_at;
  int failed = 0;
  (void)at, (void)level, (void)failed;

  void* pt_g = inputs[0].data;
  attn_buffer t_g;
  attn_dimension dt_g[2];
  if (attn_view(context, &t_g, dt_g, pt_g, ATTN_F32, 2, (const int64_t[]){n_Rows, n_Columns})) return ATTN_REFUSED;
  void* pt_m = inputs[1].data;
  attn_buffer t_m;
  attn_dimension dt_m[2];
  if (attn_view(context, &t_m, dt_m, pt_m, ATTN_F32, 2, (const int64_t[]){n_Rows, n_Columns})) return ATTN_REFUSED;
  void* pt_v = inputs[2].data;
  attn_buffer t_v;
  attn_dimension dt_v[2];
  if (attn_view(context, &t_v, dt_v, pt_v, ATTN_F32, 2, (const int64_t[]){n_Rows, n_Columns})) return ATTN_REFUSED;
  void* pt_lr = inputs[3].data;
  attn_buffer t_lr;
  attn_dimension dt_lr[1];
  if (attn_view(context, &t_lr, dt_lr, pt_lr, ATTN_F64, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_step = inputs[4].data;
  attn_buffer t_step;
  attn_dimension dt_step[1];
  if (attn_view(context, &t_step, dt_step, pt_step, ATTN_F64, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_norm = inputs[5].data;
  attn_buffer t_norm;
  attn_dimension dt_norm[1];
  if (attn_view(context, &t_norm, dt_norm, pt_norm, ATTN_F64, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_beta1 = inputs[6].data;
  attn_buffer t_beta1;
  attn_dimension dt_beta1[1];
  if (attn_view(context, &t_beta1, dt_beta1, pt_beta1, ATTN_F64, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_beta2 = inputs[7].data;
  attn_buffer t_beta2;
  attn_dimension dt_beta2[1];
  if (attn_view(context, &t_beta2, dt_beta2, pt_beta2, ATTN_F64, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_eps = inputs[8].data;
  attn_buffer t_eps;
  attn_dimension dt_eps[1];
  if (attn_view(context, &t_eps, dt_eps, pt_eps, ATTN_F64, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_clip = inputs[9].data;
  attn_buffer t_clip;
  attn_dimension dt_clip[1];
  if (attn_view(context, &t_clip, dt_clip, pt_clip, ATTN_F64, 0, (const int64_t[]){0})) return ATTN_REFUSED;
  void* pt_w = params[0].data;
  attn_buffer t_w;
  attn_dimension dt_w[2];
  if (attn_view(context, &t_w, dt_w, pt_w, ATTN_F32, 2, (const int64_t[]){n_Rows, n_Columns})) return ATTN_REFUSED;
  void* pt_m_next = outputs[1].data;
  attn_buffer t_m_next;
  attn_dimension dt_m_next[2];
  if (attn_view(context, &t_m_next, dt_m_next, pt_m_next, ATTN_F32, 2, (const int64_t[]){n_Rows, n_Columns})) return ATTN_REFUSED;
  void* pt_v_next = outputs[2].data;
  attn_buffer t_v_next;
  attn_dimension dt_v_next[2];
  if (attn_view(context, &t_v_next, dt_v_next, pt_v_next, ATTN_F32, 2, (const int64_t[]){n_Rows, n_Columns})) return ATTN_REFUSED;
  void* pt_w_next = outputs[0].data;
  attn_buffer t_w_next;
  attn_dimension dt_w_next[2];
  if (attn_view(context, &t_w_next, dt_w_next, pt_w_next, ATTN_F32, 2, (const int64_t[]){n_Rows, n_Columns})) return ATTN_REFUSED;

  /* row scalar.1 c scalar.2 scalar.3 m.next scalar.4 scalar.5 v.next scalar.6 scalar.7 scalar.8 w.next */
  if (n_Rows * n_Columns + n_Rows * n_Columns + n_Rows * n_Columns > 0 && (failed = attention_step_f32_forward_0_m_next[level](context, &t_g, &t_m, &t_v, &t_lr, &t_step, &t_norm, &t_beta1, &t_beta2, &t_eps, &t_clip, &t_w, (int32_t)n_Rows, (int32_t)n_Columns, &t_m_next, &t_v_next, &t_w_next)) != 0)
    return attn_kernel_status(context, "attention_step_f32_forward_0_m_next", failed);
  return ATTN_OK;
}

static attn_status attention_step_f32_part(attn_context* context, const attn_tensor* param,
    const attn_tensor* gradient, const attn_tensor* states, double* scalars,
    int64_t begin, int64_t rows, int64_t columns) {
  const int64_t size[2] = {rows, columns};
  attn_tensor params[1], inputs[10], outputs[3];
  params[0].data = (char*)param->data + 4 * begin;
  inputs[0].data = (char*)gradient->data + 4 * begin;
  for (int k = 0; k < 2; ++k)
    inputs[1 + k].data = (char*)states[k * 4].data + 4 * begin;
  for (int k = 0; k < 7; ++k) inputs[3 + k].data = scalars + k;
  outputs[0].data = params[0].data; /* in place, the states as well */
  for (int k = 0; k < 2; ++k) outputs[1 + k].data = inputs[1 + k].data;
  (void)states, (void)scalars;
  return attention_step_f32_forward_run(context, params, inputs, outputs, size, 0, 0);
}

static attn_status attention_norm_of(attn_context* context, const attn_tensor* gradient,
    int64_t begin, int64_t rows, int64_t columns, void* workspace, double* square) {
  switch (gradient->type) {
    case ATTN_F32: return attention_norm_f32_part(context, gradient, begin, rows, columns, workspace, square);
    default: return attn_fail(context, ATTN_INTERNAL, "attention: no such type");
  }
}

static attn_status attention_update_of(attn_context* context, const attn_tensor* param,
    const attn_tensor* gradient, const attn_tensor* states, double* scalars,
    int64_t begin, int64_t rows, int64_t columns) {
  switch (param->type) {
    case ATTN_F32: return attention_step_f32_part(context, param, gradient, states, scalars, begin, rows, columns);
    default: return attn_fail(context, ATTN_INTERNAL, "attention: no such type");
  }
}

int64_t attention_step_workspace(const attention_params* params) {
  const attn_tensor* p = (const attn_tensor*)params;
  int64_t most = 0;
  for (int k = 0; k < 4; ++k) {
    const int64_t count = attn_element_count(&p[k]);
    const int64_t whole[2] = {count / 2048, 2048}, rest[2] = {1, count % 2048};
    most = attn_larger(most, attention_norm_f32_forward_layout(whole, 0));
    most = attn_larger(most, attention_norm_f32_forward_layout(rest, 0));
  }
  (void)p;
  return most;
}

attention_options attention_default_options(void) {
  attention_options options;
  options.lr = NAN;
  options.beta1 = 0.9;
  options.beta2 = 0.999;
  options.eps = 1e-08;
  options.clip = 0;
  return options;
}

attn_status attention_step(attn_context* context, const attention_options* options, int64_t step,
    const attention_params* params, const attention_params* gradients, const attention_states* states,
    void* workspace) {
  const attn_tensor *p = (const attn_tensor*)params, *dp = (const attn_tensor*)gradients,
                    *held = (const attn_tensor*)states;
  const double* option = (const double*)options;
  if (!context) return ATTN_REFUSED;
  attn_status status =
      attn_check_step(context, attention_model(), option, step, p, dp, held);
  if (status) return status;
  const uint32_t control = attn_begin_call(context);
  double norm = 0;
  if (!workspace || (uintptr_t)workspace % 64)
    status = attn_fail(context, ATTN_REFUSED,
                       "attention: the workspace must be aligned to 64 bytes");
  double square = 0;
  for (int k = 0; k < 4 && !status; ++k) {
    const int64_t count = attn_element_count(&p[k]);
    if (!dp[k].data || count == 0) continue;
    const int64_t rows = count / 2048, begin = rows * 2048;
    if (rows > 0) status = attention_norm_of(context, &dp[k], 0, rows, 2048, workspace,
                                  &square);
    if (rows > 0) norm += square;
    if (!status && count > begin) status = attention_norm_of(context, &dp[k], begin, 1, count - begin, workspace,
                                  &square);
    if (!status && count > begin) norm += square;
  }
  norm = sqrt(norm);
  double scalars[] = {option[0], (double)step, norm, option[1], option[2], option[3], option[4], 0};
  (void)held, (void)option, (void)workspace, (void)norm;
  for (int k = 0; k < 4 && !status; ++k) {
    const int64_t count = attn_element_count(&p[k]);
    if (!dp[k].data || count == 0) continue;
    const int64_t rows = count / 2048, begin = rows * 2048;
    if (rows > 0) status = attention_update_of(context, &p[k], &dp[k], held ? held + k : 0,
        scalars, 0, rows, 2048);
    if (!status && count > begin) status = attention_update_of(context, &p[k], &dp[k], held ? held + k : 0,
        scalars, begin, 1, count - begin);
  }
  attn_end_call(context, control);
  return status;
}

static attn_status attention_sizes_any(attn_context* c, const attn_tensor* p, const attn_tensor* in, attn_sizes* r) {
  return attention_sizes(c, (const attention_params*)p, (const attention_inputs*)in, r);
}
static attn_status attention_forward_any(attn_context* c, const attn_tensor* p, const attn_tensor* in,
                                   const attn_tensor* out, void* saved, void* workspace) {
  return attention_forward(c, (const attention_params*)p, (const attention_inputs*)in, (const attention_outputs*)out, saved, workspace);
}
static attn_status attention_backward_any(attn_context* c, const attn_tensor* p, const attn_tensor* in,
                                    const attn_tensor* out, const void* saved, const attn_tensor* cot,
                                    const attn_tensor* dp, const attn_tensor* din, void* workspace) {
  return attention_backward(c, (const attention_params*)p, (const attention_inputs*)in, (const attention_outputs*)out, saved,
                      (const attention_outputs*)cot, (const attention_params*)dp, (const attention_inputs*)din, workspace);
}
static int64_t attention_step_workspace_any(const attn_tensor* p) {
  return attention_step_workspace((const attention_params*)p);
}
static attn_status attention_step_any(attn_context* c, const double* options, int64_t step,
    const attn_tensor* p, const attn_tensor* dp, const attn_tensor* states, void* workspace) {
  return attention_step(c, (const attention_options*)options, step, (const attention_params*)p,
      (const attention_params*)dp, (const attention_states*)states, workspace);
}
const attn_model* attention_model(void) {
  static const attn_model description = {
      ATTN_ABI_VERSION, "attention", 17969462981063585247u, 4, 2, 2, 2,
      attention_params_table, attention_inputs_table, attention_outputs_table, attention_size_names, 1,
      attention_sizes_read, attention_shapes, attention_sizes_any, attention_forward_any, attention_backward_any, 0, 0,
      5, 2, attention_step_options, attention_step_states, attention_step_workspace_any, attention_step_any,
      0, 0};
  return &description;
}
