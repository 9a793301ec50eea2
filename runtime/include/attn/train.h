/* Initialisation, states of updates, and the weights of a whole model. Tensors are in memory of the
 * context's device, or of the host. */
#ifndef ATTN_TRAIN_H
#define ATTN_TRAIN_H

#include <attn/abi.h>

ATTN_BEGIN_C

/* Fills `tensor` as `argument` says. Element i depends on the seed, the argument's name and i only:
 * not on the order of calls, the other parameters, or the number of threads.
 *   normal      mean init_a, deviation init_b
 *   uniform     from init_a to init_b
 *   xavier      uniform within +-sqrt(6 / (fan_in + fan_out)); fan_in is the product of the extents
 *               in fan_in_mask, fan_out that of the others
 *   orthogonal  as a matrix of kept by reduced extents, orthonormal rows or columns, the fewer */
attn_status attn_initialise(attn_context* context, const attn_argument* argument,
                            const attn_tensor* tensor, uint64_t seed);
attn_status attn_initialise_model(attn_context* context, const attn_model* model,
                                  const attn_tensor* params, uint64_t seed);

/* The type of what an update remembers of a parameter: f64 of f64, and f32 of every other type. */
attn_type attn_state_type(attn_type parameter);

/* Fills the states of a model's update, n_step_states times n_params tensors that have their
 * extents and memory, with their values before the first step. */
attn_status attn_initialise_states(attn_context* context, const attn_model* model,
                                   const attn_tensor* states);

/* Writes the states under the names state.WEIGHT.STATE, and the number of steps taken as `step`:
 * with the weights, all that training needs to go on as if it had not stopped. */
attn_status attn_states_save(attn_context* context, const attn_model* model,
                             const attn_tensor* states, int64_t step, const char* path);
/* Reads them. Names, types and shapes must agree; on failure nothing has changed. */
attn_status attn_states_load(attn_context* context, const attn_model* model,
                             const attn_tensor* states, int64_t* step, const char* path);

/* The Euclidean norm over all elements of all tensors, summed in double in a fixed order. Tensors
 * without data count as zero. NAN, with a message, where the elements cannot be had. */
double attn_gradient_norm(attn_context* context, int32_t count, const attn_tensor* gradients);
/* Multiplies every element; for clipping: factor = limit / norm where norm > limit. */
attn_status attn_scale(attn_context* context, int32_t count, const attn_tensor* tensors,
                       double factor);

/* sums += factor * terms, element for element, on the threads of the context: gradients of several
 * small batches add up to that of one large one, where the loss is a sum over the examples; where it is
 * a mean over batches of one size, the factor is one over their number. Each pair is of one type and
 * shape. A term without data counts as zero. */
attn_status attn_add(attn_context* context, int32_t count, const attn_tensor* sums,
                     const attn_tensor* terms, double factor);

/* Writes every parameter under its weight_name. */
attn_status attn_model_save(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const char* path);

/* By what a checkpoint may differ from the model. Zeroed, or null where it is an argument: by
 * nothing. */
typedef struct attn_load_options {
  int32_t ignore_extra;     /* tensors that the model has not are left out */
  int32_t keep_missing;     /* parameters that the file has not stay as they are */
  int32_t convert_types;    /* of reals: to the parameter's type, rounded to the nearest */
  int32_t allow_overflow;   /* and a finite value that the type does not hold becomes infinite */
  /* Of two shapes, one is the other with neighbouring dimensions merged, as [H*E, D], [H, E*D] and
   * [H*E*D] are of [H, E, D]: the elements are taken in their order. [D, H*E] is not, and has to be
   * transposed by whoever made the file; where D = H*E the shapes do not tell. */
  int32_t merge_dimensions;
  /* Told of each difference that the options allow: one line, such as
   *   "h.0.attn.bias" is not in the model
   *   "c_fc.weight" is bf16, converted to f32
   * It may be told of some before loading fails. May be null. */
  void (*report)(void* report_data, const char* text);
  void* report_data;
} attn_load_options;

/* Reads every parameter. `params` have their extents and memory. `path` is a safetensors file, an
 * index of several (model.safetensors.index.json), or a folder that has one of these as
 * model.safetensors.index.json or model.safetensors. Type and shape must agree, and no tensor be left
 * over: the message lists all differences. On failure no parameter has changed. */
attn_status attn_model_load(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const char* path);
/* The same, with what the options allow. */
attn_status attn_model_load_options(attn_context* context, const attn_model* model,
                                    const attn_tensor* params, const char* path,
                                    const attn_load_options* options);
/* Reads the extents of the parameters from the file (type, rank and extents; no data). Names, types
 * and ranks are compared as above: without a report, and what is missing or of another rank is a
 * failure whatever the options. Whether the extents fit is for attn_read_sizes to say. */
attn_status attn_model_load_shapes(attn_context* context, const attn_model* model,
                                   attn_tensor* params, const char* path,
                                   const attn_load_options* options);

ATTN_END_C
#endif
