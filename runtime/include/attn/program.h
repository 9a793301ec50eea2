/* A compiled model as data: tables that a generated file holds and the runtime executes. C11 and C++.
 *
 * A call works with values and tensors. Values are integers: the run-time sizes, read off the
 * arguments; what is computed from them, extents above all; and the steps of loops. Tensors come in
 * groups, each an array: the caller's arguments, the parts of the saved block, the workspace, and
 * slices of other tensors at a step. */
#ifndef ATTN_PROGRAM_H
#define ATTN_PROGRAM_H

#include <attn/model.h>

ATTN_BEGIN_C

typedef enum attn_group {
  ATTN_PARAMS, ATTN_INPUTS, ATTN_OUTPUTS,
  ATTN_GIVEN_PARAMS, ATTN_GIVEN_INPUTS, ATTN_GIVEN_OUTPUTS,    /* tangents; cotangents */
  ATTN_WANTED_PARAMS, ATTN_WANTED_INPUTS, ATTN_WANTED_OUTPUTS, /* gradients, products; tangents */
  ATTN_RESULT,                                                 /* of a probe */
  ATTN_SAVED, ATTN_WORKSPACE, ATTN_SLICES,
  ATTN_GROUPS
} attn_group;

/* One number for every tensor (from 0 up) and every value (below 0) of a function. */
#define ATTN_TENSOR(group, k) ((group) * 0x1000000 + (k))
#define ATTN_VALUE(k) (-1 - (k))

/* Outermost extent first: a number, or ATTN_VALUE. A log-sum-exp has a further one, 2, in front. */
typedef struct attn_shape {
  int32_t rank;
  const int64_t* extent;
} attn_shape;

/* A part of the saved block, or a tensor of the workspace. */
typedef struct attn_local {
  attn_type type;
  int32_t shape;
  /* 0; or ~t: it is tensor t of the caller as kernels write it, with another shape; or 1 + s: a kernel
   * copies slice s to it, where that does not stay until it was read last. */
  int32_t within;
} attn_local;

/* When a tensor is needed in memory: from the kernel `first` to the kernel `last` of a function, which
 * count from 1; 0: the checks of data, and all else that comes before the kernels. What is not needed
 * at the same time may lie in the same memory. */
typedef struct attn_life {
  int32_t tensor, first, last;
  int32_t over; /* the life of a tensor that its first kernel reads for the last time, each element just
                   before it writes the same of this one, which may lie in its memory; -1: none */
  /* 1: a kernel needs the caller's tensor in memory even where the caller leaves it out. What is given
   * (a tangent, a cotangent) is then zero. Of what forward saves, 0: where nothing is saved, kernels of
   * CPUs do without memory for it. */
  int32_t is_needed;
  /* 1: one step of the tensor is in memory, and its outermost dimension is the steps. More: one of so many
   * blocks of some dimension is. */
  int32_t of_step;
  /* Of backward, where a loop is part of the life; 0: not known.
   * Of a part of the saved block, of which each step takes its own (the outermost dimension) and no
   * other: the kernel of a step that needs it last. So of what is in the workspace from before the loop
   * until it ends, of which each step takes a block.
   * Else, where the life begins with the loop: the kernel of a step that needs the tensor first. */
  int32_t in_step;
} attn_life;

/* The tensor `whole` at the present step of the function's loop `loop`; dimensions are counted from
 * the innermost. Where `whole` has fewer steps than the loop, step n is at n modulo its extent. */
typedef struct attn_slice {
  int32_t whole, dimension, loop;
  int32_t life;  /* of `whole`; -1: it has none */
  int32_t block; /* each step has so many elements of the dimension; 0: one, and lacks the dimension */
} attn_slice;

/* The words of a processor's features: of CPUID, by leaf and register, and the registers that the
 * system saves (XGETBV). */
typedef enum attn_cpu_word {
  ATTN_CPUID_1_ECX, ATTN_CPUID_7_EBX, ATTN_CPUID_7_ECX, ATTN_CPUID_7_1_EAX, ATTN_CPUID_80000001_ECX,
  ATTN_XCR0, ATTN_CPU_WORDS
} attn_cpu_word;

/* What kernels are compiled for: an instruction set, and the bits that a processor has which can run it;
 * or a kind of device. A context runs kernels for devices of its own type. */
typedef struct attn_target {
  const char* name; /* "x86-64-v3" */
  attn_device_type device;
  int32_t capability; /* that a CUDA device has at least: ten times the major number, plus the minor */
  uint32_t features[ATTN_CPU_WORDS];
} attn_target;

typedef int (*attn_kernel_code)(void** arguments);

/* `code` takes the address of the context's address, then, for each of `arguments`, the address of an
 * attn_buffer (a tensor) or of an int32_t (a value). It is skipped where all that it writes is empty
 * or not wanted. */
