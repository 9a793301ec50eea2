#include "compiler/driver/array_files.h"

#include <attn/npy.h>
#include <attn/safetensors.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "compiler/driver/commands.h"
#include "compiler/driver/loaded.h"
#include "compiler/plan/plan.h"

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

// The first element that the tensor's type does not hold is refused, as it would become infinite.
void check_range(const ir::Tensor& t, const Array& a, const std::string& path) {
  for (size_t k = 0; k < a.values.size(); ++k) {
    if (holds(t.storage, a.values[k])) continue;
    std::string subscripts;
    size_t rest = k;
    for (size_t d = a.extents.size(); d-- > 0; rest /= static_cast<size_t>(a.extents[d]))
      subscripts = fmt::format("{}{}{}", rest % static_cast<size_t>(a.extents[d]),
                               subscripts.empty() ? "" : ", ", subscripts);
    throw RefusedError(fmt::format("{}: {}{} is {}, which {} does not hold", path, t.name,
                                   subscripts.empty() ? "" : fmt::format("[{}]", subscripts),
                                   a.values[k], ir::name_of(t.storage)));
  }
}

// "[B, D = 4]"
std::string shape_text(const ir::Graph& g, const ir::Tensor& t) {
  std::string text;
  for (const ir::Poly& extent : t.extents) {
    const std::string name = plan::poly_text(g, extent);
    const auto value = g.known(extent);
    const std::string number = value ? fmt::format("{}", *value) : name;
    text += (text.empty() ? "" : ", ") + (number == name ? name : name + " = " + number);
  }
  return fmt::format("[{}]", text);
}

// Extents that are known when compiling; those of sizes that the arrays give are compared later.
void check_shape(const ir::Graph& g, const ir::Tensor& t, const Array& a, const std::string& path) {
  bool fits = a.extents.size() == t.extents.size();
  for (size_t k = 0; fits && k < a.extents.size(); ++k) {
    const auto known = g.known(t.extents[k]);
    fits = !known || *known == a.extents[k];
  }
  if (!fits)
    throw RefusedError(fmt::format("{} is [{}], {} is {}", path, fmt::join(a.extents, ", "), t.name,
                                   shape_text(g, t)));
}

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !std::isfinite(number)) return std::nullopt;
  return number;
}

// An input without dimensions may be given as a number.
std::optional<Array> number_for(const ir::Graph& g, const ir::Tensor& t, const std::string& text) {
  const std::optional<double> number = number_in(text);
  if (!number || std::filesystem::exists(text)) return std::nullopt;
  if (!t.extents.empty())
    throw UsageError(
        fmt::format("{} is {}, and a number is for what has no dimensions: {}=FILE.npy", t.name,
                    shape_text(g, t), t.name));
  const ir::Type type = ir::arithmetic_type(t.storage);
  if ((type == ir::Type::integer && *number != std::floor(*number)) ||
      (type == ir::Type::boolean && *number != 0 && *number != 1))
    throw RefusedError(fmt::format("{} is {}, not {}", t.name, ir::name_of(t.storage), text));
  Array a{{}, {*number}};
  check_range(t, a, "--in");
  return a;
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
  Array values = values_of(c, t.name, a);
  check_range(t, values, path);
  return values;
}

// "w, u", or the first of many.
std::string list_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  const size_t n = std::min(names.size(), kShown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + n, ", "));
  if (names.size() > n) text += fmt::format(", … ({} in all)", names.size());
  return text;
}

// The checkpoint of a model. What is none is told what would be.
Weights open_checkpoint(const FileContext& c, const ir::Graph& g, const std::string& path) {
  try {
    return open_weights(c, path);
  } catch (const SystemError& e) {
    if (!std::filesystem::is_regular_file(path) || access(path.c_str(), R_OK) != 0) throw;
    std::vector<std::string> names;
    for (const ir::Tensor& t : g.tensors)
      if (t.role == ir::Role::parameter) names.push_back(ir::weight_name(t));
    throw SystemError(
        fmt::format("{}; --weights takes a safetensors file with one tensor for each parameter: {}",
                    e.what(), list_of(names)));
  }
}

// The name of the file that is most like `name`: it may have a prefix more.
std::string likely(const std::string& name, const std::vector<std::string>& there) {
  for (const std::string& other : there)
    if (other.ends_with("." + name) || name.ends_with("." + other)) return other;
  return nearest(name, there);
}

std::string missing_text(const std::string& path, const attn_weights* weights,
                         const std::string& name) {
  std::vector<std::string> there;
  for (int32_t k = 0; k < attn_weights_count(weights); ++k)
    there.push_back(attn_weights_at(weights, k).name);
  std::string text = fmt::format("{}: has no tensor `{}`", path, name);
  if (there.empty()) return text + ": it has none";
  text += ": it has " + list_of(there);
  const std::string near = likely(name, there);
  return near.empty() ? text : text + fmt::format("; did you mean `{}`?", near);
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

namespace {

Array load_values(const FileContext& c, const ir::Tensor& t, const std::string& path) {
  attn_array a{};
  if (path.size() > 12 && path.ends_with(".safetensors")) {
    const Weights weights = open_weights(c, path);
    const int32_t k = attn_weights_find(weights.get(), ir::weight_name(t).c_str());
    if (k < 0) throw SystemError(missing_text(path, weights.get(), ir::weight_name(t)));
    c.require(attn_weights_load(c.get(), weights.get(), k, &a));
  } else {
    c.require(attn_npy_load(c.get(), path.c_str(), &a));
  }
  return taken(c, t, a, path);
}

}  // namespace

Array load_array(const FileContext& c, const ir::Graph& g, const ir::Tensor& t,
                 const std::string& path) {
  if (auto number = number_for(g, t, path)) return *number;
  Array values = load_values(c, t, path);
  check_shape(g, t, values, path);
  return values;
}

void load_weights(const FileContext& c, const ir::Graph& g, const std::string& path, bool may_miss,
                  evaluate::Arrays& given, std::vector<std::string>& notes) {
  const Weights weights = open_checkpoint(c, g, path);
  std::set<std::string> known;
  for (const ir::Tensor& t : g.tensors) {
    if (t.role != ir::Role::parameter) continue;
    const std::string& name = ir::weight_name(t);
    known.insert(name);
    if (given.count(t.name)) continue;
    const int32_t k = attn_weights_find(weights.get(), name.c_str());
    if (k < 0 && !may_miss) throw SystemError(missing_text(path, weights.get(), name));
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
  if (const auto number = number_in(text)) return *number;
  const Array a = load_values(c, {.name = name, .storage = ir::Storage::f64}, text);
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
