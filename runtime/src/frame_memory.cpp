// What a call needs in memory beside its tensors, and where it lies.
#include <attn/types.h>

#include <algorithm>
#include <limits>

#include "frame.h"

namespace attn::rt {

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
    if (life.over >= 0) piece.over = static_cast<int32_t>(to - pieces) + life.over;
    const attn_local tensor = local(f, life.tensor);
    piece.is_step = life.of_step != 0;
    const int64_t size =
        bytes(tensor.type, tensor.shape) / (piece.is_step ? outermost(tensor.shape) : 1);
    piece.element = static_cast<int32_t>(attn_type_size(tensor.type));
    if (is_there(f, life.tensor)) {
      if (is_given) continue;
      piece.lender = life.tensor;
      loans[n_loans_++] = {life.tensor, piece.first, size, piece.element};
    } else if (group == ATTN_WORKSPACE ||
               (group == ATTN_SAVED && is_forward && memory_ != Memory::own)) {
      piece.bytes = size;
      piece.is_lent = life.first > 0;
    } else if (group != ATTN_SAVED && life.is_needed != 0) {
      piece.bytes = size;
    }
  }
}

// A part of the saved block is one part of both functions' lives: the first, which lives until the
// second ends; once memory is laid out, the second lies where it lies.
void Frame::join_saved(bool is_laid_out) {
  const attn_function& forward = *program.forward;
  const attn_life* lives = function->lives;
  Piece* own = pieces + forward.n_lives;
  const auto saved_of = [](const attn_life& life) {
    return life.tensor >> 24 == ATTN_SAVED ? life.tensor & 0xffffff : -1;
  };
  for (int32_t n = 0; n < forward.n_lives; ++n)
    if (saved_of(forward.lives[n]) >= 0) saved_piece_[saved_of(forward.lives[n])] = n;
  for (int32_t n = 0; n < function->n_lives; ++n) {
    if (saved_of(lives[n]) >= 0) {
      Piece& first = pieces[saved_piece_[saved_of(lives[n])]];
      if (is_laid_out)
        own[n] = first;
      else
        first.last = own[n].last;
    }
    const int32_t over = is_laid_out || lives[n].over < 0 ? -1 : saved_of(lives[lives[n].over]);
    if (over >= 0) own[n].over = saved_piece_[over];
  }
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
    join_saved(false);
  } else {
    add_pieces(*function, pieces, 0);
  }
  workspace_bytes_ = rt::lay_out({pieces, static_cast<size_t>(count)},
                                 {loans, static_cast<size_t>(n_loans_)}, order_);
  if (is_together) join_saved(true);
  return workspace_bytes_;
}

}  // namespace attn::rt
