// The checks of what a caller gives. They touch nothing but the descriptions, and run before
// anything is written.
#pragma once

#include "context.h"

namespace attn::rt {

// Refuses a null model, and one of another version of the interface.
attn_status check_version(attn_context* context, const attn_model* model);
// Refuses an argument that is null. `name` is that of the header.
attn_status check_given(attn_context* context, const void* argument, const char* name);
// Refuses an array that is null although it has elements, and a negative count of them.
attn_status check_array(attn_context* context, const void* array, int64_t count, const char* name);
// For what reads only its tables: there are a context, a model, and parameters where it has any.
attn_status check_model(attn_context* context, const attn_model* model, const attn_tensor* params);

// Memory for a call: not null, aligned to 64 bytes, and of at least so many bytes. `what`:
// "workspace".
attn_status check_memory(attn_context* context, const attn_model& model, const char* what,
                         attn_block memory, int64_t bytes);

// Checks `tensor` against `wanted`, which has type, rank and extents: non-null data (unless it has
// no elements, or `is_optional`), the context's device, alignment to its element, and byte size
// below 2^63. `kind` is "" for the argument itself, or says what of the argument the tensor is:
// "cotangent", "gradient", "tangent"; it is then refused unless the argument is differentiable.
attn_status check_tensor(attn_context* context, const char* kind, const attn_argument& argument,
                         const attn_tensor* tensor, const attn_tensor& wanted, bool is_optional);

// The same for the argument itself, of which any extents will do.
attn_status check_argument(attn_context* context, const attn_argument& argument,
                           const attn_tensor* tensor);

// The memory of an argument.
struct Interval {
  Interval(const char* tensor_name, const void* data, int64_t bytes, bool written)
      : begin(reinterpret_cast<uintptr_t>(data)),
        end(begin + static_cast<uintptr_t>(bytes)),
        name(tensor_name),
        is_written(written) {}
  uintptr_t begin, end;
  const char* name;
  bool is_written;
};
// Refuses when a written interval overlaps any other. Sorts the list.
attn_status check_overlap(attn_context* context, int count, Interval* list);

}  // namespace attn::rt