typedef struct attn_kernel {
  const char* name;             /* for people: "contraction q" */
  const attn_kernel_code* code; /* one for each target */
  int32_t operations;           /* its position among those that attn_program.operations counts */
  int32_t n_writes;             /* which the last arguments are */
  int32_t n_arguments;
  const int32_t* arguments;
  /* For at most `most_rows` rows, and as `code`; null: there is none. */
  const attn_kernel_code* code_of_few_rows;
  int64_t rows;                 /* as in attn_shape */
  int64_t most_rows;
  /* Of a kernel that writes some places of a state: 1 + their count's position among those that
   * attn_program.operations counts; 0: it writes its tensors whole. */
  int32_t places;
} attn_kernel;

/* Kernels that run once a step. The step is the value `step`. */
typedef struct attn_loop {
  int32_t first, end;     /* of the function's kernels */
  int32_t step;           /* which of the values */
  int64_t count;          /* as in attn_shape */
  int32_t is_down;        /* 1: from count - 1 to 0 */
} attn_loop;

/* The least and greatest subscript that integer data makes, in tensors of one i32; both must lie in
 * [0, extent). A least above the greatest says that there is none. */
typedef struct attn_data_check {
  int32_t least, greatest; /* tensors */
  int64_t extent;          /* as in attn_shape */
  const char *data, *read; /* "token", "table" */
  int32_t is_written;      /* 1: `read` is a state, which is written there */
} attn_data_check;

typedef enum attn_function_kind {
  ATTN_FORWARD, ATTN_BACKWARD, ATTN_JVP, ATTN_HVP, ATTN_PROBE
} attn_function_kind;

typedef struct attn_function {
  attn_function_kind kind;
  const char* name;    /* for people: "backward", "probe map" */
  int32_t reads_saved; /* of a probe: whether it reads the saved block */
  int32_t n_workspace, n_lives, n_unsaved_lives, n_slices, n_checks, n_data_checks, n_kernels, n_loops;
  const attn_local* workspace;
  /* Of all that is in the workspace, of the parts of the saved block that the function takes, of its
   * results, whose memory serves others before the first kernel that writes it, and of what is given
   * of derivatives. */
  const attn_life* lives;
  /* The same of forward where nothing is saved, in the same order; none: as `lives`. */
  const attn_life* unsaved_lives;
  const attn_slice* slices;
  const attn_data_check* data_checks;
  /* The first n_checks of n_kernels write what data checks look at, before anything else is written. */
  const attn_kernel* kernels;
  const attn_loop* loops; /* in order */
} attn_function;

/* How a size follows from an extent: size * divisor = (extent - rest) * factor. */
typedef struct attn_size_rule {
  int32_t size;
  attn_group group; /* ATTN_PARAMS or ATTN_INPUTS */
  int32_t argument, dimension;
  int64_t rest; /* as in attn_shape; of sizes of earlier rules */
  int64_t factor, divisor;
} attn_size_rule;

typedef struct attn_size_bound {
  int64_t least, greatest; /* greatest -1: none but what 32 bits hold */
} attn_size_bound;

/* `size E = D / H` is an integer where the value is a multiple of `by`. */
typedef struct attn_division {
  int32_t value;
  int64_t by;
  const char *size, *formula; /* "E", "D / H" */
} attn_division;

/* The update of tensors of one type, or the sum of the squares of their elements: the function forward
 * of a model over the elements, dealt out to rows. Its sizes are the rows and columns. An update has
 * one parameter; its inputs are the gradient, the states, and scalars in f64. */
typedef struct attn_update {
  attn_type type; /* of the parameter; for squares, of the gradient */
  const attn_model* model;
} attn_update;

#define ATTN_STEP_COUNT (-1)
#define ATTN_STEP_NORM (-2)

typedef struct attn_step_program {
  int32_t n_updates, n_norms, n_scalars;
  const attn_update *updates, *norms;
  const int32_t* scalars; /* an option's position, or one of the above */
  int64_t columns;        /* elements of a row */
} attn_step_program;

struct attn_program {
  int32_t n_values, n_operations, n_shapes, n_size_rules, n_divisions, n_saved;
  /* Computes the values that follow the sizes, but for steps; null where there are none. */
  void (*values)(int64_t* value);
  /* Additions and multiplications of kernels, as the plan counts them, and places of states. */
  void (*operations)(const int64_t* value, double* count);
  const attn_shape* shapes;
  const attn_size_rule* size_rules;
  const attn_size_bound* size_bounds; /* one for each size */
  const attn_division* divisions;
  const attn_local* saved;
  /* What runs one of a device type runs those of that type before it, too. */
  int32_t n_targets;
  const attn_target* targets;
  const attn_function *forward, *backward, *jvp, *hvp; /* null where there is none */
  const attn_function* probes;
  const attn_step_program* step;
};

static inline int64_t attn_extent(int64_t n) { return n > 0 ? n : 0; }
/* floor(a / b); 0 where b is 0. */
static inline int64_t attn_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

ATTN_END_C
#endif
