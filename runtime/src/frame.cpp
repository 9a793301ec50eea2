#include "frame.h"

#include <attn/types.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <limits>
#include <new>

namespace attn::rt {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int32_t kMostFrames = 16;  // that a context keeps

int64_t product(int64_t a, int64_t b) {
  int64_t result;
  return __builtin_mul_overflow(a, b, &result) ? kMost : result;
}

// Hands out arrays one after the other; without memory it counts their bytes.
class Arena {
 public:
  explicit Arena(char* memory) : memory_(memory) {}
  template <class T>
  void take(T*& array, int64_t count) {
    if (memory_ != nullptr) array = reinterpret_cast<T*>(memory_ + bytes_);
    bytes_ += (sizeof(T) * static_cast<size_t>(count) + 7) / 8 * 8;
  }
  size_t bytes() const { return bytes_; }

 private:
  char* memory_;
  size_t bytes_ = 0;
};

// The last of the program's targets that the context can run; -1: none.
int32_t target_of(const attn_context& context, const attn_program& program) {
  int32_t k = program.n_targets;
  const attn_device_type device =
      context.device->id.type == ATTN_OTHER ? ATTN_CPU : context.device->id.type;
  while (--k >= 0) {
    bool has_all =
        program.targets[k].device == device && program.targets[k].capability <= context.capability;
    for (int w = 0; w < ATTN_CPU_WORDS; ++w)
      has_all = has_all && (program.targets[k].features[w] & ~context.cpu_features[w]) == 0;
    if (has_all) break;
  }
  return k;
}

}  // namespace

// ---- memory

Frame::Frame(attn_context* c, const attn_model& m, const attn_function* f)
    : context(c), model(m), program(*m.program), function(f) {
  memcpy(&program_then_, &program, sizeof program);
  memcpy(&function_then_, function, sizeof function_then_);
  target = c != nullptr ? target_of(*c, program) : -1;
  for (int32_t k = 0; k < program.n_shapes; ++k) {
    n_dimensions_ += program.shapes[k].rank;
    most_rank_ = std::max(most_rank_, program.shapes[k].rank);
  }
  const int32_t counts[] = {model.n_params, model.n_inputs, model.n_outputs};
  uint32_t groups = 1u << ATTN_PARAMS | 1u << ATTN_INPUTS;
  for (const Use& use : uses_of(function->kind)) groups |= 1u << use.group;
  for (int32_t g = 0; g < ATTN_RESULT; ++g)
    base[g + 1] = base[g] + ((groups >> g & 1) != 0 ? counts[g % 3] : 0);
  base[ATTN_SAVED] = base[ATTN_RESULT] + (function->kind == ATTN_PROBE ? 1 : 0);
  base[ATTN_WORKSPACE] = base[ATTN_SAVED] + program.n_saved;
  base[ATTN_SLICES] = base[ATTN_WORKSPACE] + function->n_workspace;
  base[ATTN_GROUPS] = base[ATTN_SLICES] + function->n_slices;
  for (int32_t k = 0; k < function->n_kernels; ++k)
    n_arguments_ += 1 + function->kernels[k].n_arguments;
  n_pieces_ = function->n_lives;
  if (function->kind == ATTN_BACKWARD) n_pieces_ += program.forward->n_lives + program.n_saved;
}

size_t Frame::assign(char* memory) {
  Arena arena(memory);
  arena.take(header, 1 + program.n_values);
  if (memory != nullptr) value = header + 1;
  arena.take(narrow, program.n_values);
  arena.take(shapes, program.n_shapes + function->n_slices);
  arena.take(dimensions_, n_dimensions_ + function->n_slices * most_rank_);
  arena.take(wanted, base[ATTN_SAVED]);
  arena.take(checked, base[ATTN_SAVED]);
  arena.take(stored, 1 + model.n_sizes);
  arena.take(tensors, base[ATTN_GROUPS]);
  arena.take(intervals, base[ATTN_SAVED] + 2);
  arena.take(saved_offsets, program.n_saved);
  arena.take(pieces, n_pieces_);
  arena.take(loans, n_pieces_);
  arena.take(order_, n_pieces_);
  arena.take(saved_piece_, program.n_saved);
  arena.take(is_there_, n_pieces_);
  arena.take(arguments, function->n_kernels);
  arena.take(all_arguments_, n_arguments_);
  arena.take(operations, program.n_operations);
  return arena.bytes();
}

