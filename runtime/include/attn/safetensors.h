/* Weight files in the safetensors format. The header is checked in full before any tensor is
 * read: no byte is trusted, and no more memory is used than the file's size and 1 MiB; of an index of
 * several files its size, and 32 bytes for each tensor that it names. Files are mapped
 * where the system can: who cuts one short while its elements are copied ends the process. */
#ifndef ATTN_SAFETENSORS_H
#define ATTN_SAFETENSORS_H

#include <attn/array.h>

ATTN_BEGIN_C

/* An opened file. It does not change, so threads may share it, each with a context of its own. */
typedef struct attn_weights attn_weights;

typedef struct attn_weight {
  const char* name; /* lives as long as the file is open */
  attn_file_type type;
  int32_t rank;
  int64_t extent[ATTN_MAX_RANK];
  int64_t bytes;
} attn_weight;

/* A file, or several as one: `path` may be that of an index, a .json file whose weight_map says for
 * each tensor which file beside it has it, or of a folder with a model.safetensors.index.json or a
 * model.safetensors. */
attn_status attn_weights_open(attn_context* context, const char* path, attn_weights** weights);

/* `bytes` stay the caller's and must outlive `weights`; `label` stands for the path in messages. */
attn_status attn_weights_parse(attn_context* context, const char* label, const void* bytes,
                               int64_t size, attn_weights** weights);

void attn_weights_close(attn_weights* weights); /* null is allowed */

/* Null weights have no tensors. */
int32_t attn_weights_count(const attn_weights* weights);
/* Tensors are in the order of their names. All is zero where there is none of that index. */
attn_weight attn_weights_at(const attn_weights* weights, int32_t index);
int32_t attn_weights_find(const attn_weights* weights, const char* name); /* -1: there is none */

/* Copies the elements of a tensor, attn_weight.bytes of them in all, as the file has them. */
attn_status attn_weights_read(attn_context* context, const attn_weights* weights, int32_t index,
                              void* destination);
attn_status attn_weights_load(attn_context* context, const attn_weights* weights, int32_t index,
                              attn_array* array);

/* Writes the tensors atomically. Names must differ and obey what reading demands: valid UTF-8
 * without control characters, 1 to 1024 bytes, no ".." between slashes. */
attn_status attn_weights_save(attn_context* context, const char* path, int32_t count,
                              const char* const* names, const attn_tensor* tensors);

ATTN_END_C
#endif
