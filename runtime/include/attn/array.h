/* Arrays as files hold them: any of the common element types, converted with a check. */
#ifndef ATTN_ARRAY_H
#define ATTN_ARRAY_H

#include <attn/abi.h>

ATTN_BEGIN_C

/* The first six have the values of attn_type. */
typedef enum attn_file_type
#ifdef __cplusplus
    : int /* any value that a caller may pass can be looked at */
#endif
{
  ATTN_FILE_F32 = ATTN_F32,
  ATTN_FILE_F64 = ATTN_F64,
  ATTN_FILE_F16 = ATTN_F16,
  ATTN_FILE_BF16 = ATTN_BF16,
  ATTN_FILE_I32 = ATTN_I32,
  ATTN_FILE_BOOL = ATTN_BOOL,
  ATTN_FILE_I64,
  ATTN_FILE_I16,
  ATTN_FILE_I8,
  ATTN_FILE_U64,
  ATTN_FILE_U32,
  ATTN_FILE_U16,
  ATTN_FILE_U8
} attn_file_type;

/* Row-major and dense; owns its data, which attn_array_free returns. */
typedef struct attn_array {
  void* data;
  attn_file_type type;
  int32_t rank;
  int64_t extent[ATTN_MAX_RANK];
  int64_t count; /* elements */
} attn_array;

int64_t attn_file_type_size(attn_file_type type);
const char* attn_file_type_name(attn_file_type type);

void attn_array_free(attn_array* array);

/* Whether one of two shapes is the other with neighbouring dimensions merged, so that row-major
 * elements of the one are those of the other: [H*E, D] and [H, E*D] of [H, E, D], and [1, D] of [D].
 * 0 where extents are null. */
int attn_shapes_merge(int32_t rank_a, const int64_t* a, int32_t rank_b, const int64_t* b);

/* Writes the array's elements to `destination` as `type`. Real to real rounds to the nearest and
 * refuses a finite value that would become infinite; integer (or bool) to real and integer to i32
 * refuse a value that the type does not hold exactly; real to integer, and anything else than bool
 * to bool, is refused. The message names `name` and the first element at fault. */
attn_status attn_array_convert(attn_context* context, const char* name, const attn_array* array,
                               attn_type type, void* destination);

ATTN_END_C
#endif