Frame::Pointer Frame::take(attn_context* context, const attn_model& model,
                           const attn_function* function) {
  Cached* none = nullptr;
  for (Cached** at = context != nullptr ? &context->cached : &none; *at != nullptr;
       at = &(*at)->next) {
    Frame* frame = static_cast<Frame*>(*at);
    if (!frame->serves(model, function)) continue;
    *at = frame->next;
    return Pointer(frame);
  }
  Frame draft(context, model, function);
  constexpr size_t kOwn = (sizeof(Frame) + 7) / 8 * 8;
  char* memory = static_cast<char*>(attn_allocate(context, kOwn + draft.assign(nullptr)));
  if (memory == nullptr) return nullptr;
  Frame* frame = ::new (memory) Frame(context, model, function);
  frame->assign(memory + kOwn);
  frame->header[0] = static_cast<int64_t>(model.source_hash);
  frame->list_arguments();
  return Pointer(frame);
}

bool Frame::serves(const attn_model& m, const attn_function* f) const {
  return function == f && &model == &m && header[0] == static_cast<int64_t>(m.source_hash) &&
         memcmp(&function_then_, f, sizeof function_then_) == 0 &&
         memcmp(&program_then_, m.program, sizeof program_then_) == 0;
}

void Frame::GiveBack::operator()(Frame* frame) const {
  attn_context* context = frame->context;
  if (context == nullptr) return attn_free(nullptr, frame);
  frame->next = context->cached;
  context->cached = frame;
  Cached* last = frame;
  for (int32_t k = 1; k < kMostFrames && last->next != nullptr; ++k) last = last->next;
  attn_free(context, last->next);
  last->next = nullptr;
}

// Each kernel takes the address of the context's, then those of its tensors and values.
void Frame::list_arguments() {
  void** at = all_arguments_;
  for (int32_t k = 0; k < function->n_kernels; ++k) {
    const attn_kernel& kernel = function->kernels[k];
    arguments[k] = at;
    *at++ = &context;
    for (int32_t n = 0; n < kernel.n_arguments; ++n) {
      const int32_t id = kernel.arguments[n];
      *at++ = id < 0 ? static_cast<void*>(&narrow[~id]) : &tensor(id).buffer;
    }
  }
}

// ---- sizes

attn_status Frame::read_sizes(const attn_tensor* params, const attn_tensor* inputs) {
  if (model.n_inputs > 0 && inputs == nullptr)
    return attn_fail(context, ATTN_REFUSED, "%s: no inputs", model.name);
  const bool is_complete = params != nullptr || model.n_params == 0;
  bool is_same = is_checked_ && is_complete;
  is_checked_ = false;
  if (!is_same) memset(value, 0, sizeof *value * static_cast<size_t>(program.n_values));
  for (int32_t k = 0; k < program.n_size_rules; ++k) {
    const attn_size_rule& rule = program.size_rules[k];
    const attn_tensor* group = rule.group == ATTN_PARAMS ? params : inputs;
    if (group == nullptr) continue;
    int64_t size = group[rule.argument].extent[rule.dimension];
    if (rule.rest != 0 || rule.factor != 1 || rule.divisor != 1) {
      if (!is_same && rule.rest < 0) program.values(value);  // of the sizes that are known by now
      ATTN_TRY(solve(rule, size, &size));
    }
    is_same = is_same && value[rule.size] == size;
    value[rule.size] = size;
  }
  if (!is_same) compute();
  ATTN_TRY(check("", ATTN_INPUTS, inputs, false));
  ATTN_TRY(check("", ATTN_PARAMS, params, false));
  if (!is_same) ATTN_TRY(check_sizes());
  is_checked_ = is_complete;
  return ATTN_OK;
}

