// What a call computes from the program's tables before it runs: values, shapes, and offsets in
// memory.
#pragma once

#include <attn/program.h>

#include <memory>
#include <span>

#include "check.h"
#include "layout.h"

namespace attn::rt {

// A tensor of a call as kernels take it: innermost dimension first. Extents of 0 read as 1, and
// every stride but the innermost is then 0: an empty tensor is shown as one row of zeros, so that
// clamped reads of it stay inside memory (kernels get sizes as values).
struct Shape {
  attn_dimension* dim;
  int32_t rank;
  bool is_addressable;  // by the 32 bits of a kernel's extents and strides
  int64_t count;        // of elements, at most INT64_MAX
};

struct Tensor {
  attn_buffer buffer;
  void* data;  // as the device knows it; null: not wanted
  const Shape* shape;
  int32_t element_bytes;
  bool is_view;  // of what a kernel copies elsewhere: in a slice, whose memory it has
  int64_t bytes() const { return shape->count * element_bytes; }
  // Of the row that shows an empty tensor.
  int64_t row_bytes() const {
    return (shape->rank > 0 ? shape->dim[0].extent : 1) * int64_t{element_bytes};
  }
};

// A group of tensors that the caller of a function gives beside parameters and inputs.
struct Use {
  attn_function_kind function;
  int8_t group;  // attn_group
  bool is_written;
  bool is_optional;  // null data is allowed
  bool is_required;  // the array itself
  char kind[20];     // of each, as for check_tensor: "gradient"
  char name[12];     // of the array, in messages
};
std::span<const Use> uses_of(attn_function_kind kind);

// What the memory that a call needs is laid out for.
enum class Memory : uint8_t {
  none,      // nothing yet
  own,       // a workspace; what is saved is in the saved block
  unsaved,   // of forward without a saved block: what would be in it, too
  together,  // of forward and backward in one call; of the frame of backward
};

// The memory of a call: what follows from the sizes, and the tensors. A context keeps the frames of
// its last calls: where one comes again with the same sizes, only the addresses are new.
class Frame : public Cached {
 public:
  // Gives a frame to the context, for the next such call; to the system where there is no context.
  struct GiveBack {
    void operator()(Frame* frame) const;
  };
  using Pointer = std::unique_ptr<Frame, GiveBack>;
  // For calls of a function, or for the model's sizes and shapes. The context may be null. Null: no
  // memory.
  static Pointer take(attn_context* context, const attn_model& model,
                      const attn_function* function);

  // The sizes from the extents of the arguments, which are checked against them; parameters may be
  // null.
  attn_status read_sizes(const attn_tensor* params, const attn_tensor* inputs);
  // The sizes as they are given.
  void set_sizes(const int64_t* sizes);

  // An extent of a table.
  int64_t extent(int64_t e) const { return e >= 0 ? e : value[~e]; }
  void fill_shape(attn_tensor* tensor, attn_type type, int32_t shape) const;
  int64_t bytes(attn_type type, int32_t shape) const;
  // The bytes of the saved block. Also stores the offsets in it, where they are asked for.
  int64_t lay_out_saved(int64_t* saved = nullptr) const;
  // Lays out the memory of a call of the function: `pieces`. The bytes of the workspace, which are
  // the same for each call of these sizes; but of forward and backward together they depend on what
  // of the caller's tensors is there (`given`, in groups), which is looked at for this alone.
  int64_t lay_out(Memory memory, const attn_tensor* const* given = nullptr);
  // The strides of a slice that is a block of another tensor: within that, or alone in memory.
  void lay_out_block(int32_t slice, bool is_alone);
  // The shapes of what kernels of a loop copy from slices, or, of what has no memory, of the slice.
  void lay_out_copies(int32_t loop);

