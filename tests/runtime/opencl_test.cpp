// OpenCL: memory that is kept for reuse, copies, and what becomes of failures. Where there is no
// device of OpenCL, the tests say so and are skipped.
#include <attn/attn.h>
#include <attn/kernel.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/src/execute.h"

extern "C" {
int attn_k_opencl_initialize_kernels(void* user, void** state, const char* source, int bytes);
int attn_k_opencl_run(void* user, void* state, const char* entry, int blocks_x, int blocks_y,
                      int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                      const size_t* sizes, void** arguments, const int8_t* is_buffer);
}

namespace {

class OpenCl : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* why = attn_device_refusal(kDevice)) GTEST_SKIP() << why;
    attn_context_options options = {};
    options.threads = 1;
    options.device = kDevice;
    options.pool_bytes = 1 << 20;
    ASSERT_EQ(attn_context_create(&options, &context_), ATTN_OK);
  }
  ~OpenCl() override { attn_context_destroy(context_); }

  static constexpr attn_device_id kDevice = {ATTN_OPENCL, 0};

  const attn_device& device() const { return *attn_context_device(context_); }

  // Runs `store`, which the source has, with this many threads a group and so much local memory.
  int run(const char* source, void* data, int32_t value, int threads = 1, int local_bytes = 0) {
    void* state = nullptr;
    const int built = attn_k_opencl_initialize_kernels(context_, &state, source,
                                                       static_cast<int>(strlen(source)));
    if (built != 0) return built;
    attn_buffer buffer = {};
    device().bind(context_, &buffer, data);
    const size_t sizes[] = {8, 4, 0};
    void* arguments[] = {&buffer, &value};
    const int8_t is_buffer[] = {1, 0};
    return attn_k_opencl_run(context_, state, "store", 1, 1, 1, threads, 1, 1, local_bytes, sizes,
                             arguments, is_buffer);
  }
  std::string status_text(int code) {
    status_ = attn::rt::kernel_status(context_, "loops y", code);
    return attn_context_message(context_);
  }

  attn_context* context_ = nullptr;
  attn_status status_ = ATTN_OK;
};

constexpr const char* kStore =
    "__kernel void store(__global int* to, int value, __local char* local_memory) {\n"
    "  to[get_global_id(0)] = value;\n"
    "}\n";

TEST_F(OpenCl, FreedMemoryIsReused) {
  void* first = attn_device_allocate(context_, 1000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 128, 0u);
  attn_device_free(context_, first);
  EXPECT_EQ(attn_device_allocate(context_, 990), first);
  void* large = attn_device_allocate(context_, 2 << 20);
  attn_device_free(context_, large);  // more than is kept
  attn_device_free(context_, first);
  attn_context_trim(context_);
  EXPECT_EQ(attn_device_allocate(context_, SIZE_MAX), nullptr);
  attn_context_fail_allocation(context_, 1);
  EXPECT_EQ(attn_device_allocate(context_, 8), nullptr);
}

TEST_F(OpenCl, CopiesKeepTheOrderOfKernels) {
  int32_t* memory = static_cast<int32_t*>(attn_device_allocate(context_, 4 * 3000));
  for (int32_t k = 0; k < 3000; ++k) {
    int32_t value = 2 * k;
    ASSERT_EQ(device().copy_in(context_, memory + k, &value, 4), 0);
    value = -1;
  }
  ASSERT_EQ(run(kStore, memory + 7, 5), 0);
  std::vector<int32_t> got(3000);
  ASSERT_EQ(device().copy_out(context_, got.data(), memory, 12000), 0);
  for (int32_t k = 0; k < 3000; ++k) ASSERT_EQ(got[static_cast<size_t>(k)], k == 7 ? 5 : 2 * k);
  ASSERT_EQ(device().copy_in(context_, memory, got.data() + 1, 4 * 2999), 0);
  ASSERT_EQ(device().zero(context_, memory + 1, 8), 0);
  ASSERT_EQ(device().copy_out(context_, got.data(), memory, 16), 0);
  EXPECT_EQ((std::vector<int32_t>(got.begin(), got.begin() + 4)),
            (std::vector<int32_t>{2, 0, 0, 8}));
  EXPECT_EQ(attn_context_wait(context_), ATTN_OK);
  attn_device_free(context_, memory);
}

TEST_F(OpenCl, FailuresNameTheKernel) {
  void* memory = attn_device_allocate(context_, 4);
  std::string text = status_text(run("__kernel void store(int x) { nonsense }", memory, 0));
  EXPECT_EQ(status_, ATTN_BAD_DEVICE);
  EXPECT_EQ(text.find("opencl:0: kernel loops y: its source does not compile (CL_"), 0u) << text;
  attn_context_wait(context_);
  text = status_text(run("__kernel void load(int x) {}", memory, 0));
  EXPECT_EQ(text.find("opencl:0: kernel loops y: its code lacks a function (CL_"), 0u) << text;
  attn_context_wait(context_);
  text = status_text(run(kStore, memory, 0, 1 << 20));
  EXPECT_EQ(status_, ATTN_BAD_DEVICE);
  EXPECT_EQ(text.find("opencl:0: kernel loops y: groups of 1048576 x 1 x 1 threads with 0 bytes of "
                      "local memory are too much: at most "),
            0u)
      << text;
  EXPECT_EQ(run(kStore, memory, 0), 0);
  attn_device_free(context_, memory);
}

TEST_F(OpenCl, AChildHasNothingOfTheDevice) {
  const pid_t child = fork();
  if (child == 0) {
    const bool is_refused = attn_context_wait(context_) == ATTN_BAD_DEVICE;
    const bool is_said = std::string(attn_context_message(context_)) ==
                         "opencl:0 is of the process that created the context, not of its children";
    _exit(is_refused && is_said ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(attn_context_wait(context_), ATTN_OK);
}

TEST_F(OpenCl, SaysHowManyDevicesThereAre) {
  const char* why = attn_device_refusal({ATTN_OPENCL, INT32_MAX});
  ASSERT_NE(why, nullptr);
  EXPECT_NE(std::string(why).find("with shared virtual memory and doubles"), std::string::npos)
      << why;
}

}  // namespace
