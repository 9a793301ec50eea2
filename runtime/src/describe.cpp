// Descriptions of models and structs as JSON.
#include <attn/attn.h>
#include <attn/describe.h>
#include <attn/program.h>
#include <attn/train.h>
#include <attn/types.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

namespace attn::rt {
namespace {

// Writes what fits, and counts all of it.
class Json {
 public:
  Json(char* text, int64_t size) : text_(text), size_(text != nullptr ? size : 0) {}

  int64_t finish() {
    if (size_ > 0) text_[std::min(length_, size_ - 1)] = '\0';
    return length_;
  }

  void raw(const char* text) {
    for (; *text != '\0'; ++text) put(*text);
  }
  // Control characters do not occur in names.
  void string(const char* text) {
    put('"');
    for (; *text != '\0'; ++text) {
      if (*text == '"' || *text == '\\') put('\\');
      put(*text);
    }
    put('"');
  }
  void integer(int64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", static_cast<long long>(value));
    raw(digits);
  }
  // JSON has no infinities and no NaN.
  void real(double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.17g", value);
    raw(isfinite(value) ? digits : "null");
  }
  void boolean(bool value) { raw(value ? "true" : "false"); }

  void key(const char* name) {
    comma();
    string(name);
    put(':');
    is_first_ = true;
  }
  void open(char bracket) {
    comma();
    put(bracket);
    is_first_ = true;
  }
  void close(char bracket) {
    put(bracket);
    is_first_ = false;
  }
  // Before an element of a list.
  void comma() {
    if (!is_first_) put(',');
    is_first_ = false;
  }

  void member(const char* name, const char* value) {
    key(name);
    comma();
    string(value);
  }
  void member(const char* name, int64_t value) {
    key(name);
    comma();
    integer(value);
  }
  void member(const char* name, double value) {
    key(name);
    comma();
    real(value);
  }
  void flag(const char* name, bool value) {
    key(name);
    comma();
    boolean(value);
  }

 private:
  void put(char c) {
    if (length_ + 1 < size_) text_[length_] = c;
    ++length_;
  }

