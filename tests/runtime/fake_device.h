// A device whose memory the host cannot touch: its addresses are no addresses of the host, so that
// whatever goes round the device's functions crashes. Kernels run on the host, which sees them
// bound.
#pragma once

#include <attn/attn.h>
#include <attn/kernel.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace attn_test {

class FakeDevice {
 public:
  FakeDevice() {
    functions_.id = kId;
    functions_.name = "the fake";
    functions_.state = this;
    functions_.allocate = [](attn_context* c, size_t bytes) { return of(c).allocate(bytes); };
    functions_.free = [](attn_context* c, void* memory) { of(c).release(memory); };
    functions_.copy_in = [](attn_context* c, void* to, const void* host, size_t bytes) {
      of(c).bytes_in += bytes;
      memcpy(of(c).real(to, bytes), host, bytes);
      return of(c).fails;
    };
    functions_.copy_out = [](attn_context* c, void* host, const void* from, size_t bytes) {
      of(c).bytes_out += bytes;
      ++of(c).copies_out;
      memcpy(host, of(c).real(from, bytes), bytes);
      return of(c).fails;
    };
    functions_.zero = [](attn_context* c, void* memory, size_t bytes) {
      memset(of(c).real(memory, bytes), 0, bytes);
      return of(c).fails;
    };
    functions_.begin = [](attn_context* c) { return static_cast<uint32_t>(++of(c).begun); };
    functions_.end = [](attn_context* c, uint32_t which) { of(c).ended += which; };
    functions_.wait = [](attn_context* c) {
      ++of(c).waits;
      return 0;
    };
    functions_.bind = [](attn_context* c, attn_buffer* buffer, void* data) {
      buffer->host = data == nullptr ? nullptr : of(c).real(data, 0);
    };
  }
  ~FakeDevice() { EXPECT_TRUE(blocks_.empty()) << blocks_.size() << " blocks were not freed"; }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  static constexpr attn_device_id kId = {ATTN_OTHER, 3};

  attn_context_options options() const {
    attn_context_options o = {};
    o.threads = 1;
    o.device = kId;
    o.device_functions = &functions_;
    return o;
  }

  size_t bytes_in = 0, bytes_out = 0, copies_out = 0, begun = 0, ended = 0, waits = 0;
  int fails = 0;

 private:
  static constexpr uintptr_t kShift = uintptr_t{1} << 62;

  static FakeDevice& of(attn_context* context) {
    return *static_cast<FakeDevice*>(attn_context_device(context)->state);
  }

  void* allocate(size_t bytes) {
    char* block = static_cast<char*>(attn_allocate(nullptr, bytes));
    blocks_[block] = bytes;
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(block) + kShift);
  }
  void release(void* memory) {
    char* block = real(memory, 0);
    EXPECT_EQ(blocks_.erase(block), 1u);
    attn_free(nullptr, block);
  }
  // Where bytes of ours are on the host.
  char* real(const void* memory, size_t bytes) {
    char* at = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(memory) - kShift);
    auto it = blocks_.upper_bound(at);
    const bool is_ours = it != blocks_.begin() && (--it, at + bytes <= it->first + it->second);
    if (!is_ours) {
      ADD_FAILURE() << "no memory of the device: " << memory;
      abort();
    }
    return at;
  }

  attn_device functions_ = {};
  std::map<char*, size_t> blocks_;
};

// A tensor in memory of a context's device.
class DeviceTensor {
 public:
  DeviceTensor(attn_context* context, const attn_tensor& shape) : context_(context), view_(shape) {
    int64_t count = 8;
    for (int32_t k = 0; k < shape.rank; ++k) count *= shape.extent[k];
    view_.data = attn_device_allocate(context, static_cast<size_t>(count));
    view_.device = attn_context_device(context)->id;
  }
  ~DeviceTensor() { attn_device_free(context_, view_.data); }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  const attn_tensor& view() const { return view_; }

 private:
  attn_context* context_;
  attn_tensor view_;
};

}  // namespace attn_test
