#include "call_memory.h"

#include <attn/types.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace attn::testing {
namespace {

// What lies around a block of the mirror, and starts as NaN.
constexpr size_t kFringe = 512;

}  // namespace

bool sees_host_memory(attn_device_id device) {
  const char* chosen = getenv("ATTN_TEST_MIRROR");
  const bool is_asked_for = chosen != nullptr && *chosen != '\0';
  return device.type == ATTN_CPU || (device.type == ATTN_OPENCL && !is_asked_for);
}

CallMemory::CallMemory(driver::Loaded& library)
    : library_(library), is_mirrored_(!sees_host_memory(library.device().id)) {}

CallMemory::~CallMemory() {
  for (const Block& b : blocks_)
    if (b.mirror != nullptr) library_.device().free(library_.context(), b.mirror);
}

void* CallMemory::block(int64_t bytes, size_t alignment) {
  const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 0));
  Block b{GuardedMemory(size, alignment), size, false, false, false, nullptr, 0};
  if (is_mirrored_) {
    // Aligned to no more than was asked for, but for every second one: kernels may ask whether it
    // is.
    const bool is_aligned = alignment >= 64 || blocks_.size() % 2 == 0;
    b.offset = kFringe + (is_aligned ? 0 : alignment);
    const size_t all = size + 2 * kFringe + 64;
    b.mirror = static_cast<char*>(library_.device().allocate(library_.context(), all));
    if (b.mirror == nullptr) throw std::runtime_error("no memory on the device");
    const std::vector<char> nan(all, static_cast<char>(0xff));
    library_.device().copy_in(library_.context(), b.mirror, nan.data(), all);
  }
  blocks_.push_back(std::move(b));
  return blocks_.back().host.data();
}

void* CallMemory::tensor(const attn_tensor& t) {
  const int64_t element = attn_type_size(t.type);
  return block(driver::count_of(t) * element, static_cast<size_t>(element));
}

void* CallMemory::result(const attn_tensor& t) {
  void* p = tensor(t);
  blocks_.back().is_result = true;
  return p;
}

void CallMemory::protect_last() {
  blocks_.back().is_protected = true;
  blocks_.back().host.protect();
}

bool CallMemory::results_untouched() const {
  return std::all_of(blocks_.begin(), blocks_.end(),
                     [](const Block& b) { return !b.is_result || b.host.untouched(); });
}

void* CallMemory::shown(void* host) const {
  for (const Block& b : blocks_)
    if (b.mirror != nullptr && b.host.data() == host) return b.mirror + b.offset;
  return host;
}

std::vector<attn_tensor> CallMemory::shown(std::vector<attn_tensor> tensors) const {
  for (attn_tensor& t : tensors)
    if (t.data != nullptr) t.data = shown(t.data);
  return tensors;
}

void CallMemory::fill_mirror() {
  for (Block& b : blocks_) {
    if (b.mirror == nullptr || b.bytes == 0) continue;
    b.is_filled = true;
    if (library_.device().copy_in(library_.context(), b.mirror + b.offset, b.host.data(),
                                  b.bytes) != 0)
      throw std::runtime_error(library_.message());
  }
}

void CallMemory::read_back() {
  for (Block& b : blocks_) {
    if (b.mirror == nullptr || !b.is_filled) continue;
    std::vector<char> all(b.bytes + 2 * kFringe + 64);
    if (library_.device().copy_out(library_.context(), all.data(), b.mirror, all.size()) != 0)
      throw std::runtime_error(library_.message());
    const auto is_fill = [](char byte) { return static_cast<unsigned char>(byte) == 0xff; };
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(b.offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(b.bytes);
    if (!std::all_of(all.begin(), begin, is_fill) || !std::all_of(end, all.end(), is_fill))
      throw std::runtime_error("a kernel wrote beside a tensor");
    if (b.is_protected && memcmp(&*begin, b.host.data(), b.bytes) != 0)
      throw std::runtime_error("a kernel wrote to what it only reads");
    if (!b.is_protected) memcpy(b.host.data(), &*begin, b.bytes);
  }
}

}  // namespace attn::testing
