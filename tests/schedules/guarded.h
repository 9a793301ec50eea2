// Buffers for kernels under test: the element after the last lies on a page that may not be
// touched, and outputs start as NaN.
#pragma once

#include <Halide.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace attn {

template <typename T>
class Guarded {
 public:
  // Extents innermost first, as Halide counts.
  explicit Guarded(const std::vector<int>& extents) {
    size_t count = 1;
    for (int extent : extents) count *= extent;
    const size_t page = sysconf(_SC_PAGESIZE);
    const size_t body = (count * sizeof(T) + page - 1) / page * page;
    bytes_ = body + page;
    memory_ = static_cast<char*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + body, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(memory_ + body) - count;
    count_ = count;
    buffer_ = Halide::Buffer<T>(data_, extents);
    for (size_t i = 0; i < count; ++i) data_[i] = std::numeric_limits<T>::quiet_NaN();
  }
  ~Guarded() { munmap(memory_, bytes_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  void randomise(uint32_t seed, double low = -1, double high = 1) {
    std::minstd_rand engine(seed);
    std::uniform_real_distribution<double> values(low, high);
    for (size_t i = 0; i < count_; ++i) data_[i] = static_cast<T>(values(engine));
  }
  Halide::Buffer<T>& buffer() { return buffer_; }
  T* data() { return data_; }
  T operator[](size_t i) const { return data_[i]; }
  size_t size() const { return count_; }

 private:
  char* memory_ = nullptr;
  size_t bytes_ = 0, count_ = 0;
  T* data_ = nullptr;
  Halide::Buffer<T> buffer_;
};

// Runs a kernel; its refusal is a failure of the test with the kernel's words.
template <typename Kernel, typename... Buffers>
void run_kernel(Kernel& kernel, Buffers&... outputs) {
  try {
    kernel.realize({outputs.buffer()...});
  } catch (const Halide::Error& error) {
    ADD_FAILURE() << error.what();
  }
}

}  // namespace attn
