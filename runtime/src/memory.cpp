// The pooled allocator: free lists by size class, four classes to each power of two. On small calls
// it is worth a factor of two over the system's allocator.
#include <stdlib.h>

#include <bit>

#include "context.h"

namespace attn::rt {
namespace {

constinit thread_local Worker* t_worker = nullptr;  // that this thread is

constexpr int kSmallestLog = 6;  // 64 bytes
// Kernels may read a vector past the end.
constexpr size_t kSlack = 128;

// The least class whose size is at least `bytes`; -1 when there is none.
int size_class(size_t bytes) {
  if (bytes <= (size_t{1} << kSmallestLog)) return 0;
  const int log = std::bit_width(bytes - 1) - 1;  // 2^log <= bytes - 1 < 2^(log + 1)
  const int quarter = static_cast<int>(((bytes - 1) >> (log - 2)) & 3);
  const int result = 4 * (log - kSmallestLog) + quarter + 1;
  return result < kSizeClasses ? result : -1;
}

size_t class_bytes(int size_class) {
  const int log = kSmallestLog + size_class / 4;
  return (size_t{1} << log) + static_cast<size_t>(size_class % 4) * (size_t{1} << (log - 2));
}

FreeLists* lists_of(attn_context* context) {
  const bool is_worker = t_worker != nullptr && t_worker->context == context;
  return is_worker ? &t_worker->lists : &context->lists;
}

}  // namespace

void become_worker(Worker* worker) { t_worker = worker; }

bool injected_failure(std::atomic<int64_t>* countdown) {
  if (countdown->load(std::memory_order_relaxed) <= 0) return false;
  return countdown->fetch_sub(1, std::memory_order_relaxed) == 1;
}

void release_lists(FreeLists* lists) {
  for (Block*& head : lists->heads) {
    while (head != nullptr) {
      Block* next = head->next;
      free(head);
      head = next;
    }
  }
  lists->bytes = 0;
}

void release_cached(attn_context* context) {
  while (context->cached != nullptr) {
    Cached* cached = context->cached;
    context->cached = cached->next;
    attn_free(context, cached);
  }
}

void* exact_allocate(attn_context* context, size_t bytes) {
  if (context != nullptr && injected_failure(&context->fail_allocation)) return nullptr;
  return attn_allocate(nullptr, bytes);
}

}  // namespace attn::rt

using namespace attn::rt;

void* attn_allocate(attn_context* context, size_t bytes) {
  const int wanted = size_class(bytes);
  size_t total = wanted >= 0 ? class_bytes(wanted) : bytes;
  if (context != nullptr) {
    if (injected_failure(&context->fail_allocation)) return nullptr;
    FreeLists* lists = lists_of(context);
    if (wanted >= 0 && lists->heads[wanted] != nullptr) {
      Block* block = lists->heads[wanted];
      lists->heads[wanted] = block->next;
      lists->bytes -= static_cast<int64_t>(total);
      return block + 1;
    }
  } else {
    total = bytes;  // nobody will keep it: no need to round up
  }
  if (__builtin_add_overflow(total, sizeof(Block) + kSlack, &total)) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Block), total) != 0) return nullptr;
  Block* block = static_cast<Block*>(memory);
  block->next = nullptr;
  block->size_class = context != nullptr ? wanted : -1;
  return block + 1;
}

void attn_free(attn_context* context, void* memory) {
  if (memory == nullptr) return;
  Block* block = static_cast<Block*>(memory) - 1;
  if (context != nullptr && block->size_class >= 0) {
    const int held = static_cast<int>(block->size_class);
    const int64_t bytes = static_cast<int64_t>(class_bytes(held));
    FreeLists* lists = lists_of(context);
    if (lists->bytes + bytes <= lists->limit) {
      block->next = lists->heads[held];
      lists->heads[held] = block;
      lists->bytes += bytes;
      return;
    }
  }
  free(block);
}

extern "C" void* attn_k_malloc(void* context, size_t bytes) {
  return attn_allocate(static_cast<attn_context*>(context), bytes);
}

extern "C" void attn_k_free(void* context, void* memory) {
  attn_free(static_cast<attn_context*>(context), memory);
}
