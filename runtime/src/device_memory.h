// Memory of a device, which the host cannot touch: heads of blocks are on the host. What is freed
// is kept for the next request of its class, also while kernels that were started earlier still use
// it: a context does all its work in one order, so what takes the block runs after them.
#pragma once

#include "context.h"

namespace attn::rt {

class DeviceMemory {
 public:
  // A device's own functions: memory for kernels, aligned to 128 bytes (null: there is none); and
  // its return, after all that was begun with it.
  using Take = void* (*)(attn_context* context, size_t bytes);
  using Give = void (*)(attn_context* context, void* memory);
  DeviceMemory(Take take, Give give) : take_(take), give_(give) {}

  void* allocate(attn_context* context, size_t bytes);
  // Does nothing with memory that is not of this device.
  void free(attn_context* context, void* memory);
  // Gives back what is free; with `all`, what is in use too.
  void release(attn_context* context, bool all);

  // From hold() to keep() nothing is given back, and what was taken and freed meanwhile is set
  // aside for the next request: keep() gives it to the caller, until drop().
  struct Block {
    Block* next;
    char* memory;  // with slack
    int32_t size_class;
    uint32_t hold;  // in which it was taken; 0: in none
  };
  struct Kept {
    Block* blocks = nullptr;
    int64_t bytes = 0;
    int64_t in_use = 0;  // blocks that were taken and not freed
  };
  void hold();
  Kept keep();
  void drop(attn_context* context, const Kept& kept);

 private:
  static constexpr int kClasses = 8 * 40;

  Block** place_of(const char* memory) const;
  bool has_place();
  Block* new_block(attn_context* context, int32_t size_class);
  Block* held_block(int32_t size_class);
  void put_away(attn_context* context, Block* block);
  void give_back(attn_context* context, Block* block);

  Take take_;
  Give give_;
  Block* free_[kClasses] = {};
  int64_t free_bytes_ = 0;
  Block** used_ = nullptr;  // lists of blocks by a hash of their addresses
  size_t places_ = 0;       // a power of two
  size_t count_ = 0;
  bool is_holding_ = false;
  uint32_t holds_ = 0;  // so far
  Kept kept_;
};

// Host memory of copies that have returned and that the device has not made yet.
class Staging {
 public:
  static constexpr size_t kBytes = 64 << 10;
  static constexpr size_t kLargest = 4 << 10;  // of one copy
  char* memory = nullptr;

  // Null: wait for the device, and reset.
  char* room(size_t bytes) {
    if (memory == nullptr || bytes > kLargest || used_ + bytes > kBytes) return nullptr;
    char* room = memory + used_;
    used_ += (bytes + 63) / 64 * 64;
    return room;
  }
  // The device has done all that was begun.
  void reset() { used_ = 0; }

 private:
  size_t used_ = 0;
};

}  // namespace attn::rt