attn_status Frame::solve(const attn_size_rule& rule, int64_t given, int64_t* size) const {
  int64_t times;
  const bool fits = !__builtin_sub_overflow(given, extent(rule.rest), &times) &&
                    !__builtin_mul_overflow(times, rule.factor, &times);
  if (fits && times >= 0 && times % rule.divisor == 0) {
    *size = times / rule.divisor;
    return ATTN_OK;
  }
  const attn_argument& argument = arguments_of(rule.group)[rule.argument];
  return attn_fail(context, ATTN_REFUSED, "%s: dimension %d (%s) is %lld: %s is no integer",
                   argument.name, rule.dimension + 1, argument.extent[rule.dimension], shown(given),
                   model.size_names[rule.size]);
}

void Frame::set_sizes(const int64_t* sizes) {
  is_checked_ = false;
  memset(value, 0, sizeof *value * static_cast<size_t>(program.n_values));
  memcpy(value, sizes, sizeof *value * static_cast<size_t>(model.n_sizes));
  compute();
}

attn_status Frame::check_sizes() const {
  for (int32_t k = 0; k < model.n_sizes; ++k) {
    const attn_size_bound& bound = program.size_bounds[k];
    const int64_t most = bound.greatest >= 0 ? bound.greatest : kLargest;
    if (value[k] >= bound.least && value[k] <= most) continue;
    char upper[32] = "";
    if (bound.greatest >= 0) snprintf(upper, sizeof upper, "%lld", shown(most));
    return attn_fail(context, ATTN_REFUSED, "size %s is %lld, must be in %lld..%s",
                     model.size_names[k], shown(value[k]), shown(bound.least), upper);
  }
  for (int32_t k = 0; k < program.n_divisions; ++k) {
    const attn_division& division = program.divisions[k];
    if (value[division.value] % division.by == 0) continue;
    return attn_fail(context, ATTN_REFUSED, "size %s = %s is no integer", division.size,
                     division.formula);
  }
  return ATTN_OK;
}

// The values that follow from the sizes, and all shapes.
void Frame::compute() {
  checked_groups_ = 0;
  if (program.values != nullptr) program.values(value);
  for (int32_t k = 0; k < program.n_values; ++k) narrow[k] = static_cast<int32_t>(value[k]);
  attn_dimension* dim = dimensions_;
  // Kernels of GPUs count the elements of a whole tensor.
  const bool counts_all = context != nullptr && (context->device->id.type == ATTN_CUDA ||
                                                 context->device->id.type == ATTN_OPENCL);
  for (int32_t k = 0; k < program.n_shapes; ++k) {
    const attn_shape& from = program.shapes[k];
    int64_t count = 1;
    bool is_empty = false, is_addressable = true;
    for (int32_t d = 0; d < from.rank; ++d) {
      int64_t n = extent(from.extent[from.rank - 1 - d]);
      if (n <= 0) {
        is_empty = true;
        n = 1;
      }
      is_addressable = is_addressable && n <= kLargest && (count <= kLargest || n == 1);
      dim[d] = {0, static_cast<int32_t>(n), static_cast<int32_t>(std::min(count, kLargest)), 0};
      count = product(count, n);
    }
    if (counts_all && count > kLargest && !is_empty) is_addressable = false;
    for (int32_t d = 1; is_empty && d < from.rank; ++d) dim[d].stride = 0;
    shapes[k] = {dim, from.rank, is_addressable, is_empty ? 0 : count};
    dim += from.rank;
  }
  for (int32_t g = 0; g < ATTN_SAVED; ++g)
    for (int32_t k = 0; k < count_of(g); ++k)
      fill_shape(&wanted[base[g] + k], type_of(g, k), arguments_of(g)[k].shape);
  compute_tensors(dim);
}

