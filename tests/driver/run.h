// `attnc run` on models whose arrays are files in a folder of the test's own.
#pragma once

#include <attn/attn.h>
#include <attn/npy.h>
#include <attn/safetensors.h>

#include <cmath>
#include <cstring>

#include "tests/driver/process.h"

namespace attn::testing {

inline constexpr const char* kModel =
    "size T, D = 4, V = 6\n"
    "train model words(token: int[T], x: [T, D], keep: bool[T]) -> y, loss {\n"
    "  param table: [V, D] = normal(0, 1), w: [D, D], b: [D]\n"
    "  h[i,d] = x[i,d] + table[token[i], d] where keep[i]\n"
    "  y[i,e] = tanh(sum[d] h[i,d] * w[e,d] + b[e])\n"
    "  loss = sum[i,e] y[i,e]^2\n"
    "}\n";

struct Array {
  attn_type type = ATTN_F32;
  std::vector<int64_t> extents;
  std::vector<double> values;
};

class Run : public Folder {
 protected:
  Run() { attn_context_create(nullptr, &context_); }
  ~Run() override { attn_context_destroy(context_); }

  template <typename T>
  static std::vector<T> as(const Array& a) {
    return {a.values.begin(), a.values.end()};
  }

  // `use` gets a view of the array, stored as its type.
  template <typename Use>
  void with_tensor(const Array& a, Use use) {
    attn_tensor t{};
    t.type = a.type;
    t.rank = static_cast<int32_t>(a.extents.size());
    std::copy(a.extents.begin(), a.extents.end(), t.extent);
    auto f32 = as<float>(a);
    auto f64 = as<double>(a);
    auto i32 = as<int32_t>(a);
    auto bytes = as<uint8_t>(a);
    t.data = a.type == ATTN_F32   ? static_cast<void*>(f32.data())
             : a.type == ATTN_F64 ? static_cast<void*>(f64.data())
             : a.type == ATTN_I32 ? static_cast<void*>(i32.data())
                                  : static_cast<void*>(bytes.data());
    ASSERT_EQ(use(&t), ATTN_OK) << attn_context_message(context_);
  }

  std::string npy(const std::string& name, const Array& a) {
    with_tensor(
        a, [&](const attn_tensor* t) { return attn_npy_save(context_, path(name).c_str(), t); });
    return name;
  }

  std::string weights(const std::string& name, const std::string& tensor, const Array& a) {
    const char* names[] = {tensor.c_str()};
    with_tensor(a, [&](const attn_tensor* t) {
      return attn_weights_save(context_, path(name).c_str(), 1, names, t);
    });
    return name;
  }

  Array loaded(const std::string& name) {
    attn_array a{};
    Array result;
    const attn_status status = attn_npy_load(context_, path(name).c_str(), &a);
    EXPECT_EQ(status, ATTN_OK) << attn_context_message(context_);
    if (status != ATTN_OK) return result;
    result.type = static_cast<attn_type>(a.type);
    result.extents.assign(a.extent, a.extent + a.rank);
    result.values.resize(static_cast<size_t>(a.count));
    attn_array_convert(context_, name.c_str(), &a, ATTN_F64, result.values.data());
    attn_array_free(&a);
    return result;
  }

  void expect_near(const std::string& a, const std::string& b, double tolerance) {
    const Array x = loaded(a), y = loaded(b);
    ASSERT_EQ(x.extents, y.extents) << a;
    double scale = 1e-3;
    for (double v : y.values) scale = std::max(scale, std::abs(v));
    for (size_t k = 0; k < x.values.size(); ++k)
      EXPECT_NEAR(x.values[k], y.values[k], tolerance * scale) << a << " at " << k;
  }

  // Inputs of the model above, T = 5.
  std::vector<std::string> inputs() {
    file("m.attn", kModel);
    Array x{ATTN_F32, {5, 4}, {}}, token{ATTN_I32, {5}, {0, 5, 3, 3, 1}},
        keep{ATTN_BOOL, {5}, {1, 0, 1, 1, 1}};
    for (int k = 0; k < 20; ++k) x.values.push_back(std::sin(k));
    return {"run",  "m.attn",
            "--in", "x=" + npy("x.npy", x),
            "--in", "token=" + npy("token.npy", token),
            "--in", "keep=" + npy("keep.npy", keep)};
  }
  std::vector<std::string> with(std::vector<std::string> base,
                                const std::vector<std::string>& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
  }
  void expect_refused(const std::vector<std::string>& arguments, int status,
                      const std::string& said) {
    const Ended e = attnc(arguments);
    EXPECT_EQ(e.status, status) << e.error;
    EXPECT_NE(e.error.find(said), std::string::npos) << said << " is not in\n" << e.error;
    EXPECT_FALSE(std::filesystem::exists(path("out")) && !names_in(path("out")).empty());
  }

  attn_context* context_ = nullptr;
};

}  // namespace attn::testing
