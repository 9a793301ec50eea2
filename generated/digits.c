/* digits.c - the tables of digits.attn, written by attnc in the words of attn/tables.h.
 * Compile it with the runtime's headers; digits.a holds it compiled. */
#include "digits.h"

#include <attn/tables.h>

static const attn_target targets[] = {
  {"x86-64-v2", ATTN_CPU, 0, {0x900000, 0x0, 0x0, 0x0, 0x0, 0x0}},
  {"x86-64-v3", ATTN_CPU, 0, {0x38901000, 0x128, 0x0, 0x0, 0x20, 0x6}},
  {"x86-64-v4", ATTN_CPU, 0, {0x38901000, 0xd0030128, 0x0, 0x0, 0x20, 0xe6}},
};
#define CODE(k) int k##_v2_argv(void**), k##_v3_argv(void**), k##_v4_argv(void**); static const attn_kernel_code k[] = {k##_v2_argv, k##_v3_argv, k##_v4_argv};
CODE(digits_forward_0_label_least) CODE(digits_forward_1_reader_x) CODE(digits_forward_2_reader_layers_0_n1) CODE(digits_forward_3_reader_layers_0_attn_q)
CODE(digits_forward_6_reader_layers_0_attn_s) CODE(digits_forward_7_reader_layers_0_attn_p_lse) CODE(digits_forward_8_reader_layers_0_attn_z)
CODE(digits_forward_9_reader_layers_0_r) CODE(digits_forward_10_reader_layers_0_norm2_mu) CODE(digits_forward_11_reader_layers_0_ffn_h) CODE(digits_forward_12_reader_layers_0_x)
CODE(digits_forward_25_reader_k) CODE(digits_forward_27_look_sum) CODE(digits_forward_28_look_lse) CODE(digits_forward_29_reader_z) CODE(digits_forward_30_logit)
CODE(digits_forward_31_loss_lse) CODE(digits_forward_32_loss) CODE(digits_backward_0_reader_layers_1_attn_p) CODE(digits_backward_1_dlogit_total) CODE(digits_backward_2_dreader_wo)
CODE(digits_backward_3_look) CODE(digits_backward_4_dlook) CODE(digits_backward_5_dreader_bias) CODE(digits_backward_6_dlook_lse) CODE(digits_backward_7_dreader_query)
CODE(digits_backward_8_dreader_k) CODE(digits_backward_9_dreader_v) CODE(digits_backward_10_dreader_wk) CODE(digits_backward_12_dreader_h)
CODE(digits_backward_14_dreader_layers_1_x) CODE(digits_backward_15_dreader_layers_1_ffn_h) CODE(digits_backward_16_dreader_layers_1_ffn_h_sum)
CODE(digits_backward_17_dreader_layers_1_ffn_w1) CODE(digits_backward_18_dreader_layers_1_ffn_b1) CODE(digits_backward_19_dreader_layers_1_n2)
CODE(digits_backward_20_dreader_layers_1_r) CODE(digits_backward_21_dreader_layers_1_attn_wo) CODE(digits_backward_22_dreader_layers_1_attn_z)
CODE(digits_backward_23_dreader_layers_1_attn_v) CODE(digits_backward_25_dreader_layers_1_attn_bv) CODE(digits_backward_26_dreader_layers_1_attn_p)
CODE(digits_backward_27_dreader_layers_1_attn_p_lse) CODE(digits_backward_28_dreader_layers_1_attn_k) CODE(digits_backward_29_dreader_layers_1_attn_q)
CODE(digits_backward_30_dreader_layers_1_n1) CODE(digits_backward_31_reader_layers_0_norm1_mu) CODE(digits_backward_33_dreader_layers_0_ffn_w2) CODE(digits_backward_55_dreader_x)
CODE(digits_backward_56_dreader_patch) CODE(digits_backward_57_dreader_place) CODE(digits_backward_58_dimage_1) CODE(digits_backward_59_dimage)
CODE(digits_norm_f32_forward_0_square_part) CODE(digits_norm_f32_forward_1_square) CODE(digits_step_f32_forward_0_m_next) CODE(digits_read_forward_10_reader_layers_0_ffn_h)
CODE(digits_read_forward_27_look) CODE(digits_read_forward_28_reader_z)

/* ---- digits */

