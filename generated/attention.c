/* attention.c - the tables of attention.attn, written by attnc in the words of attn/tables.h.
 * Compile it with the runtime's headers; attention.a holds it compiled. */
#include "attention.h"

#include <attn/tables.h>

static const attn_target targets[] = {
  {"x86-64-v2", ATTN_CPU, 0, {0x900000, 0x0, 0x0, 0x0, 0x0, 0x0}},
  {"x86-64-v3", ATTN_CPU, 0, {0x38901000, 0x128, 0x0, 0x0, 0x20, 0x6}},
  {"x86-64-v4", ATTN_CPU, 0, {0x38901000, 0xd0030128, 0x0, 0x0, 0x20, 0xe6}},
};
#define CODE(k) int k##_v2_argv(void**), k##_v3_argv(void**), k##_v4_argv(void**); static const attn_kernel_code k[] = {k##_v2_argv, k##_v3_argv, k##_v4_argv};
CODE(attention_forward_0_q) CODE(attention_forward_3_p_lse) CODE(attention_forward_3_p_lse_few) CODE(attention_forward_4_y) CODE(attention_forward_5_loss_part)
CODE(attention_forward_6_loss) CODE(attention_backward_0_dy_total) CODE(attention_backward_1_dwo) CODE(attention_backward_2_dz) CODE(attention_backward_3_dp_lse)
CODE(attention_backward_4_dv) CODE(attention_backward_5_dx) CODE(attention_backward_6_dwq) CODE(attention_backward_9_dwanted) CODE(attention_norm_f32_forward_0_square_part)
CODE(attention_norm_f32_forward_1_square) CODE(attention_step_f32_forward_0_m_next)

/* ---- attention */

