/* The words in which attnc writes the tables of attn/program.h. For generated files alone. */
#ifndef ATTN_TABLES_H
#define ATTN_TABLES_H

#include <attn/program.h>
#include <math.h>

#define F32 ATTN_F32
#define F64 ATTN_F64
#define F16 ATTN_F16
#define BF16 ATTN_BF16
#define I32 ATTN_I32
#define BOOL ATTN_BOOL

/* Tensors by their groups, and values. Given: tangents, cotangents; wanted: derivatives. */
#define P(k) ATTN_TENSOR(ATTN_PARAMS, k)
#define I(k) ATTN_TENSOR(ATTN_INPUTS, k)
#define O(k) ATTN_TENSOR(ATTN_OUTPUTS, k)
#define GP(k) ATTN_TENSOR(ATTN_GIVEN_PARAMS, k)
#define GI(k) ATTN_TENSOR(ATTN_GIVEN_INPUTS, k)
#define GO(k) ATTN_TENSOR(ATTN_GIVEN_OUTPUTS, k)
#define WP(k) ATTN_TENSOR(ATTN_WANTED_PARAMS, k)
#define WI(k) ATTN_TENSOR(ATTN_WANTED_INPUTS, k)
#define WO(k) ATTN_TENSOR(ATTN_WANTED_OUTPUTS, k)
#define R(k) ATTN_TENSOR(ATTN_RESULT, k)
#define S(k) ATTN_TENSOR(ATTN_SAVED, k)
#define W(k) ATTN_TENSOR(ATTN_WORKSPACE, k)
#define L(k) ATTN_TENSOR(ATTN_SLICES, k)
#define V(k) ATTN_VALUE(k)

/* An array, and how many it has: the members `field` and `n_field` of a struct. */
#define COUNT(type, ...) (int32_t)(sizeof((type[]){__VA_ARGS__}) / sizeof(type))
#define ROWS(type, field, ...) \
  .n_##field = COUNT(type, __VA_ARGS__), .field = (const type[]){__VA_ARGS__}

/* Of a file's programs: its array of the targets that its kernels are compiled for. */
#define TARGETS .n_targets = (int32_t)(sizeof(targets) / sizeof(targets[0])), .targets = targets

#define SHAPE(...) {COUNT(int64_t, __VA_ARGS__), (const int64_t[]){__VA_ARGS__}}
#define SCALAR {0, 0}
/* The last argument is {"B", "4*D"}, the extents as people write them. */
#define WEIGHT(name, weight, type, shape, differentiable, start, a, b, fan_in, rank, ...) \
  {name, type, rank, __VA_ARGS__, differentiable, weight, ATTN_INIT_##start, a, b, fan_in, shape}
#define PARAM(name, ...) WEIGHT(name, name, __VA_ARGS__)
#define ARGUMENT(name, type, shape, differentiable, rank, ...) \
  WEIGHT(name, name, type, shape, differentiable, ZEROS, 0, 0, 0, rank, __VA_ARGS__)
#define FULL_KERNEL(name, code, few, rows, most, places, operations, writes, ...) \
  {name,   code, operations, writes, COUNT(int32_t, __VA_ARGS__), (const int32_t[]){__VA_ARGS__}, \
   few, rows, most, places}
#define KERNEL(name, code, ...) FULL_KERNEL(name, code, 0, 0, 0, 0, __VA_ARGS__)
#define KERNEL_OF_ROWS(name, code, few, rows, most, ...) \
  FULL_KERNEL(name, code, few, rows, most, 0, __VA_ARGS__)
#define KERNEL_OF_PLACES(name, code, places, ...) \
  FULL_KERNEL(name, code, 0, 0, 0, 1 + (places), __VA_ARGS__)

#endif