static const attn_function digits_forward_function = {
  ATTN_FORWARD, "forward", .reads_saved = 1, .n_checks = 1, ROWS(attn_local, workspace, {I32, 0, 0}, {I32, 0, 0}),
  ROWS(attn_life, lives, {W(0), 0, 0, -1, 0, 0, 0}, {W(1), 0, 0, -1, 0, 0, 0}, {S(0), 1, 9, -1, 1, 0, 0}, {S(1), 2, 5, -1, 1, 0, 0}, {S(2), 3, 6, -1, 1, 0, 0},
    {S(3), 4, 6, -1, 1, 0, 0}, {S(4), 5, 8, -1, 1, 0, 0}, {S(5), 6, 8, -1, 1, 0, 0}, {S(6), 7, 8, -1, 1, 0, 0}, {S(7), 8, 9, -1, 1, 0, 0}, {S(8), 9, 12, 2, 1, 0, 0},
    {S(9), 10, 11, -1, 1, 0, 0}, {S(32), 10, 11, -1, 1, 0, 0}, {S(10), 11, 11, -1, 0, 0, 0}, {S(11), 11, 12, -1, 1, 0, 0}, {S(12), 12, 20, 10, 1, 0, 0},
    {S(13), 13, 16, -1, 1, 0, 0}, {S(14), 14, 17, -1, 1, 0, 0}, {S(15), 15, 17, -1, 1, 0, 0}, {S(16), 16, 19, -1, 1, 0, 0}, {S(17), 17, 19, -1, 1, 0, 0},
    {S(18), 18, 19, -1, 1, 0, 0}, {S(19), 19, 20, -1, 1, 0, 0}, {S(20), 20, 23, 15, 1, 0, 0}, {S(21), 21, 22, -1, 1, 0, 0}, {S(33), 21, 22, -1, 1, 0, 0},
    {S(22), 22, 22, -1, 0, 0, 0}, {S(23), 22, 23, -1, 1, 0, 0}, {S(24), 23, 24, 23, 1, 0, 0}, {S(25), 24, 26, 28, 1, 0, 0}, {S(26), 25, 27, -1, 1, 0, 0},
    {S(27), 26, 29, -1, 1, 0, 0}, {S(28), 27, 29, -1, 1, 0, 0}, {S(29), 28, 29, -1, 1, 0, 0}, {S(30), 29, 30, -1, 1, 0, 0}, {O(1), 30, 32, -1, 0, 0, 0},
    {S(31), 31, 32, -1, 1, 0, 0}, {O(0), 32, 32, -1, 0, 0, 0}),
  ROWS(attn_data_check, data_checks, {W(0), W(1), 10, "label", "logit", 0}),
  ROWS(attn_kernel, kernels,
    KERNEL("row label.least label.greatest", digits_forward_0_label_least, 0, 2, I(1), V(0), W(0), W(1)),
    KERNEL("contraction reader.x", digits_forward_1_reader_x, 1, 1, I(0), P(0), P(1), V(0), S(0)),
    KERNEL("row reader.layers.0.n1", digits_forward_2_reader_layers_0_n1, 2, 1, P(2), P(3), S(0), V(0), S(1)),
    KERNEL("contraction reader.layers.0.attn.q", digits_forward_3_reader_layers_0_attn_q, 3, 1, P(4), P(5), S(1), V(0), S(2)),
    KERNEL("contraction reader.layers.0.attn.k", digits_forward_3_reader_layers_0_attn_q, 3, 1, P(6), P(7), S(1), V(0), S(3)),
    KERNEL("contraction reader.layers.0.attn.v", digits_forward_3_reader_layers_0_attn_q, 3, 1, P(8), P(9), S(1), V(0), S(4)),
    KERNEL("contraction reader.layers.0.attn.s", digits_forward_6_reader_layers_0_attn_s, 4, 1, S(2), S(3), V(0), S(5)),
    KERNEL("row reader.layers.0.attn.p.lse", digits_forward_7_reader_layers_0_attn_p_lse, 5, 1, S(5), V(0), S(6)),
    KERNEL("contraction reader.layers.0.attn.z", digits_forward_8_reader_layers_0_attn_z, 6, 1, S(4), S(5), S(6), V(0), S(7)),
    KERNEL("contraction reader.layers.0.r", digits_forward_9_reader_layers_0_r, 7, 1, P(10), P(11), S(0), S(7), V(0), S(8)),
    KERNEL("row reader.layers.0.norm2.mu reader.layers.0.n2.u", digits_forward_10_reader_layers_0_norm2_mu, 8, 2, S(8), V(0), S(9), S(32)),
    KERNEL("contraction reader.layers.0.ffn.h reader.layers.0.ffn.h.sum", digits_forward_11_reader_layers_0_ffn_h, 9, 2, P(12), P(13), P(14), P(15), S(8), S(9), S(32), V(0), S(11), S(10)),
    KERNEL("contraction reader.layers.0.x", digits_forward_12_reader_layers_0_x, 10, 1, P(16), P(17), S(8), S(11), V(0), S(12)),
    KERNEL("row reader.layers.1.n1", digits_forward_2_reader_layers_0_n1, 2, 1, P(18), P(19), S(12), V(0), S(13)),
    KERNEL("contraction reader.layers.1.attn.q", digits_forward_3_reader_layers_0_attn_q, 3, 1, P(20), P(21), S(13), V(0), S(14)),
    KERNEL("contraction reader.layers.1.attn.k", digits_forward_3_reader_layers_0_attn_q, 3, 1, P(22), P(23), S(13), V(0), S(15)),
    KERNEL("contraction reader.layers.1.attn.v", digits_forward_3_reader_layers_0_attn_q, 3, 1, P(24), P(25), S(13), V(0), S(16)),
    KERNEL("contraction reader.layers.1.attn.s", digits_forward_6_reader_layers_0_attn_s, 4, 1, S(14), S(15), V(0), S(17)),
    KERNEL("row reader.layers.1.attn.p.lse", digits_forward_7_reader_layers_0_attn_p_lse, 5, 1, S(17), V(0), S(18)),
    KERNEL("contraction reader.layers.1.attn.z", digits_forward_8_reader_layers_0_attn_z, 6, 1, S(16), S(17), S(18), V(0), S(19)),
    KERNEL("contraction reader.layers.1.r", digits_forward_9_reader_layers_0_r, 7, 1, P(26), P(27), S(12), S(19), V(0), S(20)),
    KERNEL("row reader.layers.1.norm2.mu reader.layers.1.n2.u", digits_forward_10_reader_layers_0_norm2_mu, 8, 2, S(20), V(0), S(21), S(33)),
    KERNEL("contraction reader.layers.1.ffn.h reader.layers.1.ffn.h.sum", digits_forward_11_reader_layers_0_ffn_h, 9, 2, P(28), P(29), P(30), P(31), S(20), S(21), S(33), V(0), S(23), S(22)),
    KERNEL("contraction reader.layers.1.x", digits_forward_12_reader_layers_0_x, 10, 1, P(32), P(33), S(20), S(23), V(0), S(24)),
    KERNEL("row reader.h", digits_forward_2_reader_layers_0_n1, 2, 1, P(34), P(35), S(24), V(0), S(25)),
    KERNEL("contraction reader.k", digits_forward_25_reader_k, 11, 1, P(37), S(25), V(0), S(26)),
    KERNEL("contraction reader.v", digits_forward_25_reader_k, 11, 1, P(38), S(25), V(0), S(27)),
    KERNEL("contraction look.sum", digits_forward_27_look_sum, 12, 1, P(36), S(26), V(0), S(28)),
    KERNEL("row look.lse", digits_forward_28_look_lse, 13, 1, S(28), V(0), S(29)),
    KERNEL("contraction reader.z", digits_forward_29_reader_z, 14, 1, S(27), S(28), S(29), V(0), S(30)),
    KERNEL("contraction logit", digits_forward_30_logit, 15, 1, P(39), P(40), S(30), V(0), O(1)),
    KERNEL("row loss.lse", digits_forward_31_loss_lse, 16, 1, O(1), V(0), S(31)),
    KERNEL("row loss", digits_forward_32_loss, 17, 1, I(1), O(1), S(31), V(0), O(0))),
};
static const attn_function digits_backward_function = {
  ATTN_BACKWARD, "backward", .reads_saved = 1, .n_checks = 0,
  ROWS(attn_local, workspace, {F32, 1, 0}, {F32, 2, 0}, {F32, 3, 0}, {F32, 3, 0}, {F32, 4, 0}, {F32, 5, 0}, {F32, 5, 0}, {F32, 6, 0}, {F32, 7, 0}, {F32, 7, 0}, {F32, 6, 0},
    {F32, 8, 0}, {F32, 8, 0}, {F32, 6, 0}, {F32, 6, 0}, {F32, 5, 0}, {F32, 5, 0}, {F32, 1, 0}, {F32, 9, 0}, {F32, 5, 0}, {F32, 5, 0}, {F32, 6, 0}, {F32, 7, 0}, {F32, 7, 0},
    {F32, 7, 0}, {F32, 7, 0}, {F32, 6, 0}, {F32, 8, 0}, {F32, 8, 0}, {F32, 6, 0}, {F32, 6, 0}, {F32, 5, 0}, {F32, 1, 0}, {F32, 5, 0}, {F32, 1, 0}, {F32, 9, 0}, {F32, 5, 0},
    {F32, 5, 0}, {F32, 6, 0}, {F32, 6, 0}, {F32, 10, 0}),
  ROWS(attn_life, lives, {GO(0), 0, 2, -1, 1, 0, 0}, {GO(1), 0, 2, -1, 1, 0, 0}, {S(17), 1, 1, -1, 0, 0, 0}, {S(18), 1, 1, -1, 0, 0, 0}, {W(0), 1, 30, 2, 0, 0, 0},
    {S(31), 2, 2, -1, 0, 0, 0}, {W(1), 2, 10, -1, 0, 0, 0}, {S(30), 3, 3, -1, 0, 0, 0}, {WP(39), 3, 3, -1, 0, 0, 0}, {S(28), 4, 4, -1, 0, 0, 0}, {S(29), 4, 4, -1, 0, 0, 0},
    {W(2), 4, 10, 9, 0, 0, 0}, {S(27), 5, 5, -1, 0, 0, 0}, {W(3), 5, 9, -1, 0, 0, 0}, {WP(40), 6, 6, -1, 0, 0, 0}, {W(4), 7, 9, -1, 0, 0, 0}, {S(26), 8, 8, -1, 0, 0, 0},
    {WP(36), 8, 8, -1, 0, 0, 0}, {W(5), 9, 13, -1, 0, 0, 0}, {W(6), 10, 13, -1, 0, 0, 0}, {WP(37), 11, 11, -1, 0, 0, 0}, {S(25), 11, 12, -1, 0, 0, 0},
    {WP(38), 12, 12, -1, 0, 0, 0}, {W(7), 13, 15, -1, 0, 0, 0}, {S(24), 14, 15, -1, 0, 0, 0}, {W(8), 14, 15, -1, 0, 0, 0}, {W(9), 14, 15, -1, 0, 0, 0},
    {WP(33), 15, 15, -1, 1, 0, 0}, {WP(34), 15, 15, -1, 1, 0, 0}, {WP(35), 15, 15, -1, 1, 0, 0}, {W(10), 15, 65, -1, 0, 0, 0}, {W(11), 16, 17, -1, 0, 0, 0},
    {S(22), 17, 17, -1, 0, 0, 0}, {W(12), 17, 20, 31, 0, 0, 0}, {WP(30), 18, 18, -1, 0, 0, 0}, {S(20), 18, 21, -1, 0, 0, 0}, {S(21), 18, 21, -1, 0, 0, 0},
    {S(33), 18, 21, -1, 0, 0, 0}, {WP(31), 19, 19, -1, 0, 0, 0}, {W(13), 20, 21, -1, 0, 0, 0}, {WP(27), 21, 21, -1, 1, 0, 0}, {WP(28), 21, 21, -1, 1, 0, 0},
    {WP(29), 21, 21, -1, 1, 0, 0}, {W(14), 21, 33, -1, 0, 0, 0}, {S(19), 22, 22, -1, 0, 0, 0}, {WP(26), 22, 22, -1, 0, 0, 0}, {W(15), 23, 27, -1, 0, 0, 0},
    {W(16), 24, 31, -1, 0, 0, 0}, {WP(24), 25, 25, -1, 0, 0, 0}, {S(13), 25, 37, -1, 0, 0, 0}, {WP(25), 26, 26, -1, 0, 0, 0}, {S(16), 27, 27, -1, 0, 0, 0},
    {W(17), 27, 30, -1, 0, 0, 0}, {W(18), 28, 30, -1, 0, 0, 0}, {S(14), 29, 29, -1, 0, 0, 0}, {W(19), 29, 38, -1, 0, 0, 0}, {S(15), 30, 30, -1, 0, 0, 0},
    {W(20), 30, 36, -1, 0, 0, 0}, {W(21), 31, 33, -1, 0, 0, 0}, {S(12), 32, 33, -1, 0, 0, 0}, {W(22), 32, 33, -1, 0, 0, 0}, {W(23), 32, 33, -1, 0, 0, 0},
    {S(0), 32, 56, -1, 0, 0, 0}, {W(24), 32, 56, -1, 0, 0, 0}, {W(25), 32, 56, -1, 0, 0, 0}, {WP(17), 33, 33, -1, 1, 0, 0}, {WP(18), 33, 33, -1, 1, 0, 0},
    {WP(19), 33, 33, -1, 1, 0, 0}, {W(26), 33, 44, -1, 0, 0, 0}, {S(11), 34, 34, -1, 0, 0, 0}, {WP(16), 34, 34, -1, 0, 0, 0}, {WP(20), 35, 35, -1, 0, 0, 0},
    {WP(21), 36, 36, -1, 0, 0, 0}, {WP(22), 37, 37, -1, 0, 0, 0}, {WP(23), 38, 38, -1, 0, 0, 0}, {W(27), 39, 40, -1, 0, 0, 0}, {S(10), 40, 40, -1, 0, 0, 0},
    {W(28), 40, 43, 75, 0, 0, 0}, {WP(14), 41, 41, -1, 0, 0, 0}, {S(8), 41, 44, -1, 0, 0, 0}, {S(9), 41, 44, -1, 0, 0, 0}, {S(32), 41, 44, -1, 0, 0, 0},
    {WP(15), 42, 42, -1, 0, 0, 0}, {W(29), 43, 44, -1, 0, 0, 0}, {WP(11), 44, 44, -1, 1, 0, 0}, {WP(12), 44, 44, -1, 1, 0, 0}, {WP(13), 44, 44, -1, 1, 0, 0},
    {W(30), 44, 56, -1, 0, 0, 0}, {S(7), 45, 45, -1, 0, 0, 0}, {WP(10), 45, 45, -1, 0, 0, 0}, {W(31), 46, 51, -1, 0, 0, 0}, {S(5), 47, 47, -1, 0, 0, 0},
    {S(6), 47, 47, -1, 0, 0, 0}, {W(32), 47, 54, 91, 0, 0, 0}, {W(33), 48, 55, -1, 0, 0, 0}, {WP(8), 49, 49, -1, 0, 0, 0}, {S(1), 49, 63, -1, 0, 0, 0},
    {WP(9), 50, 50, -1, 0, 0, 0}, {S(4), 51, 51, -1, 0, 0, 0}, {W(34), 51, 54, -1, 0, 0, 0}, {W(35), 52, 54, -1, 0, 0, 0}, {S(2), 53, 53, -1, 0, 0, 0},
    {W(36), 53, 64, -1, 0, 0, 0}, {S(3), 54, 54, -1, 0, 0, 0}, {W(37), 54, 62, -1, 0, 0, 0}, {W(38), 55, 56, -1, 0, 0, 0}, {WP(2), 56, 56, -1, 1, 0, 0},
    {WP(3), 56, 56, -1, 1, 0, 0}, {W(39), 56, 59, -1, 0, 0, 0}, {WP(0), 57, 57, -1, 0, 0, 0}, {WP(1), 58, 58, -1, 0, 0, 0}, {W(40), 59, 60, -1, 0, 0, 0},
    {WI(0), 60, 60, -1, 0, 0, 0}, {WP(4), 61, 61, -1, 0, 0, 0}, {WP(5), 62, 62, -1, 0, 0, 0}, {WP(6), 63, 63, -1, 0, 0, 0}, {WP(7), 64, 64, -1, 0, 0, 0},
    {S(23), 65, 65, -1, 0, 0, 0}, {WP(32), 65, 65, -1, 0, 0, 0}),
  ROWS(attn_kernel, kernels,
    KERNEL("loops reader.layers.1.attn.p", digits_backward_0_reader_layers_1_attn_p, 18, 1, S(17), S(18), V(0), W(0)),
    KERNEL("loops dlogit.total", digits_backward_1_dlogit_total, 19, 1, I(1), O(1), S(31), GO(0), GO(1), V(0), W(1)),
    KERNEL("contraction dreader.wo", digits_backward_2_dreader_wo, 13, 1, S(30), W(1), V(0), WP(39)),
    KERNEL("loops look", digits_backward_3_look, 20, 1, S(28), S(29), V(0), W(2)),
    KERNEL("contraction dlook", digits_backward_4_dlook, 21, 1, P(39), S(27), W(1), V(0), W(3)),
    KERNEL("row dreader.bias", digits_backward_5_dreader_bias, 16, 1, W(1), V(0), WP(40)),
    KERNEL("row dlook.lse", digits_backward_6_dlook_lse, 22, 1, W(2), W(3), V(0), W(4)),
    KERNEL("contraction dreader.query", digits_backward_7_dreader_query, 23, 1, S(26), W(2), W(3), W(4), V(0), WP(36)),
    KERNEL("contraction dreader.k", digits_backward_8_dreader_k, 24, 1, P(36), W(2), W(3), W(4), V(0), W(5)),
    KERNEL("contraction dreader.v", digits_backward_9_dreader_v, 21, 1, P(39), W(2), W(1), V(0), W(6)),
    KERNEL("contraction dreader.wk", digits_backward_10_dreader_wk, 11, 1, S(25), W(5), V(0), WP(37)),
    KERNEL("contraction dreader.wv", digits_backward_10_dreader_wk, 11, 1, S(25), W(6), V(0), WP(38)),
    KERNEL("contraction dreader.h", digits_backward_12_dreader_h, 25, 1, P(37), P(38), W(6), W(5), V(0), W(7)),
    KERNEL("row reader.norm.mu reader.h.u", digits_forward_10_reader_layers_0_norm2_mu, 8, 2, S(24), V(0), W(8), W(9)),
    KERNEL("row dreader.layers.1.x dreader.layers.1.ffn.b2 dreader.norm.gamma dreader.norm.beta", digits_backward_14_dreader_layers_1_x, 26, 4, P(34), S(24), W(8), W(9), W(7), V(0), W(10), WP(33), WP(34), WP(35)),
    KERNEL("contraction dreader.layers.1.ffn.h", digits_backward_15_dreader_layers_1_ffn_h, 27, 1, P(32), W(10), V(0), W(11)),
    KERNEL("loops dreader.layers.1.ffn.h.sum", digits_backward_16_dreader_layers_1_ffn_h_sum, 28, 1, P(31), S(22), W(11), V(0), W(12)),
    KERNEL("contraction dreader.layers.1.ffn.w1", digits_backward_17_dreader_layers_1_ffn_w1, 29, 1, P(28), P(29), S(20), S(21), S(33), W(12), V(0), WP(30)),
    KERNEL("row dreader.layers.1.ffn.b1", digits_backward_18_dreader_layers_1_ffn_b1, 30, 1, W(12), V(0), WP(31)),
    KERNEL("contraction dreader.layers.1.n2", digits_backward_19_dreader_layers_1_n2, 27, 1, P(30), W(12), V(0), W(13)),
    KERNEL("row dreader.layers.1.r dreader.layers.1.attn.bo dreader.layers.1.norm2.gamma dreader.layers.1.norm2.beta", digits_backward_20_dreader_layers_1_r, 31, 4, P(28), S(20), S(21), S(33), W(10), W(13), V(0), W(14), WP(27), WP(28), WP(29)),
    KERNEL("contraction dreader.layers.1.attn.wo", digits_backward_21_dreader_layers_1_attn_wo, 11, 1, S(19), W(14), V(0), WP(26)),
    KERNEL("contraction dreader.layers.1.attn.z", digits_backward_22_dreader_layers_1_attn_z, 11, 1, P(26), W(14), V(0), W(15)),
    KERNEL("contraction dreader.layers.1.attn.v", digits_backward_23_dreader_layers_1_attn_v, 32, 1, W(0), W(15), V(0), W(16)),
    KERNEL("contraction dreader.layers.1.attn.wv", digits_backward_10_dreader_wk, 11, 1, S(13), W(16), V(0), WP(24)),
    KERNEL("row dreader.layers.1.attn.bv", digits_backward_25_dreader_layers_1_attn_bv, 33, 1, W(16), V(0), WP(25)),
    KERNEL("contraction dreader.layers.1.attn.p", digits_backward_26_dreader_layers_1_attn_p, 32, 1, S(16), W(15), V(0), W(17)),
    KERNEL("row dreader.layers.1.attn.p.lse", digits_backward_27_dreader_layers_1_attn_p_lse, 34, 1, W(0), W(17), V(0), W(18)),
    KERNEL("contraction dreader.layers.1.attn.k", digits_backward_28_dreader_layers_1_attn_k, 35, 1, S(14), W(0), W(17), W(18), V(0), W(19)),
    KERNEL("contraction dreader.layers.1.attn.q", digits_backward_29_dreader_layers_1_attn_q, 35, 1, S(15), W(0), W(17), W(18), V(0), W(20)),
    KERNEL("contraction dreader.layers.1.n1", digits_backward_30_dreader_layers_1_n1, 36, 1, P(20), P(22), P(24), W(16), W(19), W(20), V(0), W(21)),
    KERNEL("row reader.layers.0.norm1.mu reader.layers.0.n1.u reader.layers.1.norm1.mu reader.layers.1.n1.u", digits_backward_31_reader_layers_0_norm1_mu, 37, 4, S(0), S(12), V(0), W(24), W(25), W(22), W(23)),
    KERNEL("row dreader.layers.0.x dreader.layers.0.ffn.b2 dreader.layers.1.norm1.gamma dreader.layers.1.norm1.beta", digits_backward_20_dreader_layers_1_r, 31, 4, P(18), S(12), W(22), W(23), W(14), W(21), V(0), W(26), WP(17), WP(18), WP(19)),
    KERNEL("contraction dreader.layers.0.ffn.w2", digits_backward_33_dreader_layers_0_ffn_w2, 27, 1, S(11), W(26), V(0), WP(16)),
    KERNEL("contraction dreader.layers.1.attn.wq", digits_backward_10_dreader_wk, 11, 1, S(13), W(20), V(0), WP(20)),
    KERNEL("row dreader.layers.1.attn.bq", digits_backward_25_dreader_layers_1_attn_bv, 33, 1, W(20), V(0), WP(21)),
    KERNEL("contraction dreader.layers.1.attn.wk", digits_backward_10_dreader_wk, 11, 1, S(13), W(19), V(0), WP(22)),
    KERNEL("row dreader.layers.1.attn.bk", digits_backward_25_dreader_layers_1_attn_bv, 33, 1, W(19), V(0), WP(23)),
    KERNEL("contraction dreader.layers.0.ffn.h", digits_backward_15_dreader_layers_1_ffn_h, 27, 1, P(16), W(26), V(0), W(27)),
    KERNEL("loops dreader.layers.0.ffn.h.sum", digits_backward_16_dreader_layers_1_ffn_h_sum, 28, 1, P(15), S(10), W(27), V(0), W(28)),
    KERNEL("contraction dreader.layers.0.ffn.w1", digits_backward_17_dreader_layers_1_ffn_w1, 29, 1, P(12), P(13), S(8), S(9), S(32), W(28), V(0), WP(14)),
    KERNEL("row dreader.layers.0.ffn.b1", digits_backward_18_dreader_layers_1_ffn_b1, 30, 1, W(28), V(0), WP(15)),
    KERNEL("contraction dreader.layers.0.n2", digits_backward_19_dreader_layers_1_n2, 27, 1, P(14), W(28), V(0), W(29)),
    KERNEL("row dreader.layers.0.r dreader.layers.0.attn.bo dreader.layers.0.norm2.gamma dreader.layers.0.norm2.beta", digits_backward_20_dreader_layers_1_r, 31, 4, P(12), S(8), S(9), S(32), W(26), W(29), V(0), W(30), WP(11), WP(12), WP(13)),
    KERNEL("contraction dreader.layers.0.attn.wo", digits_backward_21_dreader_layers_1_attn_wo, 11, 1, S(7), W(30), V(0), WP(10)),
    KERNEL("contraction dreader.layers.0.attn.z", digits_backward_22_dreader_layers_1_attn_z, 11, 1, P(10), W(30), V(0), W(31)),
    KERNEL("loops reader.layers.0.attn.p", digits_backward_0_reader_layers_1_attn_p, 18, 1, S(5), S(6), V(0), W(32)),
    KERNEL("contraction dreader.layers.0.attn.v", digits_backward_23_dreader_layers_1_attn_v, 32, 1, W(32), W(31), V(0), W(33)),
    KERNEL("contraction dreader.layers.0.attn.wv", digits_backward_10_dreader_wk, 11, 1, S(1), W(33), V(0), WP(8)),
    KERNEL("row dreader.layers.0.attn.bv", digits_backward_25_dreader_layers_1_attn_bv, 33, 1, W(33), V(0), WP(9)),
    KERNEL("contraction dreader.layers.0.attn.p", digits_backward_26_dreader_layers_1_attn_p, 32, 1, S(4), W(31), V(0), W(34)),
    KERNEL("row dreader.layers.0.attn.p.lse", digits_backward_27_dreader_layers_1_attn_p_lse, 34, 1, W(32), W(34), V(0), W(35)),
    KERNEL("contraction dreader.layers.0.attn.k", digits_backward_28_dreader_layers_1_attn_k, 35, 1, S(2), W(32), W(34), W(35), V(0), W(36)),
    KERNEL("contraction dreader.layers.0.attn.q", digits_backward_29_dreader_layers_1_attn_q, 35, 1, S(3), W(32), W(34), W(35), V(0), W(37)),
    KERNEL("contraction dreader.layers.0.n1", digits_backward_30_dreader_layers_1_n1, 36, 1, P(4), P(6), P(8), W(33), W(36), W(37), V(0), W(38)),
    KERNEL("row dreader.x dreader.layers.0.norm1.gamma dreader.layers.0.norm1.beta", digits_backward_55_dreader_x, 26, 3, P(2), S(0), W(24), W(25), W(30), W(38), V(0), W(39), WP(2), WP(3)),
    KERNEL("contraction dreader.patch", digits_backward_56_dreader_patch, 38, 1, I(0), W(39), V(0), WP(0)),
    KERNEL("row dreader.place", digits_backward_57_dreader_place, 33, 1, W(39), V(0), WP(1)),
    KERNEL("contraction dimage.1", digits_backward_58_dimage_1, 39, 1, P(0), W(39), V(0), W(40)),
    KERNEL("loops dimage", digits_backward_59_dimage, 40, 1, W(40), V(0), WI(0)),
    KERNEL("contraction dreader.layers.0.attn.wq", digits_backward_10_dreader_wk, 11, 1, S(1), W(37), V(0), WP(4)),
    KERNEL("row dreader.layers.0.attn.bq", digits_backward_25_dreader_layers_1_attn_bv, 33, 1, W(37), V(0), WP(5)),
    KERNEL("contraction dreader.layers.0.attn.wk", digits_backward_10_dreader_wk, 11, 1, S(1), W(36), V(0), WP(6)),
    KERNEL("row dreader.layers.0.attn.bk", digits_backward_25_dreader_layers_1_attn_bv, 33, 1, W(36), V(0), WP(7)),
    KERNEL("contraction dreader.layers.1.ffn.w2", digits_backward_33_dreader_layers_0_ffn_w2, 27, 1, S(23), W(10), V(0), WP(32))),
};
static const attn_function digits_step_f32_forward_function = {
  ATTN_FORWARD, "forward", .reads_saved = 0, .n_checks = 0,
  ROWS(attn_kernel, kernels,
    KERNEL("row m.next v.next w.next", digits_step_f32_forward_0_m_next, 0, 3, I(0), I(1), I(2), I(3), I(4), I(5), I(6), I(7), I(8), I(9), P(0), V(0), V(1), O(1), O(2), O(0))),
};
static void digits_step_f32_operations(const int64_t* v, double* n) {
  n[0] = 47.0 * (double)v[0] + 15.0 * (double)v[0] * (double)v[1]; (void)v, (void)n;
}
static const attn_program digits_step_f32_program = {
  .forward = &digits_step_f32_forward_function, ROWS(attn_size_rule, size_rules, {0, ATTN_INPUTS, 0, 0, 0, 1, 1}, {1, ATTN_INPUTS, 0, 1, 0, 1, 1}),
  .size_bounds = (const attn_size_bound[]){{0, -1}, {0, -1}}, ROWS(attn_shape, shapes, SHAPE(V(0), V(1)), SCALAR),
  .n_values = 2, .n_operations = 1, .operations = digits_step_f32_operations, TARGETS,
};
static const attn_model digits_step_f32_description = {
  ATTN_ABI_VERSION, "digits_step_f32", 0u, .program = &digits_step_f32_program, .n_sizes = 2, .size_names = (const char* const[]){"Rows", "Columns"},
  ROWS(attn_argument, inputs, ARGUMENT("g", F32, 0, 0, 2, {"Rows", "Columns"}), ARGUMENT("m", F32, 0, 0, 2, {"Rows", "Columns"}),
    ARGUMENT("v", F32, 0, 0, 2, {"Rows", "Columns"}), ARGUMENT("lr", F64, 1, 0, 0, {0}), ARGUMENT("step", F64, 1, 0, 0, {0}), ARGUMENT("norm", F64, 1, 0, 0, {0}),
    ARGUMENT("beta1", F64, 1, 0, 0, {0}), ARGUMENT("beta2", F64, 1, 0, 0, {0}), ARGUMENT("eps", F64, 1, 0, 0, {0}), ARGUMENT("clip", F64, 1, 0, 0, {0})),
  ROWS(attn_argument, outputs, ARGUMENT("w.next", F32, 0, 0, 2, {"Rows", "Columns"}), ARGUMENT("m.next", F32, 0, 0, 2, {"Rows", "Columns"}),
    ARGUMENT("v.next", F32, 0, 0, 2, {"Rows", "Columns"})),
  ROWS(attn_argument, params, PARAM("w", F32, 0, 0, XAVIER, 0, 0, 0, 2, {"Rows", "Columns"})),
};
static const attn_function digits_norm_f32_forward_function = {
  ATTN_FORWARD, "forward", .reads_saved = 0, .n_checks = 0, ROWS(attn_local, workspace, {F64, 0, 0}), ROWS(attn_life, lives, {W(0), 1, 2, -1, 0, 0, 0}, {O(0), 2, 2, -1, 0, 0, 0}),
  ROWS(attn_kernel, kernels,
    KERNEL("row square.part", digits_norm_f32_forward_0_square_part, 0, 1, I(0), V(0), V(1), W(0)),
    KERNEL("row square", digits_norm_f32_forward_1_square, 1, 1, W(0), V(1), O(0))),
};
static void digits_norm_f32_operations(const int64_t* v, double* n) {
  n[0] = 2.0 * (double)v[0] * (double)v[1]; n[1] = 1.0 * (double)v[1]; (void)v, (void)n;
}
static const attn_program digits_norm_f32_program = {
  .forward = &digits_norm_f32_forward_function, ROWS(attn_size_rule, size_rules, {0, ATTN_INPUTS, 0, 0, 0, 1, 1}, {1, ATTN_INPUTS, 0, 1, 0, 1, 1}),
  .size_bounds = (const attn_size_bound[]){{0, -1}, {0, -1}}, ROWS(attn_shape, shapes, SHAPE(V(1)), SHAPE(V(0), V(1)), SCALAR),
  .n_values = 2, .n_operations = 2, .operations = digits_norm_f32_operations, TARGETS,
};
static const attn_model digits_norm_f32_description = {
  ATTN_ABI_VERSION, "digits_norm_f32", 0u, .program = &digits_norm_f32_program, .n_sizes = 2, .size_names = (const char* const[]){"Rows", "Columns"},
  ROWS(attn_argument, inputs, ARGUMENT("g", F32, 1, 0, 2, {"Rows", "Columns"})), ROWS(attn_argument, outputs, ARGUMENT("square", F64, 2, 0, 0, {0})),
};
static const attn_step_program digits_step_program = {
  ROWS(attn_update, updates, {F32, &digits_step_f32_description}), ROWS(attn_update, norms, {F32, &digits_norm_f32_description}),
  ROWS(int32_t, scalars, 0, ATTN_STEP_COUNT, ATTN_STEP_NORM, 1, 2, 3, 4), .columns = 2048,
};
static void digits_operations(const int64_t* v, double* n) {
  n[0] = 2.0 * (double)v[0]; n[1] = 5376.0 * (double)v[0]; n[2] = 7216.0 * (double)v[0]; n[3] = 33280.0 * (double)v[0]; n[4] = 19456.0 * (double)v[0]; n[5] = 1024.0 * (double)v[0];
  n[6] = 26624.0 * (double)v[0]; n[7] = 33792.0 * (double)v[0]; n[8] = 4656.0 * (double)v[0]; n[9] = 174592.0 * (double)v[0]; n[10] = 132096.0 * (double)v[0];
  n[11] = 32768.0 * (double)v[0]; n[12] = 12160.0 * (double)v[0]; n[13] = 640.0 * (double)v[0]; n[14] = 16640.0 * (double)v[0]; n[15] = 650.0 * (double)v[0];
  n[16] = 10.0 * (double)v[0]; n[17] = 6.0 * (double)v[0]; n[18] = 10240.0 * (double)v[0]; n[19] = 230.0 * (double)v[0]; n[20] = 6400.0 * (double)v[0];
  n[21] = 10880.0 * (double)v[0]; n[22] = 1920.0 * (double)v[0]; n[23] = 960.0 + 11520.0 * (double)v[0]; n[24] = 13056.0 * (double)v[0]; n[25] = 65536.0 * (double)v[0];
  n[26] = 14400.0 * (double)v[0]; n[27] = 131072.0 * (double)v[0]; n[28] = 75776.0 * (double)v[0]; n[29] = 133632.0 * (double)v[0]; n[30] = 2048.0 * (double)v[0];
  n[31] = 14912.0 * (double)v[0]; n[32] = 16384.0 * (double)v[0]; n[33] = 512.0 * (double)v[0]; n[34] = 3072.0 * (double)v[0]; n[35] = 19968.0 * (double)v[0];
  n[36] = 98304.0 * (double)v[0]; n[37] = 9312.0 * (double)v[0]; n[38] = 4864.0 * (double)v[0]; n[39] = 4096.0 * (double)v[0]; n[40] = 1152.0 * (double)v[0]; (void)v, (void)n;
}
static const attn_program digits_program = {
  .forward = &digits_forward_function, .backward = &digits_backward_function, .step = &digits_step_program,
  ROWS(attn_local, saved, {F32, 6, 0}, {F32, 6, 0}, {F32, 5, 0}, {F32, 5, 0}, {F32, 5, 0}, {F32, 1, 0}, {F32, 24, 0}, {F32, 5, 0}, {F32, 6, 0}, {F32, 7, 0}, {F32, 8, 0},
    {F32, 8, 0}, {F32, 6, 0}, {F32, 6, 0}, {F32, 5, 0}, {F32, 5, 0}, {F32, 5, 0}, {F32, 1, 0}, {F32, 24, 0}, {F32, 5, 0}, {F32, 6, 0}, {F32, 7, 0}, {F32, 8, 0}, {F32, 8, 0},
    {F32, 6, 0}, {F32, 6, 0}, {F32, 5, 0}, {F32, 5, 0}, {F32, 3, 0}, {F32, 25, 0}, {F32, 26, 0}, {F32, 27, 0}, {F32, 7, 0}, {F32, 7, 0}),
  ROWS(attn_size_rule, size_rules, {0, ATTN_INPUTS, 0, 0, 0, 1, 1}), .size_bounds = (const attn_size_bound[]){{0, -1}},
  ROWS(attn_shape, shapes, SCALAR, SHAPE(V(0), 4, 16, 16), SHAPE(V(0), 10), SHAPE(V(0), 10, 4, 16), SHAPE(V(0), 10, 4), SHAPE(V(0), 4, 16, 8), SHAPE(V(0), 16, 32),
    SHAPE(V(0), 16), SHAPE(V(0), 16, 128), SHAPE(V(0), 4, 16), SHAPE(V(0), 16, 2, 2), SHAPE(V(0), 8, 8), SHAPE(V(0)), SHAPE(32, 2, 2), SHAPE(16, 32), SHAPE(32), SHAPE(4, 8, 32),
    SHAPE(4, 8), SHAPE(32, 4, 8), SHAPE(128, 32), SHAPE(128), SHAPE(32, 128), SHAPE(10, 4, 8), SHAPE(10), SHAPE(2, V(0), 4, 16), SHAPE(2, V(0), 10, 4), SHAPE(V(0), 10, 4, 8),
    SHAPE(2, V(0))),
  .n_values = 1, .n_operations = 41, .operations = digits_operations, TARGETS,
};
static const attn_model digits_description = {
  ATTN_ABI_VERSION, "digits", 7656796628043083371u, .program = &digits_program, .has_backward = 1, .has_step = 1, .n_sizes = 1, .size_names = (const char* const[]){"B"},
  ROWS(attn_argument, inputs, ARGUMENT("image", F32, 11, 1, 3, {"B", "N", "N"}), ARGUMENT("label", I32, 12, 0, 1, {"B"})),
  ROWS(attn_argument, outputs, ARGUMENT("loss", F32, 0, 1, 0, {0}), ARGUMENT("logit", F32, 2, 1, 2, {"B", "C"})),
  ROWS(attn_argument, params, PARAM("reader.patch", F32, 13, 1, XAVIER, 0, 0, 6, 3, {"D", "P", "P"}), PARAM("reader.place", F32, 14, 1, NORMAL, 0, 0.7, 0, 2, {"T", "D"}),
    PARAM("reader.layers.0.norm1.gamma", F32, 15, 1, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.layers.0.norm1.beta", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.0.attn.wq", F32, 16, 1, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.0.attn.bq", F32, 17, 1, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.0.attn.wk", F32, 16, 1, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.0.attn.bk", F32, 17, 1, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.0.attn.wv", F32, 16, 1, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.0.attn.bv", F32, 17, 1, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.0.attn.wo", F32, 18, 1, XAVIER, 0, 0, 6, 3, {"D", "H", "8"}), PARAM("reader.layers.0.attn.bo", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.0.norm2.gamma", F32, 15, 1, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.layers.0.norm2.beta", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.0.ffn.w1", F32, 19, 1, XAVIER, 0, 0, 2, 2, {"4*D", "D"}), PARAM("reader.layers.0.ffn.b1", F32, 20, 1, ZEROS, 0, 0, 0, 1, {"4*D"}),
    PARAM("reader.layers.0.ffn.w2", F32, 21, 1, XAVIER, 0, 0, 2, 2, {"D", "4*D"}), PARAM("reader.layers.0.ffn.b2", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.1.norm1.gamma", F32, 15, 1, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.layers.1.norm1.beta", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.1.attn.wq", F32, 16, 1, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.1.attn.bq", F32, 17, 1, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.1.attn.wk", F32, 16, 1, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.1.attn.bk", F32, 17, 1, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.1.attn.wv", F32, 16, 1, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.1.attn.bv", F32, 17, 1, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.1.attn.wo", F32, 18, 1, XAVIER, 0, 0, 6, 3, {"D", "H", "8"}), PARAM("reader.layers.1.attn.bo", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.1.norm2.gamma", F32, 15, 1, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.layers.1.norm2.beta", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.1.ffn.w1", F32, 19, 1, XAVIER, 0, 0, 2, 2, {"4*D", "D"}), PARAM("reader.layers.1.ffn.b1", F32, 20, 1, ZEROS, 0, 0, 0, 1, {"4*D"}),
    PARAM("reader.layers.1.ffn.w2", F32, 21, 1, XAVIER, 0, 0, 2, 2, {"D", "4*D"}), PARAM("reader.layers.1.ffn.b2", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.norm.gamma", F32, 15, 1, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.norm.beta", F32, 15, 1, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.query", F32, 22, 1, NORMAL, 0, 1, 4, 3, {"C", "H", "E"}), PARAM("reader.wk", F32, 16, 1, XAVIER, 0, 0, 4, 3, {"H", "E", "D"}),
    PARAM("reader.wv", F32, 16, 1, XAVIER, 0, 0, 4, 3, {"H", "E", "D"}), PARAM("reader.wo", F32, 22, 1, XAVIER, 0, 0, 6, 3, {"C", "H", "E"}),
    PARAM("reader.bias", F32, 23, 1, ZEROS, 0, 0, 0, 1, {"C"})),
  ROWS(attn_step_option, step_options, {"lr", NAN}, {"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-08}, {"clip", 0}), ROWS(attn_step_state, step_states, {"m", 0}, {"v", 0}),
};
const char digits_archive_of_6a4267f73beaae6b = 0;
const attn_model* digits_model(void) { return &digits_description; }
attn_status digits_sizes(attn_context* context, const digits_params* params, const digits_inputs* inputs, attn_sizes* sizes) {
  return attn_call_sizes(context, &digits_description, (const attn_tensor*)params, (const attn_tensor*)inputs, sizes);
}
attn_status digits_forward(attn_context* context, const digits_params* params, const digits_inputs* inputs, const digits_outputs* outputs, attn_block saved,
    attn_block workspace) {
  return attn_forward(context, &digits_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)outputs, saved, workspace);
}
attn_status digits_backward(attn_context* context, const digits_params* params, const digits_inputs* inputs, const digits_outputs* outputs, attn_block saved,
    const digits_outputs* cotangents, const digits_params* param_gradients, const digits_inputs* input_gradients, attn_block workspace) {
  return attn_backward(context, &digits_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)outputs, saved, (const attn_tensor*)cotangents,
    (const attn_tensor*)param_gradients, (const attn_tensor*)input_gradients, workspace);
}
attn_status digits_forward_backward_workspace(attn_context* context, const digits_params* params, const digits_inputs* inputs, const digits_outputs* cotangents,
    const digits_params* param_gradients, const digits_inputs* input_gradients, int64_t* bytes) {
  return attn_forward_backward_workspace(context, &digits_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)cotangents,
    (const attn_tensor*)param_gradients, (const attn_tensor*)input_gradients, bytes);
}
attn_status digits_forward_backward(attn_context* context, const digits_params* params, const digits_inputs* inputs, const digits_outputs* outputs,
    const digits_outputs* cotangents, const digits_params* param_gradients, const digits_inputs* input_gradients, attn_block workspace) {
  return attn_forward_backward(context, &digits_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)outputs, (const attn_tensor*)cotangents,
    (const attn_tensor*)param_gradients, (const attn_tensor*)input_gradients, workspace);
}
int64_t digits_step_workspace(const digits_params* params) {
  return attn_step_workspace(&digits_description, (const attn_tensor*)params);
}
attn_status digits_step(attn_context* context, const digits_options* options, int64_t step, const digits_params* params, const digits_params* gradients,
    const digits_states* states, attn_block workspace) {
  return attn_step(context, &digits_description, (const double*)options, step, (const attn_tensor*)params, (const attn_tensor*)gradients, (const attn_tensor*)states, workspace);
}
digits_options digits_default_options(void) { return (digits_options){NAN, 0.9, 0.999, 1e-08, 0}; }

