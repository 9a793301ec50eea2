#include "guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace attn::testing {
namespace {

// In every float format a NaN; as an int -1.
constexpr int kFill = 0xff;

}  // namespace

GuardedMemory::GuardedMemory(size_t bytes, size_t alignment) {
  page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // One page before as well, so that a read just below the first element is seen as one of NaN.
  body_ = (bytes + page_ - 1) / page_ * page_ + page_;
  void* p =
      mmap(nullptr, body_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  pages_ = static_cast<char*>(p);
  std::memset(pages_, kFill, body_);
  mprotect(pages_ + body_, page_, PROT_NONE);
  uintptr_t end = reinterpret_cast<uintptr_t>(pages_ + body_);
  data_ = reinterpret_cast<void*>((end - bytes) / alignment * alignment);
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)),
      body_(other.body_),
      page_(other.page_),
      data_(other.data_) {}

GuardedMemory::~GuardedMemory() {
  if (pages_) munmap(pages_, body_ + page_);
}

void GuardedMemory::protect() { mprotect(pages_, body_, PROT_READ); }

bool GuardedMemory::untouched() const {
  for (size_t k = 0; k < body_; ++k)
    if (static_cast<unsigned char>(pages_[k]) != kFill) return false;
  return true;
}

}  // namespace attn::testing
