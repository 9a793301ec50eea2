// Memory on CUDA: what is kept for reuse, and copies that return before they are made.
#include <set>

#include "context.h"
#include "runtime/src/execute.h"

namespace {

TEST_F(Cuda, FreedMemoryIsReusedByItsClass) {
  Owned context(on(0));
  std::set<void*> all;
  for (const size_t bytes : {0u, 1u, 256u, 257u, 300u, 4097u, 1u << 20, (1u << 20) + 1}) {
    void* memory = attn_device_allocate(context, bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 128, 0u);
    // Slack on both sides.
    EXPECT_NE(fake_cuda::real(reinterpret_cast<uint64_t>(memory) - 128, bytes + 256), nullptr);
    attn_device_free(context, memory);
    EXPECT_EQ(attn_device_allocate(context, bytes), memory);
    all.insert(memory);
  }
  EXPECT_EQ(all.size(), 8u);
  const int allocated = fake_cuda::calls("cuMemAlloc");
  for (void* memory : all) attn_device_free(context, memory);
  EXPECT_EQ(fake_cuda::calls("cuMemFree"), 0);
  for (const size_t bytes : {1u << 20, 4097u}) attn_device_allocate(context, bytes);
  EXPECT_EQ(fake_cuda::calls("cuMemAlloc"), allocated);
}

TEST_F(Cuda, AClassWastesAtMostAnEighth) {
  Owned context(on(0));
  for (size_t bytes = 1000; bytes < 100000000; bytes = bytes * 10 / 9) {
    const size_t before = fake_cuda::device_bytes();
    attn_device_allocate(context, bytes);
    const size_t taken = fake_cuda::device_bytes() - before;
    EXPECT_GE(taken, bytes + 256);
    EXPECT_LE(taken, bytes + bytes / 8 + 257);
    attn_context_trim(context);
  }
}

TEST_F(Cuda, ManyBlocksAreFoundAgain) {
  Owned context(on(0));
  std::vector<void*> blocks;
  for (int k = 0; k < 1000; ++k) blocks.push_back(attn_device_allocate(context, 8));
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 1000u);
  for (void* block : blocks) attn_device_free(context, block);
  int somewhere;
  attn_device_free(context, &somewhere);  // none of its
  attn_device_free(context, blocks[0]);   // not in use
  attn_context_trim(context);
  EXPECT_EQ(fake_cuda::device_bytes(), 0u);
}

TEST_F(Cuda, KeepsAtMostPoolBytes) {
  attn_context_options options = on(0);
  options.pool_bytes = 4096;
  Owned few(options);
  attn_device_free(few, attn_device_allocate(few, 4096));
  attn_device_free(few, attn_device_allocate(few, 5000));
  EXPECT_EQ(fake_cuda::calls("cuMemFree"), 1);
  options.pool_bytes = -1;
  Owned none(options);
  attn_device_free(none, attn_device_allocate(none, 8));
  EXPECT_EQ(fake_cuda::calls("cuMemFree"), 2);
}

TEST_F(Cuda, WantOfMemoryTakesBackWhatIsKept) {
  Owned context(on(0));
  attn_device_free(context, attn_device_allocate(context, 4096));
  fake_cuda::fail("cuMemAlloc", 1, 2);
  void* memory = attn_device_allocate(context, 8192);
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(fake_cuda::calls("cuMemFree"), 1);
  fake_cuda::fail("cuMemAlloc", 1, 2);
  EXPECT_EQ(attn_device_allocate(context, 9000), nullptr);
  EXPECT_EQ(attn_device_allocate(context, SIZE_MAX), nullptr);
  EXPECT_EQ(attn_device_allocate(context, size_t{1} << 40), nullptr);
  attn_context_fail_allocation(context, 1);
  EXPECT_EQ(attn_device_allocate(context, 8), nullptr);
  attn_device_free(context, memory);
}