static const attn_function attention_forward_function = {
  ATTN_FORWARD, "forward", .reads_saved = 1, .n_checks = 0, ROWS(attn_local, workspace, {F32, 0, 0}),
  ROWS(attn_life, lives, {S(0), 1, 4, -1, 1, 0, 0}, {S(1), 2, 4, -1, 1, 0, 0}, {S(2), 3, 4, -1, 1, 0, 0}, {S(3), 4, 4, -1, 1, 0, 0}, {S(4), 4, 5, -1, 1, 0, 0},
    {O(1), 5, 6, -1, 0, 0, 0}, {W(0), 6, 7, -1, 0, 0, 0}, {O(0), 7, 7, -1, 0, 0, 0}),
  ROWS(attn_kernel, kernels,
    KERNEL("contraction q", attention_forward_0_q, 0, 1, I(0), P(0), V(0), V(1), S(0)),
    KERNEL("contraction k", attention_forward_0_q, 0, 1, I(0), P(1), V(0), V(1), S(1)),
    KERNEL("contraction v", attention_forward_0_q, 0, 1, I(0), P(2), V(0), V(1), S(2)),
    KERNEL_OF_ROWS("streaming p.lse z", attention_forward_3_p_lse, attention_forward_3_p_lse_few, V(1), 4, 1, 2, S(0), S(1), S(2), V(0), V(1), S(3), S(4)),
    KERNEL("contraction y", attention_forward_4_y, 0, 1, P(3), S(4), V(0), V(1), O(1)),
    KERNEL("row loss.part", attention_forward_5_loss_part, 2, 1, I(1), O(1), V(0), V(1), W(0)),
    KERNEL("row loss", attention_forward_6_loss, 3, 1, W(0), O(0))),
};
static const attn_function attention_backward_function = {
  ATTN_BACKWARD, "backward", .reads_saved = 1, .n_checks = 0, ROWS(attn_local, workspace, {F32, 1, 0}, {F32, 2, 0}, {F32, 3, 0}, {F32, 2, 0}, {F32, 2, 0}, {F32, 2, 0}),
  ROWS(attn_life, lives, {GO(1), 0, 1, -1, 1, 0, 0}, {GO(0), 0, 10, -1, 1, 0, 0}, {W(0), 1, 3, -1, 0, 0, 0}, {WP(3), 2, 2, -1, 0, 0, 0}, {S(4), 2, 4, -1, 0, 0, 0},
    {W(1), 3, 5, -1, 0, 0, 0}, {W(2), 4, 5, -1, 0, 0, 0}, {S(0), 5, 5, -1, 0, 0, 0}, {S(1), 5, 5, -1, 0, 0, 0}, {S(2), 5, 5, -1, 0, 0, 0}, {S(3), 5, 5, -1, 0, 0, 0},
    {W(3), 5, 7, -1, 0, 0, 0}, {W(4), 5, 8, -1, 0, 0, 0}, {W(5), 5, 9, -1, 0, 0, 0}, {WI(0), 6, 6, -1, 0, 0, 0}, {WP(0), 7, 7, -1, 0, 0, 0}, {WP(1), 8, 8, -1, 0, 0, 0},
    {WP(2), 9, 9, -1, 0, 0, 0}, {WI(1), 10, 10, -1, 0, 0, 0}),
  ROWS(attn_kernel, kernels,
    KERNEL("loops dy.total", attention_backward_0_dy_total, 4, 1, I(1), O(1), GO(0), GO(1), V(0), V(1), W(0)),
    KERNEL("contraction dwo", attention_backward_1_dwo, 0, 1, S(4), W(0), V(0), V(1), WP(3)),
    KERNEL("contraction dz", attention_backward_2_dz, 0, 1, P(3), W(0), V(0), V(1), W(1)),
    KERNEL("row dp.lse", attention_backward_3_dp_lse, 5, 1, S(4), W(1), V(0), V(1), W(2)),
    KERNEL("tiles dv dk dq", attention_backward_4_dv, 6, 3, S(0), S(1), S(2), S(3), W(1), W(2), V(0), V(1), W(5), W(4), W(3)),
    KERNEL("contraction dx", attention_backward_5_dx, 7, 1, P(0), P(1), P(2), W(5), W(4), W(3), V(0), V(1), WI(0)),
    KERNEL("contraction dwq", attention_backward_6_dwq, 0, 1, I(0), W(3), V(0), V(1), WP(0)),
    KERNEL("contraction dwk", attention_backward_6_dwq, 0, 1, I(0), W(4), V(0), V(1), WP(1)),
    KERNEL("contraction dwv", attention_backward_6_dwq, 0, 1, I(0), W(5), V(0), V(1), WP(2)),
    KERNEL("loops dwanted", attention_backward_9_dwanted, 2, 1, I(1), O(1), GO(0), V(0), V(1), WI(1))),
};
static const attn_function attention_step_f32_forward_function = {
  ATTN_FORWARD, "forward", .reads_saved = 0, .n_checks = 0,
  ROWS(attn_kernel, kernels,
    KERNEL("row m.next v.next w.next", attention_step_f32_forward_0_m_next, 0, 3, I(0), I(1), I(2), I(3), I(4), I(5), I(6), I(7), I(8), I(9), P(0), V(0), V(1), O(1), O(2), O(0))),
};
static void attention_step_f32_operations(const int64_t* v, double* n) {
  n[0] = 47.0 * (double)v[0] + 15.0 * (double)v[0] * (double)v[1]; (void)v, (void)n;
}
static const attn_program attention_step_f32_program = {
  .forward = &attention_step_f32_forward_function, ROWS(attn_size_rule, size_rules, {0, ATTN_INPUTS, 0, 0, 0, 1, 1}, {1, ATTN_INPUTS, 0, 1, 0, 1, 1}),
  .size_bounds = (const attn_size_bound[]){{0, -1}, {0, -1}}, ROWS(attn_shape, shapes, SHAPE(V(0), V(1)), SCALAR),
  .n_values = 2, .n_operations = 1, .operations = attention_step_f32_operations, TARGETS,
};
static const attn_model attention_step_f32_description = {
  ATTN_ABI_VERSION, "attention_step_f32", 0u, .program = &attention_step_f32_program, .n_sizes = 2, .size_names = (const char* const[]){"Rows", "Columns"},
  ROWS(attn_argument, inputs, ARGUMENT("g", F32, 0, 0, 2, {"Rows", "Columns"}), ARGUMENT("m", F32, 0, 0, 2, {"Rows", "Columns"}),
    ARGUMENT("v", F32, 0, 0, 2, {"Rows", "Columns"}), ARGUMENT("lr", F64, 1, 0, 0, {0}), ARGUMENT("step", F64, 1, 0, 0, {0}), ARGUMENT("norm", F64, 1, 0, 0, {0}),
    ARGUMENT("beta1", F64, 1, 0, 0, {0}), ARGUMENT("beta2", F64, 1, 0, 0, {0}), ARGUMENT("eps", F64, 1, 0, 0, {0}), ARGUMENT("clip", F64, 1, 0, 0, {0})),
  ROWS(attn_argument, outputs, ARGUMENT("w.next", F32, 0, 0, 2, {"Rows", "Columns"}), ARGUMENT("m.next", F32, 0, 0, 2, {"Rows", "Columns"}),
    ARGUMENT("v.next", F32, 0, 0, 2, {"Rows", "Columns"})),
  ROWS(attn_argument, params, PARAM("w", F32, 0, 0, XAVIER, 0, 0, 0, 2, {"Rows", "Columns"})),
};
static const attn_function attention_norm_f32_forward_function = {
  ATTN_FORWARD, "forward", .reads_saved = 0, .n_checks = 0, ROWS(attn_local, workspace, {F64, 0, 0}), ROWS(attn_life, lives, {W(0), 1, 2, -1, 0, 0, 0}, {O(0), 2, 2, -1, 0, 0, 0}),
  ROWS(attn_kernel, kernels,
    KERNEL("row square.part", attention_norm_f32_forward_0_square_part, 0, 1, I(0), V(0), V(1), W(0)),
    KERNEL("row square", attention_norm_f32_forward_1_square, 1, 1, W(0), V(1), O(0))),
};
static void attention_norm_f32_operations(const int64_t* v, double* n) {
  n[0] = 2.0 * (double)v[0] * (double)v[1]; n[1] = 1.0 * (double)v[1]; (void)v, (void)n;
}
static const attn_program attention_norm_f32_program = {
  .forward = &attention_norm_f32_forward_function, ROWS(attn_size_rule, size_rules, {0, ATTN_INPUTS, 0, 0, 0, 1, 1}, {1, ATTN_INPUTS, 0, 1, 0, 1, 1}),
  .size_bounds = (const attn_size_bound[]){{0, -1}, {0, -1}}, ROWS(attn_shape, shapes, SHAPE(V(1)), SHAPE(V(0), V(1)), SCALAR),
  .n_values = 2, .n_operations = 2, .operations = attention_norm_f32_operations, TARGETS,
};
static const attn_model attention_norm_f32_description = {
  ATTN_ABI_VERSION, "attention_norm_f32", 0u, .program = &attention_norm_f32_program, .n_sizes = 2, .size_names = (const char* const[]){"Rows", "Columns"},
  ROWS(attn_argument, inputs, ARGUMENT("g", F32, 1, 0, 2, {"Rows", "Columns"})), ROWS(attn_argument, outputs, ARGUMENT("square", F64, 2, 0, 0, {0})),
};
static const attn_step_program attention_step_program = {
  ROWS(attn_update, updates, {F32, &attention_step_f32_description}), ROWS(attn_update, norms, {F32, &attention_norm_f32_description}),
  ROWS(int32_t, scalars, 0, ATTN_STEP_COUNT, ATTN_STEP_NORM, 1, 2, 3, 4), .columns = 2048,
};
static void attention_operations(const int64_t* v, double* n) {
  n[0] = 131072.0 * (double)v[0] * (double)v[1]; n[1] = 1120.0 * (double)v[0] * (double)v[1] * (double)v[1]; n[2] = 1792.0 * (double)v[0] * (double)v[1]; n[3] = 256.0;
  n[4] = 2048.0 * (double)v[0] * (double)v[1]; n[5] = 768.0 * (double)v[0] * (double)v[1]; n[6] = 2680.0 * (double)v[0] * (double)v[1] * (double)v[1];
  n[7] = 393216.0 * (double)v[0] * (double)v[1]; (void)v, (void)n;
}
static const attn_program attention_program = {
  .forward = &attention_forward_function, .backward = &attention_backward_function, .step = &attention_step_program,
  ROWS(attn_local, saved, {F32, 2, 0}, {F32, 2, 0}, {F32, 2, 0}, {F32, 7, 0}, {F32, 2, 0}),
  ROWS(attn_size_rule, size_rules, {0, ATTN_INPUTS, 0, 0, 0, 1, 1}, {1, ATTN_INPUTS, 0, 1, 0, 1, 1}), .size_bounds = (const attn_size_bound[]){{0, -1}, {0, -1}},
  ROWS(attn_shape, shapes, SHAPE(256), SHAPE(V(0), V(1), 256), SHAPE(V(0), 8, V(1), 32), SHAPE(V(0), 8, V(1)), SCALAR, SHAPE(8, 32, 256), SHAPE(256, 8, 32),
    SHAPE(2, V(0), 8, V(1))),
  .n_values = 2, .n_operations = 8, .operations = attention_operations, TARGETS,
};
static const attn_model attention_description = {
  ATTN_ABI_VERSION, "attention", 15364148903207724491u, .program = &attention_program, .has_backward = 1, .has_step = 1,
  .n_sizes = 2, .size_names = (const char* const[]){"B", "T"},
  ROWS(attn_argument, inputs, ARGUMENT("x", F32, 1, 1, 3, {"B", "T", "D"}), ARGUMENT("wanted", F32, 1, 1, 3, {"B", "T", "D"})),
  ROWS(attn_argument, outputs, ARGUMENT("loss", F32, 4, 1, 0, {0}), ARGUMENT("y", F32, 1, 1, 3, {"B", "T", "D"})),
  ROWS(attn_argument, params, PARAM("wq", F32, 5, 1, XAVIER, 0, 0, 4, 3, {"H", "E", "D"}), PARAM("wk", F32, 5, 1, XAVIER, 0, 0, 4, 3, {"H", "E", "D"}),
    PARAM("wv", F32, 5, 1, XAVIER, 0, 0, 4, 3, {"H", "E", "D"}), PARAM("wo", F32, 6, 1, XAVIER, 0, 0, 6, 3, {"D", "H", "E"})),
  ROWS(attn_step_option, step_options, {"lr", NAN}, {"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-08}, {"clip", 0}), ROWS(attn_step_state, step_states, {"m", 0}, {"v", 0}),
};
const char attention_archive_of_d5386c0653e765cb = 0;
const attn_model* attention_model(void) { return &attention_description; }
attn_status attention_sizes(attn_context* context, const attention_params* params, const attention_inputs* inputs, attn_sizes* sizes) {
  return attn_call_sizes(context, &attention_description, (const attn_tensor*)params, (const attn_tensor*)inputs, sizes);
}
attn_status attention_forward(attn_context* context, const attention_params* params, const attention_inputs* inputs, const attention_outputs* outputs, attn_block saved,
    attn_block workspace) {
  return attn_forward(context, &attention_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)outputs, saved, workspace);
}
attn_status attention_backward(attn_context* context, const attention_params* params, const attention_inputs* inputs, const attention_outputs* outputs, attn_block saved,
    const attention_outputs* cotangents, const attention_params* param_gradients, const attention_inputs* input_gradients, attn_block workspace) {
  return attn_backward(context, &attention_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)outputs, saved, (const attn_tensor*)cotangents,
    (const attn_tensor*)param_gradients, (const attn_tensor*)input_gradients, workspace);
}
attn_status attention_forward_backward_workspace(attn_context* context, const attention_params* params, const attention_inputs* inputs, const attention_outputs* cotangents,
    const attention_params* param_gradients, const attention_inputs* input_gradients, int64_t* bytes) {
  return attn_forward_backward_workspace(context, &attention_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)cotangents,
    (const attn_tensor*)param_gradients, (const attn_tensor*)input_gradients, bytes);
}
attn_status attention_forward_backward(attn_context* context, const attention_params* params, const attention_inputs* inputs, const attention_outputs* outputs,
    const attention_outputs* cotangents, const attention_params* param_gradients, const attention_inputs* input_gradients, attn_block workspace) {
  return attn_forward_backward(context, &attention_description, (const attn_tensor*)params, (const attn_tensor*)inputs, (const attn_tensor*)outputs, (const attn_tensor*)cotangents,
    (const attn_tensor*)param_gradients, (const attn_tensor*)input_gradients, workspace);
}
int64_t attention_step_workspace(const attention_params* params) {
  return attn_step_workspace(&attention_description, (const attn_tensor*)params);
}
attn_status attention_step(attn_context* context, const attention_options* options, int64_t step, const attention_params* params, const attention_params* gradients,
    const attention_states* states, attn_block workspace) {
  return attn_step(context, &attention_description, (const double*)options, step, (const attn_tensor*)params, (const attn_tensor*)gradients, (const attn_tensor*)states, workspace);
}
attention_options attention_default_options(void) { return (attention_options){NAN, 0.9, 0.999, 1e-08, 0}; }
