// Contexts on the fake driver, which is in order at the end of each test.
#pragma once

#include <attn/attn.h>
#include <attn/kernel.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device_model.h"
#include "fake_cuda.h"

class Cuda : public testing::Test {
 protected:
  Cuda() {
    fake_cuda::reset();
    set_device_kernels();
    set_device_text(nullptr);
    device_target().capability = 80;
  }
  ~Cuda() override {
    EXPECT_EQ(fake_cuda::complaints(), "");
    EXPECT_EQ(fake_cuda::left(), "");
    fake_cuda::reset();
  }

  static attn_context_options on(int32_t ordinal) {
    attn_context_options options = {};
    options.threads = 1;
    options.device = {ATTN_CUDA, ordinal};
    return options;
  }

  // What a context that cannot be had leaves in the log.
  static std::string refusal(attn_context_options options) {
    std::string logged;
    options.log_data = &logged;
    options.log = [](void* data, attn_log_level, const char* text) {
      *static_cast<std::string*>(data) = text;
    };
    attn_context* context = nullptr;
    EXPECT_EQ(attn_context_create(&options, &context), ATTN_REFUSED);
    EXPECT_EQ(context, nullptr);
    return logged;
  }
};

struct Owned {
  attn_context* context = nullptr;
  explicit Owned(const attn_context_options& options) {
    EXPECT_EQ(attn_context_create(&options, &context), ATTN_OK);
  }
  ~Owned() { attn_context_destroy(context); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator attn_context*() const { return context; }
  const attn_device& device() const { return *attn_context_device(context); }
  std::string message() const { return attn_context_message(context); }
};

// A kernel with one tensor and one integer, which is launched in this shape.
struct OneKernel {
  void* state = nullptr;
  int blocks[3] = {1, 1, 1}, threads[3] = {32, 1, 1}, shared_bytes = 0;
  const char* name = "one";
  const char* text = "good";

  int launch(attn_context* context, void* data = nullptr, int32_t value = 0) {
    if (const int code = attn_k_cuda_initialize_kernels(context, &state, text, 1)) return code;
    attn_buffer buffer = {};
    attn_context_device(context)->bind(context, &buffer, data);
    const size_t sizes[] = {8, 4, 0};
    void* arguments[] = {&buffer, &value};
    const int8_t is_buffer[] = {1, 0};
    return attn_k_cuda_run(context, state, name, blocks[0], blocks[1], blocks[2], threads[0],
                           threads[1], threads[2], shared_bytes, sizes, arguments, is_buffer);
  }
  // Stores the integer.
  static fake_cuda::Kernel kernel(int registers = 32) {
    return {[](const fake_cuda::Launch& l) {
              char* to = fake_cuda::real(l.arguments[0], 4);
              if (to == nullptr) return 700;
              std::memcpy(to, &l.arguments[1], 4);
              return 0;
            },
            {8, 4},
            registers};
  }
};
