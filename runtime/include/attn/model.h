/* Calls of a model that is not known when the program is compiled. The typed functions of a generated
 * header are these, for structs that are arrays of tensors. C11 and C++. */
#ifndef ATTN_MODEL_H
#define ATTN_MODEL_H

#include <attn/abi.h>

ATTN_BEGIN_C

/* Every array of tensors is as long, and in the same order, as the model's table: params has
 * n_params, and so on. All memory is that of the context's device. */

/* Reads the n_sizes run-time sizes from the extents of parameters and inputs, and checks both against
 * them; parameters may be null, and are then not looked at. */
attn_status attn_read_sizes(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const attn_tensor* inputs, int64_t* sizes);

/* Fills type, rank and extents of every tensor for the given run-time sizes, and says that it is in
 * memory of the host; data stays as it is. Any array of them may be null. ATTN_REFUSED where the model
 * or the sizes are null, or a size is negative; ATTN_NO_MEMORY or ATTN_OK. */
attn_status attn_shapes(const attn_model* model, const int64_t* sizes, attn_tensor* params,
                        attn_tensor* inputs, attn_tensor* outputs);
/* The same for the result of probe k; ATTN_REFUSED too where there is none of that number. */
attn_status attn_probe_shape(const attn_model* model, int32_t k, const int64_t* sizes,
                             attn_tensor* result);

/* Bytes of workspace and saved block for these arguments. Smaller blocks are refused. */
attn_status attn_call_sizes(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const attn_tensor* inputs,
                            attn_sizes* sizes);

/* `saved` may be zeroed where neither backward nor a probe follows. */
attn_status attn_forward(attn_context* context, const attn_model* model, const attn_tensor* params,
                         const attn_tensor* inputs, const attn_tensor* outputs, attn_block saved,
                         attn_block workspace);

/* Parameters, inputs, outputs and saved block are those of a forward call, unchanged. Cotangents are
 * tensors shaped like the outputs, gradients like params and inputs; of f16 and bf16 tensors both are
 * f32 (attn_gradient_type). Null data: a zero cotangent; a gradient that is not wanted. Gradients are
 * overwritten. */
attn_status attn_backward(attn_context* context, const attn_model* model, const attn_tensor* params,
                          const attn_tensor* inputs, const attn_tensor* outputs, attn_block saved,
                          const attn_tensor* cotangents, const attn_tensor* param_gradients,
                          const attn_tensor* input_gradients, attn_block workspace);

/* Forward and backward in one call, which takes less memory than the two: it has no saved block, and until
 * a gradient or an output is written, its memory serves others. As many kernels run. No backward and no
 * probe may follow. `bytes`: of the workspace, for these arguments and what is null of them. */
attn_status attn_forward_backward_workspace(attn_context* context, const attn_model* model,
                                            const attn_tensor* params, const attn_tensor* inputs,
                                            const attn_tensor* cotangents,
                                            const attn_tensor* param_gradients,
                                            const attn_tensor* input_gradients, int64_t* bytes);
attn_status attn_forward_backward(attn_context* context, const attn_model* model,
                                  const attn_tensor* params, const attn_tensor* inputs,
                                  const attn_tensor* outputs, const attn_tensor* cotangents,
                                  const attn_tensor* param_gradients,
                                  const attn_tensor* input_gradients, attn_block workspace);

/* The outputs, and how they change along the tangents, which are tensors like gradients; so are
 * output_tangents to outputs. Null data: a zero tangent; a result that is not wanted. */
attn_status attn_jvp(attn_context* context, const attn_model* model, const attn_tensor* params,
                     const attn_tensor* inputs, const attn_tensor* param_tangents,
                     const attn_tensor* input_tangents, const attn_tensor* outputs,
                     const attn_tensor* output_tangents, attn_block workspace);

/* How the gradient of the first scalar output changes along the tangents. Nulls as for jvp. */
attn_status attn_hvp(attn_context* context, const attn_model* model, const attn_tensor* params,
                     const attn_tensor* inputs, const attn_tensor* param_tangents,
                     const attn_tensor* input_tangents, const attn_tensor* param_products,
                     const attn_tensor* input_products, attn_block workspace);

/* Probe k, for a forward call whose parameters, inputs, outputs and saved block are unchanged.
 * `saved` may be zeroed where the model has no backward. */
attn_status attn_probe(attn_context* context, const attn_model* model, int32_t k,
                       const attn_tensor* params, const attn_tensor* inputs,
                       const attn_tensor* outputs, attn_block saved, const attn_tensor* result,
                       attn_block workspace);

/* Bytes of workspace for a step, from the parameters' shapes alone; a zeroed block serves for 0. Of a
 * null model, or null parameters, it is 0. */
int64_t attn_step_workspace(const attn_model* model, const attn_tensor* params);

/* Updates parameters and states in place. `step` counts from 1. `states` are n_step_states times
 * n_params tensors, those of the first state first, of the parameters' extents and in
 * attn_state_type of their types. A gradient with null data leaves its parameter and its states as they
 * are, and is not part of the norm that an update may take. */
attn_status attn_step(attn_context* context, const attn_model* model, const double* options,
                      int64_t step, const attn_tensor* params, const attn_tensor* param_gradients,
                      const attn_tensor* states, attn_block workspace);
/* The same with options of its own for each parameter: n_params times n_step_options, those of the
 * first parameter first. The norm is that of all gradients together. */
attn_status attn_step_each(attn_context* context, const attn_model* model, const double* options,
                           int64_t step, const attn_tensor* params,
                           const attn_tensor* param_gradients, const attn_tensor* states,
                           attn_block workspace);

/* Whether a name is of a pattern, in which `*` stands for any text and `?` for one character:
 * "layers.*.w?". 0 where either is null. */
int attn_name_matches(const char* pattern, const char* name);

ATTN_END_C
#endif
