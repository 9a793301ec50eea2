// Memory as a hostile caller gives it: it ends where a page begins that may not be touched, and
// starts as NaN.
#pragma once

#include <cstddef>

namespace attn::testing {

class GuardedMemory {
 public:
  // Room for `bytes` at a multiple of `alignment`; the guard follows within one `alignment`.
  GuardedMemory(size_t bytes, size_t alignment);
  ~GuardedMemory();
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  void* data() const { return data_; }
  // From now on a write is a crash.
  void protect();
  // True while nobody has written a byte.
  bool untouched() const;

 private:
  char* pages_ = nullptr;
  size_t body_ = 0, page_ = 0;
  void* data_ = nullptr;
};

}  // namespace attn::testing
