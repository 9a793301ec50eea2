// Contexts, statuses, views and tensors for C++17. Header-only, over the C interface; nothing here
// throws by itself. attn.hpp adds models.
#pragma once

#include <attn/array.h>
#include <attn/attn.h>
#include <attn/npy.h>
#include <attn/types.h>

#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace attn {

// What a call came to. Converts to true when it went well.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(attn_status code, std::string text) : code_(code), text_(std::move(text)) {}

  explicit operator bool() const { return code_ == ATTN_OK; }
  attn_status code() const { return code_; }
  const std::string& text() const { return text_; }

 private:
  attn_status code_ = ATTN_OK;
  std::string text_;
};

// A value, or the status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  explicit operator bool() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  const std::string& text() const { return status_.text(); }
  T& operator*() { return *value_; }
  T* operator->() { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

// Threads, pooled memory and the last message. One call at a time; one context a calling thread.
class Context {
 public:
  explicit Context(int threads = 0) : Context(options_with(threads)) {}
  explicit Context(const attn_context_options& options) {
    attn_context_create(&options, &context_);
  }
  ~Context() { attn_context_destroy(context_); }
  Context(Context&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  Context& operator=(Context&& other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }

  // Null when memory ran out: calls then run on one thread and have no message.
  attn_context* get() const { return context_; }
  int threads() const { return attn_context_threads(context_); }
  Status set_threads(int n) { return status(attn_context_set_threads(context_, n)); }

  // The result of a C call, with the text that it left.
  Status status(attn_status code) const {
    if (code == ATTN_OK) return {};
    return {code, attn_context_message(context_)};
  }

 private:
  static attn_context_options options_with(int threads) {
    attn_context_options options = {};
    options.threads = threads;
    return options;
  }

  attn_context* context_ = nullptr;
};

// The half precision types, as bits.
struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

template <class T>
constexpr attn_type type_of() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_same_v<U, float> || std::is_same_v<U, double> || std::is_same_v<U, f16> ||
                    std::is_same_v<U, bf16> || std::is_same_v<U, int32_t> ||
                    std::is_same_v<U, bool>,
                "elements are float, double, attn::f16, attn::bf16, int32_t or bool");
  if constexpr (std::is_same_v<U, float>) return ATTN_F32;
  if constexpr (std::is_same_v<U, double>) return ATTN_F64;
  if constexpr (std::is_same_v<U, f16>) return ATTN_F16;
  if constexpr (std::is_same_v<U, bf16>) return ATTN_BF16;
  if constexpr (std::is_same_v<U, bool>) return ATTN_BOOL;
  return ATTN_I32;
}

// Somebody else's array: row-major and dense. Generated code writes only through the views that it
// is given as results.
struct View : attn_tensor {
  View() : attn_tensor{} {}
  View(const attn_tensor& tensor) : attn_tensor(tensor) {}
  template <class T>
  View(T* elements, std::initializer_list<int64_t> extents) : attn_tensor{} {
    data = const_cast<std::remove_cv_t<T>*>(elements);
    type = type_of<T>();
    for (int64_t e : extents) {
      if (rank < ATTN_MAX_RANK) extent[rank++] = e;
    }
  }
};

