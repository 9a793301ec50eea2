#include "compiler/driver/array_files.h"

#include <attn/npy.h>
#include <attn/safetensors.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

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

using Weights = std::unique_ptr<attn_weights, void (*)(attn_weights*)>;

Weights open_weights(const FileContext& c, const std::string& path) {
  attn_weights* weights = nullptr;
  c.require(attn_weights_open(c.get(), path.c_str(), &weights));
  return {weights, attn_weights_close};
}

// The values of an array that was read for `t`, which this frees.
Array taken(const FileContext& c, const ir::Tensor& t, attn_array& a, const std::string& path) {
  std::unique_ptr<attn_array, void (*)(attn_array*)> owner(&a, attn_array_free);
  check_kind(t, a, path);
  return values_of(c, t.name, a);
}

// The extents, where all are known when compiling.
std::optional<std::vector<int64_t>> known_shape(const ir::Graph& g, const ir::Tensor& t) {
  std::vector<int64_t> shape;
  for (const ir::Poly& extent : t.extents) {
    const auto n = g.known(extent);
    if (!n) return std::nullopt;
    shape.push_back(*n);
  }
  return shape;
}

bool merge(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return attn_shapes_merge(static_cast<int32_t>(a.size()), a.data(), static_cast<int32_t>(b.size()),
                           b.data());
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
    const Weights weights = open_weights(c, path);
    const int32_t k = attn_weights_find(weights.get(), ir::weight_name(t).c_str());
    if (k < 0) throw SystemError(fmt::format("{}: has no tensor `{}`", path, ir::weight_name(t)));
    c.require(attn_weights_load(c.get(), weights.get(), k, &a));
  } else {
    c.require(attn_npy_load(c.get(), path.c_str(), &a));
  }
  return taken(c, t, a, path);
}

void load_weights(const FileContext& c, const ir::Graph& g, const std::string& path, bool may_miss,
                  evaluate::Arrays& given, std::vector<std::string>& notes) {
  const Weights weights = open_weights(c, path);
  std::set<std::string> known;
  for (const ir::Tensor& t : g.tensors) {
    if (t.role != ir::Role::parameter) continue;
    const std::string& name = ir::weight_name(t);
    known.insert(name);
    if (given.count(t.name)) continue;
    const int32_t k = attn_weights_find(weights.get(), name.c_str());
    if (k < 0 && !may_miss) throw SystemError(fmt::format("{}: has no tensor `{}`", path, name));
    if (k < 0) {
      notes.push_back(fmt::format("{}: has no tensor `{}`", path, name));
      continue;
    }
    attn_array a{};
    c.require(attn_weights_load(c.get(), weights.get(), k, &a));
    Array values = taken(c, t, a, path);
    if (const auto shape = known_shape(g, t); shape && *shape != values.extents) {
      if (!merge(*shape, values.extents))
        throw RefusedError(fmt::format("{}: `{}` has shape [{}], must have [{}]", path, name,
                                       fmt::join(values.extents, ", "), fmt::join(*shape, ", ")));
      notes.push_back(fmt::format("{}: `{}` has shape [{}], taken as [{}]", path, name,
                                  fmt::join(values.extents, ", "), fmt::join(*shape, ", ")));
      values.extents = *shape;
    }
    given.emplace(t.name, std::move(values));
  }
  for (int32_t k = 0; k < attn_weights_count(weights.get()); ++k) {
    const std::string name = attn_weights_at(weights.get(), k).name;
    if (!known.count(name))
      notes.push_back(fmt::format("{}: `{}` is not in the model", path, name));
  }
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
