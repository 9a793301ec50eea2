/* The value of a plane at two points, from C: no C++ library is linked. */
#include <stdio.h>
#include <stdlib.h>

#include "fit.h"

static void must(attn_status status, const attn_context* context) {
  if (status == ATTN_OK) return;
  fprintf(stderr, "%s\n", attn_context_message(context));
  exit(1);
}

int main(void) {
  float w[2] = {3, -1}, x[4] = {1, 0, 1, 2}, wanted[2] = {3, 1}, y[2], loss;
  const fit_params params = {{w, ATTN_F32, 1, {2}, {0}}};
  const fit_inputs inputs = {{x, ATTN_F32, 2, {2, 2}, {0}}, {wanted, ATTN_F32, 1, {2}, {0}}};
  const fit_outputs outputs = {{y, ATTN_F32, 1, {2}, {0}}, {&loss, ATTN_F32, 0, {0}, {0}}};
  attn_context* context = NULL;
  if (attn_context_create(NULL, &context) != ATTN_OK) return 1;
  attn_sizes sizes;
  must(fit_sizes(context, &params, &inputs, &sizes), context);
  attn_block saved = {0}, workspace = {0};
  workspace.bytes = sizes.forward_workspace;
  workspace.data = attn_allocate(context, (size_t)workspace.bytes);
  must(fit_forward(context, &params, &inputs, &outputs, saved, workspace), context);
  printf("y %g %g  loss %g\n", y[0], y[1], loss);
  attn_free(context, workspace.data);
  attn_context_destroy(context);
  return loss == 0 ? 0 : 1;
}
