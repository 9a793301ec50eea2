// A call of the model `word` with all its tensors, each between canaries and before a page that
// must not be touched.
#pragma once

#include <attn/model.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "calls.h"

namespace attn::testing {

// Bytes that end at a page without access.
class Fenced {
 public:
  explicit Fenced(size_t bytes) : bytes_(bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t body = (bytes + page) / page * page;
    total_ = body + page;
    memory_ = static_cast<char*>(
        mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + body, page, PROT_NONE);
    data_ = memory_ + body - (bytes + 15) / 16 * 16;
    memset(memory_, 0x5a, body);
  }
  ~Fenced() { munmap(memory_, total_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  char* data() const { return data_; }
  size_t size() const { return bytes_; }
  // Nothing before or behind the bytes has changed.
  bool canaries_live() const {
    for (const char* p = memory_; p < data_; ++p)
      if (*p != 0x5a) return false;
    for (const char* p = data_ + bytes_; p < data_ + (bytes_ + 15) / 16 * 16; ++p)
      if (*p != 0x5a) return false;
    return true;
  }
  std::string bytes() const { return {data_, bytes_}; }

 private:
  size_t bytes_, total_;
  char *memory_, *data_;
};

inline size_t bytes_of(const attn_tensor& t) {
  size_t n = t.type == ATTN_BOOL ? 1 : 4;
  for (int k = 0; k < t.rank; ++k) n *= static_cast<size_t>(t.extent[k]);
  return n;
}

struct Word {
  static constexpr int64_t D = 4, V = 6;
  int64_t b, t;
  attn_context* context = nullptr;
  word_params params{}, param_gradients{};
  word_inputs inputs{}, input_gradients{};
  word_outputs outputs{}, cotangents{};
  std::vector<std::unique_ptr<Fenced>> memory;
  std::vector<Fenced*> written;  // what calls write: outputs, gradients
  attn_block saved{}, workspace{};
  attn_sizes bytes{};

  Word(int64_t rows, int64_t columns, int threads = 2) : b(rows), t(columns) {
    attn_context_options options{};
    options.threads = threads;
    EXPECT_EQ(attn_context_create(&options, &context), ATTN_OK);
    const int64_t sizes[] = {b, t};
    attn_shapes(word_model(), sizes, &params.table, &inputs.token, &outputs.y);
    param_gradients = params;
    input_gradients = inputs;
    cotangents = outputs;
    for (attn_tensor* x : {&params.table, &params.w, &params.c, &inputs.x, &inputs.scale,
                           &cotangents.y, &cotangents.loss})
      fill(*x);
    for (attn_tensor* x : {&inputs.token, &inputs.keep}) fill(*x);
    for (attn_tensor* x :
         {&outputs.y, &outputs.loss, &outputs.best, &param_gradients.table, &param_gradients.w,
          &param_gradients.c, &input_gradients.x, &input_gradients.scale}) {
      allocate(*x);
      written.push_back(memory.back().get());
    }
    EXPECT_EQ(word_sizes(context, &params, &inputs, &bytes), ATTN_OK) << message();
    saved = allocated(bytes.saved);
    workspace = allocated(std::max(bytes.forward_workspace, bytes.backward_workspace));
    clear();
  }
  ~Word() {
    attn_free(context, saved.data);
    attn_free(context, workspace.data);
    attn_context_destroy(context);
  }
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  attn_block allocated(int64_t count) const {
    return {attn_allocate(context, static_cast<size_t>(count)), count};
  }
  void allocate(attn_tensor& x) {
    memory.push_back(std::make_unique<Fenced>(bytes_of(x)));
    x.data = memory.back()->data();
  }
  void fill(attn_tensor& x) {
    allocate(x);
    const size_t n = bytes_of(x) / (x.type == ATTN_BOOL ? 1 : 4);
    for (size_t k = 0; k < n; ++k) {
      if (x.type == ATTN_F32) static_cast<float*>(x.data)[k] = std::sin(1.7f * float(k) + x.rank);
      if (x.type == ATTN_I32) static_cast<int32_t*>(x.data)[k] = static_cast<int32_t>(k % V);
      if (x.type == ATTN_BOOL) static_cast<uint8_t*>(x.data)[k] = k % 3 != 1;
    }
  }
  // Fills what calls write with a pattern that is a NaN.
  void clear() {
    for (Fenced* f : written) memset(f->data(), 0xff, f->size());
  }
  bool untouched() const {
    for (const Fenced* f : written)
      if (f->bytes() != std::string(f->size(), '\xff')) return false;
    return true;
  }
  std::string results() const {
    std::string all;
    for (const Fenced* f : written) all += f->bytes();
    return all;
  }
  void expect_fences() const {
    for (const auto& f : memory) EXPECT_TRUE(f->canaries_live());
  }
  std::string message() const { return attn_context_message(context); }
  attn_status forward() {
    return word_forward(context, &params, &inputs, &outputs, saved, workspace);
  }
  attn_status backward() {
    return word_backward(context, &params, &inputs, &outputs, saved, &cotangents, &param_gradients,
                         &input_gradients, workspace);
  }
  std::string both() {
    EXPECT_EQ(forward(), ATTN_OK) << message();
    EXPECT_EQ(backward(), ATTN_OK) << message();
    expect_fences();
    return results();
  }
};

}  // namespace attn::testing
