// Where the tensors of a call lie in memory, each for the time that it is needed.
#pragma once

#include <stdint.h>

#include <span>

namespace attn::rt {

struct Piece {
  int64_t bytes = -1;           // below 0: it lies elsewhere
  int32_t lender = -1;          // of what lies elsewhere: the tensor of its loan; -1: none
  int32_t first = 0, last = 0;  // when it is needed, both included
  int32_t start = 0;  // if after `first`: when it is needed first in the first step of a loop
  // If not 0: it ends with a loop, each step of which takes a block of its own, and the last step
  // does not need it after this.
  int32_t rest = 0;
  int32_t over = -1;     // a piece of as many bytes whose memory it may take as that ends; -1: none
  int32_t element = 1;   // its bytes
  bool is_lent = false;  // whether a loan may hold it
  bool is_step = false;  // of a recurrence's tensor: each step lies there in turn
  // Of one step: the last of the loop where `first` is, the first of the loop where `last` is.
  bool is_turn = false;
  int32_t copy_of = -1;         // the piece of which it has a block; -1: of none
  const Piece* turn = nullptr;  // of that step, of a tensor the other steps of which lie here
  // Set by lay_out:
  int32_t loan = -1;       // of the loans; -1: the workspace
  int64_t offset = 0;      // in the workspace, or after the first byte of the loan
  bool is_at_end = false;  // in what the last step of a loop writes: it is there until its `rest`
  // Of lay_out's own:
  int32_t heir = -1;  // the tensor of a loan that takes the memory of this one or of those after it
  int32_t after = -1;  // the piece that takes the memory of this one
  int32_t end = 0;     // of the last of those
  int32_t above = -1;  // the piece that is the next in memory
};

// Memory of a tensor of the caller that holds nothing before the moment `until`.
struct Loan {
  int32_t tensor, until;
  int64_t bytes;
  int32_t element = 1;  // its bytes, of which the address of the data is a multiple
  int32_t lowest = -1;  // of the pieces in it
  int32_t start = 0;    // as of a piece
  // What lies from here on holds nothing before `start` in the last step of that loop; -1: nothing.
  int64_t tail = -1;
};

// Gives every piece memory: of a loan that is free until it ends, else of the workspace; of the
// loans the one that ends first, and pieces by their size or, where that needs less, by their size
// and time, the largest first. Sorts the loans. `order` has room for as many as there are pieces.
// The bytes of the workspace.
int64_t lay_out(std::span<Piece> pieces, std::span<Loan> loans, int32_t* order);

// Where the next piece may begin after one of so many bytes.
int64_t aligned_end(int64_t at, int64_t bytes);

}  // namespace attn::rt
