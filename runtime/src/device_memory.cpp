#include "device_memory.h"

#include <string.h>

#include <algorithm>
#include <bit>

namespace attn::rt {
namespace {

constexpr int kSmallestLog = 8;  // 256 bytes
// That kernels may read before and after a tensor.
constexpr size_t kSlack = 128;

// The least class whose size is at least `bytes`: eight to each power of two, since memory that is
// not used is lost here. -1: there is none.
int32_t class_of(size_t bytes, int32_t classes) {
  if (bytes <= (size_t{1} << kSmallestLog)) return 0;
  const int log = std::bit_width(bytes - 1) - 1;  // 2^log <= bytes - 1 < 2^(log + 1)
  const int eighth = static_cast<int>(((bytes - 1) >> (log - 3)) & 7);
  const int32_t result = 8 * (log - kSmallestLog) + eighth + 1;
  return result < classes ? result : -1;
}

size_t bytes_of(int32_t size_class) {
  const int log = kSmallestLog + size_class / 8;
  return (size_t{1} << log) + static_cast<size_t>(size_class % 8) * (size_t{1} << (log - 3));
}

}  // namespace

DeviceMemory::Block** DeviceMemory::place_of(const char* memory) const {
  const uint64_t hash = reinterpret_cast<uint64_t>(memory) / 128 * 0x9e3779b97f4a7c15u;
  return &used_[(hash >> 32) & (places_ - 1)];
}

// Room for one more block in use.
bool DeviceMemory::has_place() {
  if (count_ < places_) return true;
  const size_t old_places = places_, places = std::max<size_t>(64, 2 * places_);
  auto** grown = static_cast<Block**>(attn_allocate(nullptr, places * sizeof(Block*)));
  if (grown == nullptr) return false;
  memset(grown, 0, places * sizeof(Block*));
  Block** old = used_;
  used_ = grown;
  places_ = places;
  for (size_t k = 0; k < old_places; ++k) {
    while (Block* block = old[k]) {
      old[k] = block->next;
      Block** at = place_of(block->memory);
      block->next = *at;
      *at = block;
    }
  }
  attn_free(nullptr, old);
  return true;
}

// A block from the device.
DeviceMemory::Block* DeviceMemory::new_block(attn_context* context, int32_t size_class) {
  auto* block = static_cast<Block*>(attn_allocate(nullptr, sizeof(Block)));
  if (block == nullptr) return nullptr;
  const size_t all = bytes_of(size_class) + 2 * kSlack;
  void* memory = take_(context, all);
  if (memory == nullptr && !is_holding_ && free_bytes_ > 0) {
    release(context, false);
    memory = take_(context, all);
  }
  if (memory == nullptr && !is_holding_ && context->graphs.clear(context)) {
    release(context, false);
    memory = take_(context, all);
  }
  if (memory == nullptr) {
    attn_free(nullptr, block);
    return nullptr;
  }
  block->memory = static_cast<char*>(memory);
  block->size_class = size_class;
  return block;
}

// One that was set aside; null: there is none.
DeviceMemory::Block* DeviceMemory::held_block(int32_t size_class) {
  Block** at = &kept_.blocks;
  while (*at != nullptr && (*at)->size_class != size_class) at = &(*at)->next;
  Block* block = *at;
  if (block == nullptr) return nullptr;
  *at = block->next;
  kept_.bytes -= static_cast<int64_t>(bytes_of(size_class));
  return block;
}

void* DeviceMemory::allocate(attn_context* context, size_t bytes) {
  if (injected_failure(&context->fail_allocation)) return nullptr;
  const int32_t wanted = class_of(bytes, kClasses);
  if (wanted < 0 || !has_place()) return nullptr;
  Block* block = held_block(wanted);
  if (block == nullptr && free_[wanted] != nullptr) {
    block = free_[wanted];
    free_[wanted] = block->next;
    free_bytes_ -= static_cast<int64_t>(bytes_of(wanted));
  } else if (block == nullptr) {
    block = new_block(context, wanted);
    if (block == nullptr) return nullptr;
  }
  block->hold = is_holding_ ? holds_ : 0;
  if (is_holding_) ++kept_.in_use;
  Block** at = place_of(block->memory);
  block->next = *at;
  *at = block;
  ++count_;
  return block->memory + kSlack;
}

void DeviceMemory::free(attn_context* context, void* memory) {
  if (memory == nullptr || places_ == 0) return;
  const char* start = static_cast<char*>(memory) - kSlack;
  Block** at = place_of(start);
  while (*at != nullptr && (*at)->memory != start) at = &(*at)->next;
  Block* block = *at;
  if (block == nullptr) return;
  *at = block->next;
  --count_;
  if (!is_holding_ || block->hold != holds_) return put_away(context, block);
  --kept_.in_use;
  block->next = kept_.blocks;
  kept_.blocks = block;
  kept_.bytes += static_cast<int64_t>(bytes_of(block->size_class));
}

void DeviceMemory::put_away(attn_context* context, Block* block) {
  const int64_t bytes = static_cast<int64_t>(bytes_of(block->size_class));
  if (free_bytes_ + bytes > context->options.pool_bytes) return give_back(context, block);
  block->next = free_[block->size_class];
  free_[block->size_class] = block;
  free_bytes_ += bytes;
}

void DeviceMemory::hold() {
  is_holding_ = true;
  ++holds_;
}

DeviceMemory::Kept DeviceMemory::keep() {
  const Kept kept = kept_;
  kept_ = {};
  is_holding_ = false;
  return kept;
}

void DeviceMemory::drop(attn_context* context, const Kept& kept) {
  Block* block = kept.blocks;
  while (block != nullptr) {
    Block* next = block->next;
    put_away(context, block);
    block = next;
  }
}

void DeviceMemory::give_back(attn_context* context, Block* block) {
  give_(context, block->memory);
  attn_free(nullptr, block);
}

void DeviceMemory::release(attn_context* context, bool all) {
  for (Block*& head : free_) {
    while (Block* block = head) {
      head = block->next;
      give_back(context, block);
    }
  }
  free_bytes_ = 0;
  if (!all) return;
  for (size_t k = 0; k < places_; ++k) {
    while (Block* block = used_[k]) {
      used_[k] = block->next;
      give_back(context, block);
    }
  }
  attn_free(nullptr, used_);
  used_ = nullptr;
  places_ = count_ = 0;
}

}  // namespace attn::rt
