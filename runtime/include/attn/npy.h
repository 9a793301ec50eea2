/* NumPy's .npy files, versions 1 to 3. There is no pickle code: object arrays are refused. */
#ifndef ATTN_NPY_H
#define ATTN_NPY_H

#include <attn/array.h>

ATTN_BEGIN_C

/* Real, integer and bool elements in either byte order; arrays in Fortran order are transposed.
 * Refused before memory is asked for: any other element type, sizes that do not fit the file's
 * length, a malformed header, .npz. On failure the array is empty. */
attn_status attn_npy_load(attn_context* context, const char* path, attn_array* array);

/* The same from memory; `label` stands for the path in messages. */
attn_status attn_npy_parse(attn_context* context, const char* label, const void* bytes,
                           int64_t size, attn_array* array);

/* Writes version 1, atomically: the path holds the old file or the new one at any moment. bf16,
 * which NumPy lacks, is written as f32, which is exact. */
attn_status attn_npy_save(attn_context* context, const char* path, const attn_tensor* tensor);

ATTN_END_C
#endif
