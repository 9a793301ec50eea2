// Runs a function of a program: the one place where kernels are called.
#pragma once

#include "frame.h"

namespace attn::rt {

// The tensors of a call, by groups of the caller (attn_group); of each only the data is looked at.
struct Call {
  const attn_tensor* tensors[ATTN_SAVED] = {};
  attn_block saved = {};
  attn_block workspace = {};
  // Where the function's lives are in memory, and what that is lent by; null: as its frame has it.
  const Piece* pieces = nullptr;
  const Loan* loans = nullptr;
};

// While it lives, kernels may run: clears the message, and enters the device's launch scope. On the
// CPU that sets the floating point control register to the state that kernels are compiled for.
class LaunchScope {
 public:
  explicit LaunchScope(attn_context* context) : context_(context) {
    context->message[0] = '\0';
    begun_ = context->device->begin(context);
  }
  ~LaunchScope() { context_->device->end(context_, begun_); }
  LaunchScope(const LaunchScope&) = delete;
  LaunchScope& operator=(const LaunchScope&) = delete;

 private:
  attn_context* context_;
  uint32_t begun_;
};

// Translates what a kernel returned: 0 is ATTN_OK, want of memory ATTN_NO_MEMORY, what the device
// does not do ATTN_BAD_DEVICE, all else a defect (ATTN_INTERNAL). The message names the kernel and
// keeps the text that it left.
attn_status kernel_status(attn_context* context, const char* kernel, int code);

// Runs the frame's function, of which the sizes and the memory are known, in a LaunchScope.
// `may_repeat`: as a call of its own, which a launch graph may do where it comes again.
attn_status execute(Frame& frame, const Call& call, bool may_repeat);

}  // namespace attn::rt
