/* Models and structs of this interface as JSON text, for callers that read no C header: bindings of
 * other languages. Members may be added to the objects; a member that is there keeps its meaning as
 * long as "abi" has the same number. C11 and C++.
 *
 * Both functions write at most `size` bytes, a zero at the end among them, and return the length of
 * the whole text without that zero: a call with `size` 0 says how much memory to bring. Nothing is
 * written to null. */
#ifndef ATTN_DESCRIBE_H
#define ATTN_DESCRIBE_H

#include <attn/abi.h>

ATTN_BEGIN_C

/* {"abi": 8, "types": ["f32", …] by attn_type, "structs": {"attn_tensor": {"bytes": 96, "fields":
 * [{"name": "extent", "offset": 16, "bytes": 8, "count": 8}, …]}, …}}: integers, pointers and f64s,
 * and how many of them stand in a row. Fields of a struct in a struct have both names:
 * "device.type". */
int64_t attn_describe_interface(char* text, int64_t size);

/* {"name", "source_hash", "sizes": [{"name", "least", "greatest"}, …], "params", "inputs",
 * "states", "outputs", "probes": lists of arguments, "saved": the parts of the saved block,
 * "gradient", "jvp", "hvp": booleans, "step": null or {"options": [{"name", "default"}, …],
 * "states": […]}}. The greatest of a size, or the default of an option, is null where there is
 * none. An argument is {"name", "type", "extents": [{"text": "4*D", "value": 256}, …],
 * "differentiable", "weight_name", "init"}; an extent has "value" where it is known, "size" where
 * it is that run-time size, and only its text where it is computed from sizes. Of a null model the text
 * is empty. */
int64_t attn_describe_model(const attn_model* model, char* text, int64_t size);

/* The models of a shared library that `attnc build --shared` wrote, by their positions in the
 * source; null from their count on. Such a library exports it, and all of the runtime. */
const attn_model* attn_library_model(int32_t k);

ATTN_END_C
#endif