  const attn_argument* arguments_of(int32_t group) const {
    if (group == ATTN_RESULT) return &model.probes[function - program.probes];
    return group % 3 == 0 ? model.params : group % 3 == 1 ? model.inputs : model.outputs;
  }
  int32_t count_of(int32_t group) const { return base[group + 1] - base[group]; }
  attn_type type_of(int32_t group, int32_t k) const;
  // Checks all tensors of a group of the caller, which may be null, as check_tensor does.
  attn_status check(const char* kind, int32_t group, const attn_tensor* tensors,
                    bool is_optional) const;
  // Whether all that the checks of a call look at, but for sizes of blocks and for data, is as it
  // was in the last call that passed them. `given`: by groups of the caller.
  bool is_again(const attn_tensor* const* given, const void* saved, const void* workspace) const;
  void passed(const attn_tensor* const* given, const void* saved, const void* workspace);

  Tensor& tensor(int32_t id) { return tensors[base[id >> 24] + (id & 0xffffff)]; }

  attn_context* context;
  const attn_model& model;
  const attn_program& program;
  const attn_function* function;
  int32_t target;  // the last of the program's that the processor can run; -1: it runs none

  int64_t* header;  // of the saved block: the source's hash, then the sizes
  int64_t* value;   // after the hash
  int64_t* stored;  // a header that was read
  int32_t* narrow;  // the values in 32 bits, for kernels
  Shape* shapes;    // of the program, then of the function's slices
  Tensor* tensors;
  int32_t base[ATTN_GROUPS + 1] = {};  // where each group begins in `tensors`
  attn_tensor* wanted;     // what each tensor of the caller must be, as check_tensor takes it
  attn_tensor* checked;    // what each was in the last call that passed all checks
  Interval* intervals;     // of each tensor of the caller, workspace and saved block
  int64_t* saved_offsets;  // in the saved block
  // Of the function's lives, in their order. Of forward and backward together: of forward's, then
  // of backward's; a part of the saved block has the same memory in both. After those, turns.
  Piece* pieces;
  Loan* loans;
  attn_sizes call_sizes;  // of the model, once they are known
  bool has_call_sizes = false;
  void*** arguments;             // by kernel
  double* operations;            // of kernels
  int64_t empty_bytes;           // of a row for each empty tensor
  const Shape* not_addressable;  // of a tensor that kernels cannot take, or null

 private:
  Frame(attn_context* c, const attn_model& m, const attn_function* f);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  bool serves(const attn_model& m, const attn_function* f) const;
  size_t assign(char* memory);
  void compute();
  void compute_tensors(attn_dimension* dim);
  void set(Tensor& tensor, attn_type type, const Shape& shape);
  void list_arguments();
  // Type and shape of any tensor of a life.
  attn_local local(const attn_function& f, int32_t tensor) const;
  int64_t outermost(int32_t shape) const;
  bool is_there(const attn_function& f, int32_t tensor) const;
  void add_pieces(const attn_function& f, Piece* to, int32_t shift);
  bool keeps(const attn_life& life) const;
  int64_t tail_of(const attn_function& f, int32_t life, int64_t bytes) const;
  static bool leave_out_copies(std::span<Piece> all);
  int32_t join_saved();
  bool is_turned(int32_t saved, int32_t own) const;
  void split_turn(int32_t saved, int32_t own, Piece* turn);
  void place_saved();
  attn_status solve(const attn_size_rule& rule, int64_t given, int64_t* size) const;
  attn_status check_sizes() const;

  // What the tables say where a library was unloaded and another loaded in its place.
  attn_program program_then_;
  attn_function function_then_;
  attn_dimension* dimensions_;
  void** all_arguments_;
  int32_t n_dimensions_ = 0, most_rank_ = 0, n_arguments_ = 0, n_pieces_ = 0, n_loans_ = 0;
  int32_t* order_;        // of pieces
  int32_t* saved_piece_;  // by part of the saved block, in forward's lives
  uint8_t* is_there_;     // by life: whether the caller gives the tensor in the present layout
  Memory memory_ = Memory::none;
  const attn_tensor* const* given_ = nullptr;  // while memory is laid out
  int64_t workspace_bytes_ = 0;
  bool is_checked_ = false;  // the sizes are valid, and all is computed for them
  // Of that call: its groups that were there, a bit each; 0: there was none with these sizes.
  uint32_t checked_groups_ = 0;
  const void* checked_blocks_[2] = {};  // the saved block and the workspace
};

}  // namespace attn::rt