  char* text_;
  int64_t size_, length_ = 0;
  bool is_first_ = true;
};

// ---- structs

// The name stands in it: a pointer would be a variable, which the loader sets.
struct Field {
  char name[20];
  size_t offset, bytes, count;
};

#define FIELD(type, name) \
  { #name, offsetof(type, name), sizeof(type::name), 1 }
#define FIELDS(type, name) \
  { #name, offsetof(type, name), sizeof(type::name[0]), sizeof(type::name) / sizeof(type::name[0]) }

constexpr Field kTensor[] = {FIELD(attn_tensor, data),        FIELD(attn_tensor, type),
                             FIELD(attn_tensor, rank),        FIELDS(attn_tensor, extent),
                             FIELD(attn_tensor, device.type), FIELD(attn_tensor, device.ordinal)};
constexpr Field kSizes[] = {
    FIELD(attn_sizes, forward_workspace),  FIELD(attn_sizes, training_workspace),
    FIELD(attn_sizes, backward_workspace), FIELD(attn_sizes, saved),
    FIELD(attn_sizes, jvp_workspace),      FIELD(attn_sizes, hvp_workspace),
    FIELD(attn_sizes, probe_workspace)};
constexpr Field kContextOptions[] = {FIELD(attn_context_options, threads),
                                     FIELD(attn_context_options, pool_bytes),
                                     FIELD(attn_context_options, log),
                                     FIELD(attn_context_options, log_data),
                                     FIELD(attn_context_options, device.type),
                                     FIELD(attn_context_options, device.ordinal),
                                     FIELD(attn_context_options, device_functions),
                                     FIELD(attn_context_options, cuda_context),
                                     FIELD(attn_context_options, cuda_stream),
                                     FIELD(attn_context_options, trace),
                                     FIELD(attn_context_options, trace_data)};
constexpr Field kLoadOptions[] = {
    FIELD(attn_load_options, ignore_extra),     FIELD(attn_load_options, keep_missing),
    FIELD(attn_load_options, convert_types),    FIELD(attn_load_options, allow_overflow),
    FIELD(attn_load_options, merge_dimensions), FIELD(attn_load_options, report),
    FIELD(attn_load_options, report_data)};

template <size_t n>
void write_struct(Json& to, const char* name, size_t bytes, const Field (&fields)[n]) {
  to.key(name);
  to.open('{');
  to.member("bytes", static_cast<int64_t>(bytes));
  to.key("fields");
  to.open('[');
  for (const Field& field : fields) {
    to.open('{');
    to.member("name", field.name);
    to.member("offset", static_cast<int64_t>(field.offset));
    to.member("bytes", static_cast<int64_t>(field.bytes));
    to.member("count", static_cast<int64_t>(field.count));
    to.close('}');
  }
  to.close(']');
  to.close('}');
}

// ---- models

constexpr char kInits[][11] = {"zeros",   "ones",   "constant",  "normal",
                               "uniform", "xavier", "orthogonal"};  // by attn_init

class ModelWriter {
 public:
  ModelWriter(const attn_model& model, Json& to) : model_(model), to_(to) {}

  void write() {
    to_.open('{');
    to_.member("name", model_.name);
    to_.key("source_hash");
    char hash[24];
    snprintf(hash, sizeof hash, "\"%016llx\"", static_cast<unsigned long long>(model_.source_hash));
    to_.comma();
    to_.raw(hash);
    sizes();
    const int32_t n_given = model_.n_inputs - model_.n_states;
    arguments("params", model_.params, model_.n_params);
    arguments("inputs", model_.inputs, n_given);
    arguments("states", model_.inputs + n_given, model_.n_states);
    arguments("outputs", model_.outputs, model_.n_outputs);
    arguments("probes", model_.probes, model_.n_probes);
    saved();
    to_.flag("gradient", model_.has_backward);
    to_.flag("jvp", model_.has_jvp);
    to_.flag("hvp", model_.has_hvp);
    step();
    to_.close('}');
  }

 private:
  void sizes() {
    to_.key("sizes");
    to_.open('[');
    for (int32_t k = 0; k < model_.n_sizes; ++k) {
      const attn_size_bound& bound = model_.program->size_bounds[k];
      to_.open('{');
      to_.member("name", model_.size_names[k]);
      to_.member("least", bound.least);
      if (bound.greatest >= 0)
        to_.member("greatest", bound.greatest);
      else
        to_.member("greatest", static_cast<double>(NAN));
      to_.close('}');
    }
    to_.close(']');
  }

  // Texts may be null.
  void extents(int32_t shape, const char* const* texts) {
    const attn_shape& from = model_.program->shapes[shape];
    to_.key("extents");
    to_.open('[');
    for (int32_t d = 0; d < from.rank; ++d) {
      to_.open('{');
      if (texts != nullptr) to_.member("text", texts[d]);
      const int64_t extent = from.extent[d];
      if (extent >= 0) to_.member("value", extent);
      if (extent < 0 && ~extent < model_.n_sizes) to_.member("size", ~extent);
      to_.close('}');
    }
    to_.close(']');
  }

  void arguments(const char* group, const attn_argument* list, int32_t count) {
    to_.key(group);
    to_.open('[');
    for (int32_t k = 0; k < count; ++k) {
      const attn_argument& argument = list[k];
      to_.open('{');
      to_.member("name", argument.name);
      to_.member("type", attn_type_name(argument.type));
      extents(argument.shape, argument.extent);
      to_.flag("differentiable", argument.differentiable != 0);
      to_.member("weight_name", argument.weight_name);
      to_.member("init", kInits[argument.init]);
      to_.close('}');
    }
    to_.close(']');
  }

  void saved() {
    to_.key("saved");
    to_.open('[');
    for (int32_t k = 0; k < model_.program->n_saved; ++k) {
      const attn_local& part = model_.program->saved[k];
      to_.open('{');
      to_.member("type", attn_type_name(part.type));
      extents(part.shape, nullptr);
      to_.close('}');
    }
    to_.close(']');
  }

  void step() {
    to_.key("step");
    if (!model_.has_step) {
      to_.comma();
      return to_.raw("null");
    }
    to_.open('{');
    to_.key("options");
    to_.open('[');
    for (int32_t k = 0; k < model_.n_step_options; ++k) {
      to_.open('{');
      to_.member("name", model_.step_options[k].name);
      to_.member("default", model_.step_options[k].value);
      to_.close('}');
    }
    to_.close(']');
    to_.key("states");
    to_.open('[');
    for (int32_t k = 0; k < model_.n_step_states; ++k) {
      to_.comma();
      to_.string(model_.step_states[k].name);
    }
    to_.close(']');
    to_.close('}');
  }

  const attn_model& model_;
  Json& to_;
};

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

int64_t attn_describe_interface(char* text, int64_t size) {
  Json to(text, size);
  to.open('{');
  to.member("abi", int64_t{ATTN_ABI_VERSION});
  to.key("types");
  to.open('[');
  for (int type = ATTN_F32; type <= ATTN_BOOL; ++type) {
    to.comma();
    to.string(attn_type_name(static_cast<attn_type>(type)));
  }
  to.close(']');
  to.key("structs");
  to.open('{');
  write_struct(to, "attn_tensor", sizeof(attn_tensor), kTensor);
  write_struct(to, "attn_sizes", sizeof(attn_sizes), kSizes);
  write_struct(to, "attn_context_options", sizeof(attn_context_options), kContextOptions);
  write_struct(to, "attn_load_options", sizeof(attn_load_options), kLoadOptions);
  to.close('}');
  to.close('}');
  return to.finish();
}

int64_t attn_describe_model(const attn_model* model, char* text, int64_t size) {
  Json to(text, size);
  if (model != nullptr) ModelWriter(*model, to).write();
  return to.finish();
}
