/* The C interface from C11, with every public header. */
#include <attn/attn.h>
#include <attn/kernel.h>
#include <attn/npy.h>
#include <attn/safetensors.h>
#include <attn/train.h>
#include <attn/types.h>
#include <stdio.h>

static int add_one(void* data, int index) {
  ((float*)data)[index] += 1.0f;
  return 0;
}

int main(void) {
  attn_context_options options = {0};
  attn_context* context;
  float values[100] = {0};
  int k;
  options.threads = 3;
  if (attn_context_create(&options, &context) != ATTN_OK) return 1;
  if (attn_parallel_for(context, 100, add_one, values) != 0) return 2;
  for (k = 0; k < 100; ++k) {
    if (values[k] != 1.0f) return 3;
  }
  attn_array array;
  if (attn_npy_parse(context, "text", "no array", 8, &array) != ATTN_BAD_FILE) return 4;
  puts(attn_context_message(context));
  attn_context_destroy(context);
  return 0;
}
