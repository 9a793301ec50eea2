// Runs a function of a program: the one place where kernels are called.
#pragma once

#include "frame.h"

namespace attn::rt {

// The tensors of a call, by groups of the caller (attn_group); of each only the data is looked at.
struct Call {
  const attn_tensor* tensors[ATTN_SAVED] = {};
  void* saved = nullptr;
  void* workspace = nullptr;
};

// Runs the frame's function. Its sizes are known; attn_begin_call was called.
attn_status execute(Frame& frame, const Call& call);

}  // namespace attn::rt