// An array of its own, zero at the start. Copies are explicit: clone().
class Tensor {
 public:
  Tensor() = default;
  Tensor(attn_type type, std::initializer_list<int64_t> extents) {
    View shape;
    shape.type = type;
    for (int64_t e : extents) {
      if (shape.rank < ATTN_MAX_RANK) shape.extent[shape.rank++] = e;
    }
    *this = like(shape);
  }
  // Of the same type and extents. Without memory for it, or with extents that are not valid, the
  // tensor is empty and ok() false.
  static Tensor like(const attn_tensor& shape) {
    Tensor tensor = unset(shape);
    if (tensor.ok()) std::memset(tensor.view_.data, 0, static_cast<size_t>(tensor.bytes()));
    return tensor;
  }
  // The same, of elements that nobody has set: pages that nobody touches take no memory.
  static Tensor unset(const attn_tensor& shape) {
    Tensor tensor;
    const int64_t count = attn_element_count(&shape);
    if (count < 0) return tensor;
    void* data = attn_allocate(nullptr, static_cast<size_t>(count * attn_type_size(shape.type)));
    if (data == nullptr) return tensor;
    tensor.view_ = shape;
    tensor.view_.data = data;
    return tensor;
  }
  template <class T>
  static Tensor of(const std::vector<T>& values, std::initializer_list<int64_t> extents) {
    Tensor tensor(type_of<T>(), extents);
    if (tensor.count() != static_cast<int64_t>(values.size())) return {};
    int64_t k = 0;
    for (const T value : values) tensor.data<T>()[k++] = value;
    return tensor;
  }
  // Reads a .npy file, converting its elements with a check.
  static Result<Tensor> load(Context& context, const std::string& path, attn_type type) {
    attn_array array;
    attn_status code = attn_npy_load(context.get(), path.c_str(), &array);
    if (code != ATTN_OK) return context.status(code);
    View shape;
    shape.type = type;
    shape.rank = array.rank;
    std::memcpy(shape.extent, array.extent, sizeof shape.extent);
    Tensor tensor = like(shape);
    code = tensor.ok()
               ? attn_array_convert(context.get(), path.c_str(), &array, type, tensor.view_.data)
               : ATTN_NO_MEMORY;
    attn_array_free(&array);
    if (code == ATTN_NO_MEMORY) return Status(code, "out of memory");
    if (code != ATTN_OK) return context.status(code);
    return tensor;
  }
  Status save(Context& context, const std::string& path) const {
    return context.status(attn_npy_save(context.get(), path.c_str(), &view_));
  }

  ~Tensor() { attn_free(nullptr, view_.data); }
  Tensor(Tensor&& other) noexcept : view_(std::exchange(other.view_, View())) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  Tensor clone() const {
    Tensor copy = like(view_);
    if (copy.ok() && ok()) std::memcpy(copy.view_.data, view_.data, static_cast<size_t>(bytes()));
    return copy;
  }

  bool ok() const { return view_.data != nullptr; }
  attn_type type() const { return view_.type; }
  int rank() const { return view_.rank; }
  int64_t extent(int k) const { return view_.extent[k]; }
  int64_t count() const { return ok() ? attn_element_count(&view_) : 0; }
  int64_t bytes() const { return count() * attn_type_size(view_.type); }

  // The elements, row-major; null when they are of another type.
  template <class T>
  T* data() {
    return type_of<T>() == view_.type ? static_cast<T*>(view_.data) : nullptr;
  }
  template <class T>
  const T* data() const {
    return type_of<T>() == view_.type ? static_cast<const T*>(view_.data) : nullptr;
  }

  const View& view() const { return view_; }
  operator View() const { return view_; }
  // A view of `n` consecutive entries along the first extent, without a copy.
  View rows(int64_t first, int64_t n) const {
    View part = view_;
    part.extent[0] = n;
    part.data = static_cast<char*>(view_.data) + first * row_bytes();
    return part;
  }
  // A copy of the chosen entries along the first extent: a mini-batch.
  Tensor gather(const int64_t* chosen, int64_t n) const {
    View shape = view_;
    shape.extent[0] = n;
    Tensor batch = like(shape);
    const size_t row = static_cast<size_t>(row_bytes());
    for (int64_t k = 0; batch.ok() && k < n; ++k) {
      std::memcpy(static_cast<char*>(batch.view_.data) + static_cast<size_t>(k) * row,
                  static_cast<const char*>(view_.data) + static_cast<size_t>(chosen[k]) * row, row);
    }
    return batch;
  }

 private:
  int64_t row_bytes() const {
    int64_t size = attn_type_size(view_.type);
    for (int k = 1; k < view_.rank; ++k) size *= view_.extent[k];
    return size;
  }

  View view_;
};

}  // namespace attn
