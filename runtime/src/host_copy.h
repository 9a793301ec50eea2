// The elements of a tensor as host memory, wherever they are.
#pragma once

#include <attn/attn.h>

namespace attn::rt {

// The tensor itself where it is on the host; else a copy, which may be written back.
class HostCopy {
 public:
  // `read`: whether the copy begins with the elements. `memory` is used for it where given.
  HostCopy(attn_context* context, const attn_tensor& tensor, bool read, void* memory = nullptr);
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  attn_status status() const { return status_; }  // its text is in the context
  const attn_tensor& tensor() const { return tensor_; }
  void* memory() const { return staged_; }  // null where there is no copy
  // Stores the elements; nothing where they were no copy.
  attn_status write_to(const attn_tensor& tensor);

 private:
  attn_context* context_;
  attn_tensor tensor_;
  void* staged_ = nullptr;
  bool is_own_ = false;
  size_t bytes_ = 0;
  attn_status status_ = ATTN_OK;
};

}  // namespace attn::rt