void Frame::set(Tensor& tensor, attn_type type, const Shape& shape) {
  constexpr uint8_t kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4;
  tensor = {};
  tensor.shape = &shape;
  tensor.element_bytes = static_cast<int32_t>(attn_type_size(type));
  attn_buffer& buffer = tensor.buffer;
  buffer.type = {kFloat, static_cast<uint8_t>(8 * tensor.element_bytes), 1};
  if (type == ATTN_I32) buffer.type.code = kInt;
  if (type == ATTN_BF16) buffer.type.code = kBfloat;
  if (type == ATTN_BOOL) buffer.type = {kUint, 1, 1};
  buffer.dimensions = shape.rank;
  buffer.dim = shape.dim;
  if (shape.count == 0) empty_bytes = aligned_end(empty_bytes, tensor.row_bytes());
  if (!shape.is_addressable) not_addressable = &shape;
}

// All of the tensors but where they are. `dim`: for slices, which have the dimensions of their
// wholes, and of one a part or nothing.
void Frame::compute_tensors(attn_dimension* dim) {
  empty_bytes = 0;
  not_addressable = nullptr;
  Tensor* t = tensors;
  for (int32_t g = 0; g < ATTN_SAVED; ++g)
    for (int32_t k = 0; k < count_of(g); ++k)
      set(*t++, type_of(g, k), shapes[arguments_of(g)[k].shape]);
  for (int32_t k = 0; k < program.n_saved; ++k)
    set(*t++, program.saved[k].type, shapes[program.saved[k].shape]);
  for (int32_t k = 0; k < function->n_workspace; ++k)
    set(*t++, function->workspace[k].type, shapes[function->workspace[k].shape]);
  for (int32_t k = 0; k < function->n_slices; ++k, dim += most_rank_) {
    const attn_slice& slice = function->slices[k];
    const Tensor& whole = tensor(slice.whole);
    const attn_dimension* from = whole.shape->dim;
    Shape& shape = shapes[program.n_shapes + k];
    shape = {dim, whole.shape->rank - (slice.block > 0 ? 0 : 1), true,
             whole.shape->count / from[slice.dimension].extent};
    for (int32_t d = 0; d < shape.rank; ++d)
      dim[d] = from[d < slice.dimension || slice.block > 0 ? d : d + 1];
    if (slice.block > 0) {
      dim[slice.dimension].extent = slice.block;
      shape.count *= slice.block;
    }
    *t = whole;
    t->shape = &shape;
    t->buffer.dimensions = shape.rank;
    t->buffer.dim = shape.dim;
    ++t;
  }
  lay_out_saved(saved_offsets);
  memory_ = Memory::none;
  has_call_sizes = false;
}

void Frame::lay_out_block(int32_t slice, bool is_alone) {
  const Shape& shape = *tensor(ATTN_TENSOR(ATTN_SLICES, slice)).shape;
  const Shape& whole = *tensor(function->slices[slice].whole).shape;
  int64_t stride = 1;
  for (int32_t d = 0; d < shape.rank; ++d) {
    shape.dim[d].stride = is_alone ? static_cast<int32_t>(stride) : whole.dim[d].stride;
    stride *= shape.dim[d].extent;
  }
}

void Frame::lay_out_copies(int32_t loop) {
  for (int32_t k = 0; k < function->n_workspace; ++k) {
    const attn_local& local = function->workspace[k];
    if (local.within <= 0 || function->slices[local.within - 1].loop != loop) continue;
    Tensor& copy = tensor(ATTN_TENSOR(ATTN_WORKSPACE, k));
    copy.is_view = copy.data == nullptr;
    copy.shape = copy.is_view ? tensor(ATTN_TENSOR(ATTN_SLICES, local.within - 1)).shape
                              : &shapes[local.shape];
    copy.buffer.dim = copy.shape->dim;
  }
}

}  // namespace attn::rt