/* ---- digits_read */

static const attn_function digits_read_forward_function = {
  ATTN_FORWARD, "forward", .reads_saved = 0, .n_checks = 0,
  ROWS(attn_local, workspace, {F32, 0, 0}, {F32, 0, 0}, {F32, 1, 0}, {F32, 1, 0}, {F32, 1, 0}, {F32, 2, 0}, {F32, 3, 0}, {F32, 1, 0}, {F32, 0, 0}, {F32, 4, 0}, {F32, 4, 0},
    {F32, 5, 0}, {F32, 0, 0}, {F32, 0, 0}, {F32, 1, 0}, {F32, 1, 0}, {F32, 1, 0}, {F32, 2, 0}, {F32, 3, 0}, {F32, 1, 0}, {F32, 0, 0}, {F32, 4, 0}, {F32, 4, 0}, {F32, 5, 0},
    {F32, 0, 0}, {F32, 0, 0}, {F32, 1, 0}, {F32, 1, 0}, {F32, 6, 0}, {F32, 7, 0}),
  ROWS(attn_life, lives, {W(0), 1, 9, -1, 0, 0, 0}, {W(1), 2, 5, -1, 0, 0, 0}, {W(2), 3, 6, -1, 0, 0, 0}, {W(3), 4, 6, -1, 0, 0, 0}, {W(4), 5, 8, -1, 0, 0, 0},
    {W(5), 6, 8, -1, 0, 0, 0}, {W(6), 7, 8, -1, 0, 0, 0}, {W(7), 8, 9, -1, 0, 0, 0}, {W(8), 9, 12, 0, 0, 0, 0}, {W(9), 10, 11, -1, 0, 0, 0}, {W(10), 10, 11, -1, 0, 0, 0},
    {W(11), 11, 12, -1, 0, 0, 0}, {W(12), 12, 20, 8, 0, 0, 0}, {W(13), 13, 16, -1, 0, 0, 0}, {W(14), 14, 17, -1, 0, 0, 0}, {W(15), 15, 17, -1, 0, 0, 0},
    {W(16), 16, 19, -1, 0, 0, 0}, {W(17), 17, 19, -1, 0, 0, 0}, {W(18), 18, 19, -1, 0, 0, 0}, {W(19), 19, 20, -1, 0, 0, 0}, {W(20), 20, 23, 12, 0, 0, 0},
    {W(21), 21, 22, -1, 0, 0, 0}, {W(22), 21, 22, -1, 0, 0, 0}, {W(23), 22, 23, -1, 0, 0, 0}, {W(24), 23, 24, 20, 0, 0, 0}, {W(25), 24, 26, 24, 0, 0, 0},
    {W(26), 25, 27, -1, 0, 0, 0}, {W(27), 26, 29, -1, 0, 0, 0}, {W(28), 27, 28, -1, 0, 0, 0}, {O(1), 28, 29, 28, 0, 0, 0}, {W(29), 29, 30, -1, 0, 0, 0}, {O(0), 30, 30, -1, 0, 0, 0}),
  ROWS(attn_kernel, kernels,
    KERNEL("contraction reader.x", digits_forward_1_reader_x, 0, 1, I(0), P(0), P(1), V(0), W(0)),
    KERNEL("row reader.layers.0.n1", digits_forward_2_reader_layers_0_n1, 1, 1, P(2), P(3), W(0), V(0), W(1)),
    KERNEL("contraction reader.layers.0.attn.q", digits_forward_3_reader_layers_0_attn_q, 2, 1, P(4), P(5), W(1), V(0), W(2)),
    KERNEL("contraction reader.layers.0.attn.k", digits_forward_3_reader_layers_0_attn_q, 2, 1, P(6), P(7), W(1), V(0), W(3)),
    KERNEL("contraction reader.layers.0.attn.v", digits_forward_3_reader_layers_0_attn_q, 2, 1, P(8), P(9), W(1), V(0), W(4)),
    KERNEL("contraction reader.layers.0.attn.s", digits_forward_6_reader_layers_0_attn_s, 3, 1, W(2), W(3), V(0), W(5)),
    KERNEL("row reader.layers.0.attn.p.lse", digits_forward_7_reader_layers_0_attn_p_lse, 4, 1, W(5), V(0), W(6)),
    KERNEL("contraction reader.layers.0.attn.z", digits_forward_8_reader_layers_0_attn_z, 5, 1, W(4), W(5), W(6), V(0), W(7)),
    KERNEL("contraction reader.layers.0.r", digits_forward_9_reader_layers_0_r, 6, 1, P(10), P(11), W(0), W(7), V(0), W(8)),
    KERNEL("row reader.layers.0.norm2.mu reader.layers.0.n2.u", digits_forward_10_reader_layers_0_norm2_mu, 7, 2, W(8), V(0), W(9), W(10)),
    KERNEL("contraction reader.layers.0.ffn.h", digits_read_forward_10_reader_layers_0_ffn_h, 8, 1, P(12), P(13), P(14), P(15), W(8), W(9), W(10), V(0), W(11)),
    KERNEL("contraction reader.layers.0.x", digits_forward_12_reader_layers_0_x, 9, 1, P(16), P(17), W(8), W(11), V(0), W(12)),
    KERNEL("row reader.layers.1.n1", digits_forward_2_reader_layers_0_n1, 1, 1, P(18), P(19), W(12), V(0), W(13)),
    KERNEL("contraction reader.layers.1.attn.q", digits_forward_3_reader_layers_0_attn_q, 2, 1, P(20), P(21), W(13), V(0), W(14)),
    KERNEL("contraction reader.layers.1.attn.k", digits_forward_3_reader_layers_0_attn_q, 2, 1, P(22), P(23), W(13), V(0), W(15)),
    KERNEL("contraction reader.layers.1.attn.v", digits_forward_3_reader_layers_0_attn_q, 2, 1, P(24), P(25), W(13), V(0), W(16)),
    KERNEL("contraction reader.layers.1.attn.s", digits_forward_6_reader_layers_0_attn_s, 3, 1, W(14), W(15), V(0), W(17)),
    KERNEL("row reader.layers.1.attn.p.lse", digits_forward_7_reader_layers_0_attn_p_lse, 4, 1, W(17), V(0), W(18)),
    KERNEL("contraction reader.layers.1.attn.z", digits_forward_8_reader_layers_0_attn_z, 5, 1, W(16), W(17), W(18), V(0), W(19)),
    KERNEL("contraction reader.layers.1.r", digits_forward_9_reader_layers_0_r, 6, 1, P(26), P(27), W(12), W(19), V(0), W(20)),
    KERNEL("row reader.layers.1.norm2.mu reader.layers.1.n2.u", digits_forward_10_reader_layers_0_norm2_mu, 7, 2, W(20), V(0), W(21), W(22)),
    KERNEL("contraction reader.layers.1.ffn.h", digits_read_forward_10_reader_layers_0_ffn_h, 8, 1, P(28), P(29), P(30), P(31), W(20), W(21), W(22), V(0), W(23)),
    KERNEL("contraction reader.layers.1.x", digits_forward_12_reader_layers_0_x, 9, 1, P(32), P(33), W(20), W(23), V(0), W(24)),
    KERNEL("row reader.h", digits_forward_2_reader_layers_0_n1, 1, 1, P(34), P(35), W(24), V(0), W(25)),
    KERNEL("contraction reader.k", digits_forward_25_reader_k, 10, 1, P(37), W(25), V(0), W(26)),
    KERNEL("contraction reader.v", digits_forward_25_reader_k, 10, 1, P(38), W(25), V(0), W(27)),
    KERNEL("contraction look.sum", digits_forward_27_look_sum, 11, 1, P(36), W(26), V(0), W(28)),
    KERNEL("row look", digits_read_forward_27_look, 12, 1, W(28), V(0), O(1)),
    KERNEL("contraction reader.z", digits_read_forward_28_reader_z, 13, 1, W(27), O(1), V(0), W(29)),
    KERNEL("contraction logit", digits_forward_30_logit, 14, 1, P(39), P(40), W(29), V(0), O(0))),
};
static void digits_read_operations(const int64_t* v, double* n) {
  n[0] = 5376.0 * (double)v[0]; n[1] = 7216.0 * (double)v[0]; n[2] = 33280.0 * (double)v[0]; n[3] = 19456.0 * (double)v[0]; n[4] = 1024.0 * (double)v[0];
  n[5] = 26624.0 * (double)v[0]; n[6] = 33792.0 * (double)v[0]; n[7] = 4656.0 * (double)v[0]; n[8] = 174592.0 * (double)v[0]; n[9] = 132096.0 * (double)v[0];
  n[10] = 32768.0 * (double)v[0]; n[11] = 12160.0 * (double)v[0]; n[12] = 7040.0 * (double)v[0]; n[13] = 10240.0 * (double)v[0]; n[14] = 650.0 * (double)v[0]; (void)v, (void)n;
}
static const attn_program digits_read_program = {
  .forward = &digits_read_forward_function, ROWS(attn_size_rule, size_rules, {0, ATTN_INPUTS, 0, 0, 0, 1, 1}), .size_bounds = (const attn_size_bound[]){{0, -1}},
  ROWS(attn_shape, shapes, SHAPE(V(0), 16, 32), SHAPE(V(0), 4, 16, 8), SHAPE(V(0), 4, 16, 16), SHAPE(2, V(0), 4, 16), SHAPE(V(0), 16), SHAPE(V(0), 16, 128),
    SHAPE(V(0), 10, 4, 16), SHAPE(V(0), 10, 4, 8), SHAPE(V(0), 8, 8), SHAPE(V(0), 10), SHAPE(32, 2, 2), SHAPE(16, 32), SHAPE(32), SHAPE(4, 8, 32), SHAPE(4, 8), SHAPE(32, 4, 8),
    SHAPE(128, 32), SHAPE(128), SHAPE(32, 128), SHAPE(10, 4, 8), SHAPE(10)),
  .n_values = 1, .n_operations = 15, .operations = digits_read_operations, TARGETS,
};
static const attn_model digits_read_description = {
  ATTN_ABI_VERSION, "digits_read", 17002662306570079350u, .program = &digits_read_program, .n_sizes = 1, .size_names = (const char* const[]){"B"},
  ROWS(attn_argument, inputs, ARGUMENT("image", F32, 8, 0, 3, {"B", "N", "N"})),
  ROWS(attn_argument, outputs, ARGUMENT("logit", F32, 9, 0, 2, {"B", "C"}), ARGUMENT("look", F32, 6, 0, 4, {"B", "C", "H", "T"})),
  ROWS(attn_argument, params, PARAM("reader.patch", F32, 10, 0, XAVIER, 0, 0, 6, 3, {"D", "P", "P"}), PARAM("reader.place", F32, 11, 0, NORMAL, 0, 0.7, 0, 2, {"T", "D"}),
    PARAM("reader.layers.0.norm1.gamma", F32, 12, 0, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.layers.0.norm1.beta", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.0.attn.wq", F32, 13, 0, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.0.attn.bq", F32, 14, 0, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.0.attn.wk", F32, 13, 0, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.0.attn.bk", F32, 14, 0, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.0.attn.wv", F32, 13, 0, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.0.attn.bv", F32, 14, 0, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.0.attn.wo", F32, 15, 0, XAVIER, 0, 0, 6, 3, {"D", "H", "8"}), PARAM("reader.layers.0.attn.bo", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.0.norm2.gamma", F32, 12, 0, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.layers.0.norm2.beta", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.0.ffn.w1", F32, 16, 0, XAVIER, 0, 0, 2, 2, {"4*D", "D"}), PARAM("reader.layers.0.ffn.b1", F32, 17, 0, ZEROS, 0, 0, 0, 1, {"4*D"}),
    PARAM("reader.layers.0.ffn.w2", F32, 18, 0, XAVIER, 0, 0, 2, 2, {"D", "4*D"}), PARAM("reader.layers.0.ffn.b2", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.1.norm1.gamma", F32, 12, 0, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.layers.1.norm1.beta", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.1.attn.wq", F32, 13, 0, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.1.attn.bq", F32, 14, 0, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.1.attn.wk", F32, 13, 0, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.1.attn.bk", F32, 14, 0, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.1.attn.wv", F32, 13, 0, XAVIER, 0, 0, 4, 3, {"H", "8", "D"}), PARAM("reader.layers.1.attn.bv", F32, 14, 0, XAVIER, 0, 0, 0, 2, {"H", "8"}),
    PARAM("reader.layers.1.attn.wo", F32, 15, 0, XAVIER, 0, 0, 6, 3, {"D", "H", "8"}), PARAM("reader.layers.1.attn.bo", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.1.norm2.gamma", F32, 12, 0, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.layers.1.norm2.beta", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.layers.1.ffn.w1", F32, 16, 0, XAVIER, 0, 0, 2, 2, {"4*D", "D"}), PARAM("reader.layers.1.ffn.b1", F32, 17, 0, ZEROS, 0, 0, 0, 1, {"4*D"}),
    PARAM("reader.layers.1.ffn.w2", F32, 18, 0, XAVIER, 0, 0, 2, 2, {"D", "4*D"}), PARAM("reader.layers.1.ffn.b2", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.norm.gamma", F32, 12, 0, ONES, 0, 0, 0, 1, {"D"}), PARAM("reader.norm.beta", F32, 12, 0, ZEROS, 0, 0, 0, 1, {"D"}),
    PARAM("reader.query", F32, 19, 0, NORMAL, 0, 1, 4, 3, {"C", "H", "E"}), PARAM("reader.wk", F32, 13, 0, XAVIER, 0, 0, 4, 3, {"H", "E", "D"}),
    PARAM("reader.wv", F32, 13, 0, XAVIER, 0, 0, 4, 3, {"H", "E", "D"}), PARAM("reader.wo", F32, 19, 0, XAVIER, 0, 0, 6, 3, {"C", "H", "E"}),
    PARAM("reader.bias", F32, 20, 0, ZEROS, 0, 0, 0, 1, {"C"})),
};
const char digits_read_archive_of_ebf59748ab088c76 = 0;
const attn_model* digits_read_model(void) { return &digits_read_description; }
attn_status digits_read_sizes(attn_context* context, const digits_read_params* params, const digits_read_inputs* inputs, attn_sizes* sizes) {
  return attn_call_sizes(context, &digits_read_description, (const attn_tensor*)params, (const attn_tensor*)inputs, sizes);
}
attn_status digits_read_forward(attn_context* context, const digits_read_params* params, const digits_read_inputs* inputs, const digits_read_outputs* outputs, attn_block saved,
    attn_block workspace) {
  return attn_forward(context, &digits_read_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)outputs, saved, workspace);
}
