/* A whole program in C11: forward, a step along the gradient, forward again. */
#include <math.h>
#include <stdio.h>

#include "calls.h"
#include "names.h"

enum { B = 2, T = 3, D = 4, V = 6 };

static int fail(const char* what, attn_context* context) {
  fprintf(stderr, "%s: %s\n", what, attn_context_message(context));
  return 1;
}

int main(void) {
  attn_context* context = NULL;
  if (attn_context_create(NULL, &context) != ATTN_OK) return 1;
  float table[V * D], w[D * D], c[D], x[B * T * D], scale = 0.5f, y[B * T * D], loss, before;
  float dtable[V * D], dw[D * D], dc[D], one = 1;
  int32_t token[B * T] = {0, 5, 3, 2, 2, 1}, best[B * T];
  uint8_t keep[B * T] = {1, 1, 0, 1, 1, 1};
  for (int k = 0; k < V * D; ++k) table[k] = (float)sin(k);
  for (int k = 0; k < D * D; ++k) w[k] = (float)cos(k) / 2;
  for (int k = 0; k < D; ++k) c[k] = 0.125f * (float)k;
  for (int k = 0; k < B * T * D; ++k) x[k] = (float)sin(2 * k);

  const word_params params = {{table, ATTN_F32, 2, {V, D}}, {w, ATTN_F32, 2, {D, D}},
                              {c, ATTN_F32, 1, {D}}};
  const word_inputs inputs = {{token, ATTN_I32, 2, {B, T}}, {x, ATTN_F32, 3, {B, T, D}},
                              {keep, ATTN_BOOL, 2, {B, T}}, {&scale, ATTN_F32, 0, {0}}};
  const word_outputs outputs = {{y, ATTN_F32, 3, {B, T, D}}, {&loss, ATTN_F32, 0, {0}},
                                {best, ATTN_I32, 2, {B, T}}};
  attn_sizes bytes;
  if (word_sizes(context, &params, &inputs, &bytes)) return fail("sizes", context);
  const attn_block none = {NULL, 0};
  const attn_block saved = {attn_allocate(context, (size_t)bytes.saved), bytes.saved};
  const int64_t most = bytes.forward_workspace > bytes.backward_workspace
                           ? bytes.forward_workspace : bytes.backward_workspace;
  const attn_block workspace = {attn_allocate(context, (size_t)most), most};
  if (!saved.data || !workspace.data) return 1;
  if (word_forward(context, &params, &inputs, &outputs, saved, workspace))
    return fail("forward", context);
  before = loss;

  word_outputs cotangents = {{NULL, ATTN_F32, 0, {0}}, {&one, ATTN_F32, 0, {0}},
                             {NULL, ATTN_I32, 0, {0}}};
  word_params gradients = {{dtable, ATTN_F32, 2, {V, D}}, {dw, ATTN_F32, 2, {D, D}},
                           {dc, ATTN_F32, 1, {D}}};
  if (word_backward(context, &params, &inputs, &outputs, saved, &cotangents, &gradients, NULL,
                    workspace))
    return fail("backward", context);
  for (int k = 0; k < V * D; ++k) table[k] -= 0.01f * dtable[k];
  for (int k = 0; k < D * D; ++k) w[k] -= 0.01f * dw[k];
  for (int k = 0; k < D; ++k) c[k] -= 0.01f * dc[k];
  if (word_forward(context, &params, &inputs, &outputs, none, workspace))
    return fail("forward", context);
  printf("loss %g, then %g\n", (double)before, (double)loss);
  const int learns = loss < before && loss > 0;

  attn_free(context, saved.data);
  attn_free(context, workspace.data);
  attn_context_destroy(context);
  return learns && double__model()->has_backward && !word2_model()->has_backward ? 0 : 1;
}