TEST_F(Cuda, SaysHowMuchAKernelWanted) {
  Owned context(on(0));
  attn_buffer buffer = {};
  attn_dimension dim[] = {{0, 1 << 20, 1, 0}, {0, 1 << 14, 1 << 20, 0}};
  buffer.type = {2, 32, 1};
  buffer.dimensions = 2;
  buffer.dim = dim;
  const int code = attn_k_device_malloc(context, &buffer, nullptr);
  EXPECT_EQ(attn::rt::kernel_status(context, "contraction q", code), ATTN_NO_MEMORY);
  EXPECT_EQ(context.message(),
            "out of memory in contraction q: 68719476736 bytes between its launches");
}

// The stream is in order: what takes a freed block runs after its last reader.
TEST_F(Cuda, ReuseNeedsNoWaiting) {
  fake_cuda::set_kernel("one", OneKernel::kernel());
  Owned context(on(0));
  OneKernel kernel;
  for (int k = 0; k < 50; ++k) {
    attn_buffer buffer = {};
    attn_dimension dim[] = {{0, 5, 1, 0}};
    buffer.type = {2, 32, 1};
    buffer.dimensions = 1;
    buffer.dim = dim;
    EXPECT_EQ(attn_k_device_malloc(context, &buffer, nullptr), 0);
    EXPECT_EQ(kernel.launch(context, reinterpret_cast<void*>(buffer.device), k), 0);
    EXPECT_EQ(attn_k_device_free(context, &buffer), 0);
  }
  EXPECT_EQ(fake_cuda::calls("cuMemAlloc"), 1);
  EXPECT_EQ(fake_cuda::calls("cuStreamSynchronize"), 0);
  EXPECT_EQ(attn_context_wait(context), ATTN_OK);
  EXPECT_EQ(fake_cuda::launches().size(), 50u);
}

TEST_F(Cuda, SmallCopiesInDoNotWait) {
  Owned context(on(0));
  char* memory = static_cast<char*>(attn_device_allocate(context, 1 << 20));
  std::vector<int64_t> got(5000);
  for (int64_t k = 0; k < 900; ++k) {
    int64_t value = 3 * k;
    EXPECT_EQ(context.device().copy_in(context, memory + 8 * k, &value, 8), 0);
    value = -1;  // the caller's memory is its own again
  }
  EXPECT_EQ(fake_cuda::calls("cuStreamSynchronize"), 0);
  // There is an end of the memory for such copies.
  for (int64_t k = 900; k < 5000; ++k) {
    const int64_t value = 3 * k;
    EXPECT_EQ(context.device().copy_in(context, memory + 8 * k, &value, 8), 0);
  }
  EXPECT_EQ(context.device().copy_out(context, got.data(), memory, 40000), 0);
  for (int64_t k = 0; k < 5000; ++k) ASSERT_EQ(got[static_cast<size_t>(k)], 3 * k);
  EXPECT_EQ(fake_cuda::calls("cuStreamSynchronize"), 5);
}

TEST_F(Cuda, LargeCopiesAreDoneOnReturn) {
  Owned context(on(0));
  std::vector<float> from(100000), to(100000);
  for (size_t k = 0; k < from.size(); ++k) from[k] = static_cast<float>(k);
  const std::vector<float> before = from;
  void* memory = attn_device_allocate(context, 400000);
  EXPECT_EQ(context.device().copy_in(context, memory, from.data(), 400000), 0);
  from.assign(from.size(), 0);
  EXPECT_EQ(context.device().copy_out(context, to.data(), memory, 400000), 0);
  EXPECT_EQ(to, before);
  EXPECT_EQ(context.device().zero(context, memory, 400000), 0);
  EXPECT_EQ(context.device().copy_out(context, to.data(), memory, 400000), 0);
  EXPECT_EQ(to, from);
  EXPECT_EQ(context.device().copy_in(context, memory, nullptr, 0), 0);
  EXPECT_EQ(context.device().zero(context, nullptr, 0), 0);
}

}  // namespace
