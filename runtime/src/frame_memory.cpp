// What a call needs in memory beside its tensors, and where it lies.
#include <attn/types.h>

#include <algorithm>
#include <limits>

#include "frame.h"

namespace attn::rt {
namespace {

// Which part of the saved block a life is of; -1: of none.
int32_t saved_of(const attn_life& life) {
  return life.tensor >> 24 == ATTN_SAVED ? life.tensor & 0xffffff : -1;
}

// The loop that runs a kernel of a life; null: none.
const attn_loop* loop_of(const attn_function& f, int32_t moment) {
  const int32_t kernel = f.n_checks + moment - 1;
  const auto has = [=](const attn_loop& loop) { return loop.first <= kernel && kernel < loop.end; };
  const attn_loop* loop = std::find_if(f.loops, f.loops + f.n_loops, has);
  return moment > 0 && loop < f.loops + f.n_loops ? loop : nullptr;
}

}  // namespace

int64_t Frame::bytes(attn_type type, int32_t shape) const {
  int64_t result;
  const bool is_too_large =
      __builtin_mul_overflow(shapes[shape].count, int64_t{attn_type_size(type)}, &result);
  return is_too_large ? std::numeric_limits<int64_t>::max() : result;
}

// The extent of the outermost dimension, at least 1.
int64_t Frame::outermost(int32_t shape) const {
  const Shape& s = shapes[shape];
  return s.dim[s.rank - 1].extent;
}

int64_t Frame::lay_out_saved(int64_t* saved) const {
  int64_t end = aligned_end(0, 8 * (1 + model.n_sizes));
  for (int32_t k = 0; k < program.n_saved; ++k) {
    if (saved != nullptr) saved[k] = end;
    end = aligned_end(end, bytes(program.saved[k].type, program.saved[k].shape));
  }
  return end;
}

attn_local Frame::local(const attn_function& f, int32_t tensor) const {
  const int32_t group = tensor >> 24, k = tensor & 0xffffff;
  if (group == ATTN_SAVED) return program.saved[k];
  if (group == ATTN_WORKSPACE) return f.workspace[k];
  return {type_of(group, k), arguments_of(group)[k].shape};
}

// Whether the memory of a tensor is the caller's. What may be left out is, unless it is looked at.
bool Frame::is_there(const attn_function& f, int32_t tensor) const {
  const int32_t group = tensor >> 24, k = tensor & 0xffffff;
  const std::span<const Use> uses = uses_of(f.kind);
  const auto use = std::ranges::find(uses, group, [](const Use& u) { return u.group; });
  if (use == uses.end() || !use->is_optional) return use != uses.end();
  return given_ != nullptr && given_[group] != nullptr && given_[group][k].data != nullptr;
}

// Whether a call of forward has memory of its own for a part of the saved block.
bool Frame::keeps(const attn_life& life) const {
  const bool is_cpu = context != nullptr && (context->device->id.type == ATTN_CPU ||
                                             context->device->id.type == ATTN_OTHER);
  return memory_ == Memory::together ||
         (memory_ == Memory::unsaved && (life.is_needed != 0 || !is_cpu));
}

// What a function needs in memory, and what of its results' memory it lends. Its first moment is
// `shift`, when data is checked: what is needed then stays in the workspace, so that a call that is
// refused for its data has written nothing of the caller's.
void Frame::add_pieces(const attn_function& f, Piece* to, int32_t shift) {
  const bool is_unsaved = memory_ == Memory::unsaved && f.n_unsaved_lives > 0;
  for (int32_t n = 0; n < f.n_lives; ++n) {
    const attn_life& life = (is_unsaved ? f.unsaved_lives : f.lives)[n];
    const int32_t group = life.tensor >> 24;
    const bool is_given = group >= ATTN_GIVEN_PARAMS && group <= ATTN_GIVEN_OUTPUTS;
    const bool is_forward = f.kind == ATTN_FORWARD;
    Piece& piece = to[n] = {};
    piece.first = shift + life.first;
    piece.last = shift + life.last;
    const bool ends = group == ATTN_WORKSPACE && loop_of(f, life.in_step) != loop_of(f, life.first);
    if (life.in_step > 0) (ends ? piece.rest : piece.start) = shift + life.in_step;
    if (life.over >= 0) piece.over = static_cast<int32_t>(to - pieces) + life.over;
    const attn_local tensor = local(f, life.tensor);
    if (group == ATTN_WORKSPACE && tensor.within > 0)
      piece.copy_of = static_cast<int32_t>(to - pieces) + f.slices[tensor.within - 1].life;
    piece.is_step = life.of_step != 0;
    int64_t size = bytes(tensor.type, tensor.shape);
    if (piece.is_step) size /= life.of_step > 1 ? life.of_step : outermost(tensor.shape);
    piece.element = static_cast<int32_t>(attn_type_size(tensor.type));
    if (is_there(f, life.tensor)) {
      if (is_given) continue;
      piece.lender = life.tensor;
      loans[n_loans_++] = {.tensor = life.tensor,
                           .until = piece.first,
                           .bytes = size,
                           .element = piece.element,
                           .start = piece.start,
                           .tail = tail_of(f, n, size)};
    } else if (group == ATTN_WORKSPACE || (group == ATTN_SAVED && is_forward && keeps(life))) {
      piece.bytes = size;
      piece.is_lent = life.first > 0;
    } else if (group != ATTN_SAVED && life.is_needed != 0) {
      piece.bytes = size;
    }
  }
}

// Where in a result of so many bytes the part begins that a loop over blocks writes in its last
// step alone; -1: no loop does.
int64_t Frame::tail_of(const attn_function& f, int32_t life, int64_t bytes) const {
  const attn_slice* const end = f.slices + f.n_slices;
  const attn_slice* slice = std::find_if(
      f.slices, end, [=](const attn_slice& s) { return s.life == life && s.block > 0; });
  if (slice == end || f.loops[slice->loop].is_down != 0) return -1;
  const attn_local tensor = local(f, slice->whole);
  int64_t block = slice->block * int64_t{attn_type_size(tensor.type)};
  for (int32_t d = 0; d < slice->dimension; ++d) block *= shapes[tensor.shape].dim[d].extent;
  return bytes - block;
}

// A part of the saved block is one piece of both functions' lives: the first, which lives until the
// second ends. The number of turns, which are pieces of their own.
int32_t Frame::join_saved() {
  const attn_function& forward = *program.forward;
  const attn_life* lives = function->lives;
  Piece* own = pieces + forward.n_lives;
  for (int32_t n = 0; n < forward.n_lives; ++n)
    if (saved_of(forward.lives[n]) >= 0) saved_piece_[saved_of(forward.lives[n])] = n;
  for (int32_t n = 0; n < function->n_lives; ++n) {
    if (saved_of(lives[n]) >= 0) pieces[saved_piece_[saved_of(lives[n])]].last = own[n].last;
    const int32_t over = lives[n].over < 0 ? -1 : saved_of(lives[lives[n].over]);
    if (over >= 0) own[n].over = saved_piece_[over];
  }
  Piece* const turns = own + function->n_lives;
  int32_t n_turns = 0;
  for (int32_t n = 0; n < function->n_lives; ++n)
    if (saved_of(lives[n]) >= 0 && is_turned(saved_piece_[saved_of(lives[n])], n))
      split_turn(saved_piece_[saved_of(lives[n])], n, turns + n_turns++);
  return n_turns;
}

// Whether the step that forward computes last is the one that backward takes first, and each step
// of the two takes its own alone.
bool Frame::is_turned(int32_t saved, int32_t own) const {
  const attn_function& forward = *program.forward;
  if (forward.n_unsaved_lives == 0 || forward.unsaved_lives[saved].of_step == 0) return false;
  const attn_loop* up = loop_of(forward, forward.unsaved_lives[saved].first);
  const attn_loop* down = loop_of(*function, function->lives[own].in_step);
  if (up == nullptr || down == nullptr || up->is_down == down->is_down) return false;
  const bool is_alone =
      pieces[saved].over < 0 && std::none_of(pieces, pieces + forward.n_lives + function->n_lives,
                                             [=](const Piece& p) { return p.over == saved; });
  return is_alone && pieces[saved].bytes > 0 && extent(up->count) == extent(down->count);
}

// That step is in memory from its kernel in the last step of forward's loop to its kernel in the
// first step of backward's.
void Frame::split_turn(int32_t saved, int32_t own, Piece* turn) {
  const attn_function& forward = *program.forward;
  Piece& others = pieces[saved];
  *turn = others;
  turn->bytes /= outermost(local(forward, forward.lives[saved].tensor).shape);
  turn->first = forward.unsaved_lives[saved].first;
  turn->last += function->lives[own].in_step - function->lives[own].last;
  turn->is_turn = true;
  others.bytes -= turn->bytes;
  others.turn = turn;
}

// Once memory is laid out: a part of the saved block lies where forward left it.
void Frame::place_saved() {
  Piece* own = pieces + program.forward->n_lives;
  for (int32_t n = 0; n < function->n_lives; ++n)
    if (const int32_t k = saved_of(function->lives[n]); k >= 0) own[n] = pieces[saved_piece_[k]];
}

// Blocks of what stays where it is are read there; whether there are any.
bool Frame::leave_out_copies(std::span<Piece> all) {
  bool result = false;
  for (Piece& copy : all) {
    if (copy.copy_of < 0 || all[static_cast<size_t>(copy.copy_of)].is_at_end) continue;
    copy.bytes = -1;
    all[static_cast<size_t>(copy.copy_of)].rest = 0;
    result = true;
  }
  return result;
}

int64_t Frame::lay_out(Memory memory, const attn_tensor* const* given) {
  const bool is_together = memory == Memory::together;
  given_ = is_together ? given : nullptr;
  bool is_same = memory_ == memory;
  for (int32_t n = 0; is_together && n < function->n_lives; ++n) {
    const uint8_t there = is_there(*function, function->lives[n].tensor);
    is_same = is_same && is_there_[n] == there;
    is_there_[n] = there;
  }
  if (is_same) return workspace_bytes_;
  memory_ = memory;
  n_loans_ = 0;
  int32_t count = function->n_lives;
  if (is_together) {
    const attn_function& forward = *program.forward;
    count += forward.n_lives;
    add_pieces(forward, pieces, 0);
    add_pieces(*function, pieces + forward.n_lives, forward.n_kernels - forward.n_checks + 1);
    count += join_saved();
  } else {
    add_pieces(*function, pieces, 0);
  }
  const std::span<Piece> all(pieces, static_cast<size_t>(count));
  const std::span<Loan> lent(loans, static_cast<size_t>(n_loans_));
  workspace_bytes_ = rt::lay_out(all, lent, order_);
  if (leave_out_copies(all)) workspace_bytes_ = rt::lay_out(all, lent, order_);
  if (is_together) place_saved();
  return workspace_bytes_;
}

}  // namespace attn::rt
