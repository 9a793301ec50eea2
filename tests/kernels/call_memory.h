// The memory of one call: guarded memory of the host, which starts as NaN. A device that does not
// see it gets a mirror, which is filled before each function of the model and read back after it.
#pragma once

#include <vector>

#include "compiler/driver/loaded.h"
#include "guarded_memory.h"

namespace attn::testing {

// Whether kernels work on memory of the host, where a write past a tensor is a crash: those of the
// CPU, and of OpenCL unless ATTN_TEST_MIRROR is set, since its device is the host's processor here.
bool sees_host_memory(attn_device_id device);

class CallMemory {
 public:
  explicit CallMemory(driver::Loaded& library);
  ~CallMemory();
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;

  void* block(int64_t bytes, size_t alignment);
  void* tensor(const attn_tensor& t);
  // One that the call writes.
  void* result(const attn_tensor& t);
  // From now on a write to the last block is a crash; in the mirror, an error of read_back().
  void protect_last();
  bool results_untouched() const;

  // As kernels see it.
  void* shown(void* host) const;
  std::vector<attn_tensor> shown(std::vector<attn_tensor> tensors) const;
  // Around each function of the model. The latter throws where the mirror shows a write before or
  // after a block, or to one that is only read.
  void fill_mirror();
  void read_back();

 private:
  struct Block {
    GuardedMemory host;
    size_t bytes;
    bool is_result, is_protected, is_filled;
    char* mirror;  // with a fringe on both sides; null: the host's memory is seen
    size_t offset;
  };

  driver::Loaded& library_;
  bool is_mirrored_;
  std::vector<Block> blocks_;
};

}  // namespace attn::testing
