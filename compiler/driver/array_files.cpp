#include "compiler/driver/array_files.h"

#include <attn/npy.h>
#include <attn/safetensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "compiler/driver/commands.h"

namespace attn::driver {

using evaluate::Array;

namespace {

// Elements in float64, whatever the file's type.
Array values_of(const FileContext& c, const std::string& name, const attn_array& a) {
  Array result{.extents = {a.extent, a.extent + a.rank}, .values = {}};
  result.values.resize(static_cast<size_t>(a.count));
  if (a.type == ATTN_FILE_BOOL) {
    const uint8_t* bytes = static_cast<const uint8_t*>(a.data);
    for (int64_t k = 0; k < a.count; ++k) result.values[k] = bytes[k] != 0;
  } else {
    c.require(attn_array_convert(c.get(), name.c_str(), &a, ATTN_F64, result.values.data()));
  }
  return result;
}

bool is_whole(attn_file_type t) {
  return t != ATTN_FILE_F32 && t != ATTN_FILE_F64 && t != ATTN_FILE_F16 && t != ATTN_FILE_BF16;
}

// What the file holds must be of the kind that the tensor is.
void check_kind(const ir::Tensor& t, const attn_array& a, const std::string& path) {
  ir::Type wanted = ir::arithmetic_type(t.storage);
  bool fits = wanted == ir::Type::boolean   ? a.type == ATTN_FILE_BOOL
              : wanted == ir::Type::integer ? is_whole(a.type) && a.type != ATTN_FILE_BOOL
                                            : !is_whole(a.type);
  if (!fits)
    throw RefusedError(fmt::format("{}: {} is {} in the file, but {} in the model", path, t.name,
                                   attn_file_type_name(a.type), ir::name_of(t.storage)));
}

}  // namespace

FileContext::FileContext() {
  if (attn_context_create(nullptr, &context_) != ATTN_OK) throw SystemError("out of memory");
}

void FileContext::require(attn_status status) const {
  if (status == ATTN_OK) return;
  const std::string text = attn_context_message(context_);
  if (status == ATTN_REFUSED || status == ATTN_BAD_DATA) throw RefusedError(text);
  throw SystemError(text);
}

Array load_array(const FileContext& c, const ir::Tensor& t, const std::string& path) {
  attn_array a{};
  if (path.size() > 12 && path.ends_with(".safetensors")) {
    attn_weights* weights = nullptr;
    c.require(attn_weights_open(c.get(), path.c_str(), &weights));
    std::unique_ptr<attn_weights, void (*)(attn_weights*)> owner(weights, attn_weights_close);
    const std::string& name = ir::weight_name(t);
    int32_t k = attn_weights_find(weights, name.c_str());
    if (k < 0) throw SystemError(fmt::format("{}: has no tensor `{}`", path, name));
    c.require(attn_weights_load(c.get(), weights, k, &a));
  } else {
    c.require(attn_npy_load(c.get(), path.c_str(), &a));
  }
  std::unique_ptr<attn_array, void (*)(attn_array*)> owner(&a, attn_array_free);
  check_kind(t, a, path);
  return values_of(c, t.name, a);
}

// A number, or a file that holds one.
double load_scalar(const FileContext& c, const std::string& name, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (*end == 0 && std::isfinite(number)) return number;
  const Array a = load_array(c, {.name = name, .storage = ir::Storage::f64}, text);
  if (a.values.size() != 1)
    throw RefusedError(
        fmt::format("{}: {} has {} elements, must have 1", text, name, a.values.size()));
  return a.values[0];
}

void save_array(const FileContext& c, const std::string& path, const Array& a,
                ir::Storage storage) {
  attn_tensor t{};
  t.rank = static_cast<int32_t>(a.extents.size());
  std::copy(a.extents.begin(), a.extents.end(), t.extent);
  std::vector<float> f32;
  std::vector<int32_t> i32;
  std::vector<uint8_t> bytes;
  switch (storage) {
    case ir::Storage::boolean:
      bytes.assign(a.values.begin(), a.values.end());
      t.type = ATTN_BOOL, t.data = bytes.data();
      break;
    case ir::Storage::i32:
      i32.assign(a.values.begin(), a.values.end());
      t.type = ATTN_I32, t.data = i32.data();
      break;
    case ir::Storage::f64:
      t.type = ATTN_F64, t.data = const_cast<double*>(a.values.data());
      break;
    case ir::Storage::f16:
    case ir::Storage::bf16:
    case ir::Storage::f32:
      f32.assign(a.values.begin(), a.values.end());
      t.type = ATTN_F32, t.data = f32.data();
  }
  c.require(attn_npy_save(c.get(), path.c_str(), &t));
}

}  // namespace attn::driver
