// Contexts, statuses, views and tensors for C++17. Header-only, over the C interface; nothing here
// throws by itself. attn.hpp adds models.
#pragma once

#if __cplusplus < 201703L
#error "the C++ headers of attn need C++17: -std=c++17"
#endif

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
  explicit Context(int threads = 0) : Context(attn_device_id{}, threads) {}
  // On a device: {ATTN_CUDA, 0}, {ATTN_OPENCL, 0}. Threads are those of work on the host.
  explicit Context(attn_device_id device, int threads = 0)
      : Context(options_with(device, threads)) {}
  explicit Context(const attn_context_options& options) {
    attn_context_create(&options, &context_);
  }
  ~Context() { attn_context_destroy(context_); }
  Context(Context&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  Context& operator=(Context&& other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }

  // Null when memory ran out, or the device cannot be had (attn_device_refusal): calls are refused
  // then, and have no message.
  attn_context* get() const { return context_; }
  int threads() const { return attn_context_threads(context_); }
  attn_device_id device() const {
    return context_ != nullptr ? attn_context_device(context_)->id : attn_device_id{};
  }
  // The context, where its memory is not the host's.
  attn_context* elsewhere() const { return device().type != ATTN_CPU ? context_ : nullptr; }
  Status set_threads(int n) { return status(attn_context_set_threads(context_, n)); }
  // For a tensor that could not be made: there was no memory, or the device is lost.
  Status no_memory() {
    const Status waited = wait();
    return waited ? Status(ATTN_NO_MEMORY, "out of memory") : waited;
  }
  // Until the device has done what calls have begun: attn_context_wait.
  Status wait() { return status(attn_context_wait(context_)); }

  // The result of a C call, with the text that it left.
  Status status(attn_status code) const {
    if (code == ATTN_OK) return {};
    return {code, attn_context_message(context_)};
  }

 private:
  static attn_context_options options_with(attn_device_id device, int threads) {
    attn_context_options options = {};
    options.device = device;
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
  View(T* elements, std::initializer_list<int64_t> extents)
      : View(type_of<T>(), extents, const_cast<std::remove_cv_t<T>*>(elements)) {}
  View(attn_type t, std::initializer_list<int64_t> extents, void* elements = nullptr)
      : attn_tensor{} {
    data = elements;
    type = t;
    for (int64_t e : extents)
      if (rank < ATTN_MAX_RANK) extent[rank++] = e;
  }
};

// An array of its own, zero at the start. Copies are explicit: clone().
class Tensor {
 public:
  Tensor() = default;
  Tensor(attn_type type, std::initializer_list<int64_t> extents) {
    *this = like(View(type, extents));
  }
  // Of the same type and extents. Without memory for it, or with extents that are not valid, the
  // tensor is empty and ok() false.
  static Tensor like(const attn_tensor& shape, Context* context = nullptr) {
    Tensor tensor = unset(shape, context);
    const size_t bytes = static_cast<size_t>(tensor.bytes());
    attn_context* device = tensor.context_;
    if (device == nullptr) {
      if (tensor.ok()) std::memset(tensor.view_.data, 0, bytes);
    } else if (tensor.ok() &&
               attn_context_device(device)->zero(device, tensor.view_.data, bytes) != 0) {
      return {};
    }
    return tensor;
  }
  // The same, of elements that nobody has set: pages that nobody touches take no memory. In memory
  // of the context's device, where there is a context, which then outlives the tensor.
  static Tensor unset(const attn_tensor& shape, Context* context = nullptr) {
    Tensor tensor;
    const int64_t count = attn_element_count(&shape);
    if (count < 0) return tensor;
    if (context != nullptr) tensor.context_ = context->elsewhere();
    void* data = attn_device_allocate(tensor.context_,
                                      static_cast<size_t>(count * attn_type_size(shape.type)));
    if (data == nullptr) return {};
    tensor.view_ = shape;
    tensor.view_.data = data;
    tensor.view_.device = {};
    if (tensor.context_ != nullptr) tensor.view_.device = context->device();
    return tensor;
  }
  // A copy in memory of the context's device. Tensors of another device than the host are made by
  // this, and by models; their elements cannot be had but by to_host().
  Result<Tensor> to(Context& context) const { return copy_of(view_, &context, context); }
  Result<Tensor> to_host(Context& context) const { return copy_of(view_, nullptr, context); }
  static Result<Tensor> copy_of(const attn_tensor& from, Context* where, Context& context) {
    Tensor copy = unset(from, where);
    if (!copy.ok()) return context.no_memory();
    const Status status = context.status(attn_copy(context.get(), &copy.view_, &from));
    if (!status) return status;
    return copy;
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

  ~Tensor() { attn_device_free(context_, view_.data); }
  Tensor(Tensor&& other) noexcept
      : view_(std::exchange(other.view_, View())), context_(other.context_) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(view_, other.view_);
    std::swap(context_, other.context_);
    return *this;
  }
  // Of a tensor of the host, as gather() is.
  Tensor clone() const {
    if (context_ != nullptr) return {};
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

  // The elements, row-major; null when they are of another type, or not in memory of the host.
  template <class T>
  T* data() {
    return holds(type_of<T>()) ? static_cast<T*>(view_.data) : nullptr;
  }
  template <class T>
  const T* data() const {
    return holds(type_of<T>()) ? static_cast<const T*>(view_.data) : nullptr;
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
    if (context_ != nullptr) return {};
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

  bool holds(attn_type type) const { return type == view_.type && context_ == nullptr; }

  View view_;
  attn_context* context_ = nullptr;  // of another device than the host
};

}  // namespace attn
