// A kernel takes the buffers that it was compiled for, and says so of all others before it writes.
#include <attn/kernel.h>
#include <attn/program.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "compiler/driver/loaded.h"
#include "compiler/lower/lower.h"
#include "tests/kernels/compiled.h"

namespace attn::testing {
namespace {

constexpr int kRows = 4, kColumns = 3;
constexpr float kUnwritten = -7;

struct Buffer {
  explicit Buffer(float first) : data(kRows * kColumns) {
    std::iota(data.begin(), data.end(), first);
  }
  attn_buffer view() {
    attn_buffer b{};
    b.host = data.data();
    b.type = {2, 32, 1};
    b.dimensions = 2;
    b.dim = dim;
    return b;
  }
  std::vector<float> data;
  attn_dimension dim[2] = {{0, kColumns, 1, 0}, {0, kRows, kColumns, 0}};
};

std::vector<driver::Compiled> doubled() {
  return compile_text(
      "size T\n"
      "model m(x: [T, 3]) -> y {\n"
      "  y[i,d] = 2 * x[i,d]\n"
      "}\n",
      {}, Derive::as_written);
}

class KernelArguments : public ::testing::Test {
 protected:
  KernelArguments() {
    std::vector<driver::Compiled> models = doubled();
    const std::string target = lower::host_target();
    driver::BuildOptions options{.targets = {target}, .cache = false, .progress = driver::Progress::off};
    std::vector<emit::ModelPlan> plans;
    driver::Source none;
    const std::string path = driver::link_shared(
        driver::make_library("arguments", none, models, plans, options.targets), scratch_, options);
    library_ = std::make_unique<driver::Loaded>(path);
    library_->open(1);
    kernel_ = library_->model("m").program->forward->kernels[0].code[0];
  }

  using Change = std::function<void(attn_buffer& x, attn_buffer& y)>;
  // What the kernel returns, and whether it wrote anything.
  std::pair<int, bool> call(const Change& change) {
    Buffer in(1), out(0);
    std::fill(out.data.begin(), out.data.end(), kUnwritten);
    attn_buffer x = in.view(), y = out.view();
    change(x, y);
    attn_context* context = library_->context();
    int32_t rows = kRows;
    void* arguments[] = {&context, &x, &rows, &y};
    int code = kernel_(arguments);
    bool wrote = false;
    for (size_t k = 0; k < out.data.size(); ++k) {
      wrote |= out.data[k] != kUnwritten;
      if (code == 0) {
        EXPECT_EQ(out.data[k], 2 * in.data[k]) << k;
      }
    }
    return {code, wrote};
  }
  void expect_refused(const char* what, const Change& change) {
    auto [code, wrote] = call(change);
    EXPECT_NE(code, 0) << what;
    EXPECT_FALSE(wrote) << what;
  }

  driver::Scratch scratch_;
  std::unique_ptr<driver::Loaded> library_;
  attn_kernel_code kernel_ = nullptr;
};

TEST_F(KernelArguments, AreThoseThatItWasCompiledFor) {
  ASSERT_TRUE(kernel_);
  auto [code, wrote] = call([](attn_buffer&, attn_buffer&) {});
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(wrote);
  using B = attn_buffer;
  expect_refused("no input", [](B& x, B&) { x.host = nullptr; });
  expect_refused("no output", [](B&, B& y) { y.host = nullptr; });
  expect_refused("doubles", [](B& x, B&) { x.type.bits = 64; });
  expect_refused("integers", [](B&, B& y) { y.type.code = 0; });
  expect_refused("a vector", [](B& x, B&) { x.dimensions = 1; });
  expect_refused("a row too few to read", [](B& x, B&) { x.dim[1].extent = kRows - 1; });
  expect_refused("a column too few to read", [](B& x, B&) { x.dim[0].extent = kColumns - 1; });
  expect_refused("a negative extent", [](B& x, B&) { x.dim[1].extent = -1; });
  expect_refused("a row too few to write", [](B&, B& y) { y.dim[1].extent = kRows - 1; });
  expect_refused("a row too many to write", [](B&, B& y) { y.dim[1].extent = kRows + 1; });
  expect_refused("columns apart", [](B& x, B&) { x.dim[0].stride = 2; });
  expect_refused("a second column first", [](B& x, B&) { x.dim[0].min = 1; });
  expect_refused("a second row first", [](B&, B& y) { y.dim[1].min = 1; });
}

// Beside the one check that all are joined to there is that each buffer is one at all.
TEST(KernelArgumentChecks, AreOne) {
  const driver::Compiled model = doubled().at(0);
  const plan::Function& forward = model.plan->forward;
  const std::string text = lower::statement(forward, forward.kernels.at(0), lower::host_target());
  std::map<std::string, int> checks;
  const std::string mark = "halide_error_";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const size_t name = at + mark.size();
    ++checks[text.substr(name, text.find('(', name) - name)];
  }
  EXPECT_EQ(checks,
            (std::map<std::string, int>{{"buffer_argument_is_null", 2}, {"requirement_failed", 1}}))
      << text;
}

}  // namespace
}  // namespace attn::testing
