// The weights of a whole model: names, types, shapes and ranges are compared before a byte moves,
// and all differences are told at once. Elements go from the mapped file straight to their place.
#include <attn/device.h>
#include <attn/train.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <cstdarg>

#include "check.h"
#include "convert.h"
#include "elements.h"
#include "host_copy.h"
#include "weights.h"

namespace attn::rt {
namespace {

// The differences between a file and a model. Those that the options allow are reported; the others
// are lines of one message, in which what no longer fits is counted.
class Differences {
 public:
  explicit Differences(const attn_load_options& options) : options_(options) {}

  __attribute__((format(printf, 3, 4))) void add(bool is_allowed, const char* format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    const size_t length = static_cast<size_t>(vsnprintf(line, sizeof line, format, arguments));
    va_end(arguments);
    if (is_allowed) {
      if (options_.report != nullptr) options_.report(options_.report_data, line);
    } else if (hidden_ > 0 || length + 3 >= kRoom - used_) {
      ++hidden_;
    } else {
      used_ += static_cast<size_t>(snprintf(text_ + used_, kRoom - used_, "\n  %s", line));
    }
  }
  attn_status check(attn_context* context, const char* path, const char* model) {
    if (used_ == 0 && hidden_ == 0) return ATTN_OK;
    if (hidden_ > 0) snprintf(text_ + used_, sizeof text_ - used_, "\n  and %d more", hidden_);
    return attn_fail(context, ATTN_BAD_FILE, "%s does not fit model %s:%s", path, model, text_);
  }

 private:
  static constexpr size_t kRoom = 6000;
  const attn_load_options& options_;
  char text_[kRoom + 64] = "";
  size_t used_ = 0;
  int hidden_ = 0;
};

bool same_extents(const attn_weight& weight, const attn_tensor& tensor) {
  return weight.rank == tensor.rank &&
         std::equal(weight.extent, weight.extent + weight.rank, tensor.extent);
}

// Whether a name is `part` after a dot.
bool is_last_part(const char* part, const char* name) {
  const size_t length = strlen(part), whole = strlen(name);
  return whole > length && name[whole - length - 1] == '.' &&
         strcmp(name + whole - length, part) == 0;
}

// "a", and its name in the model where that differs.
const char* full_name(char* buffer, size_t room, const attn_argument& argument) {
  const Quoted weight(argument.weight_name);
  if (strcmp(argument.weight_name, argument.name) == 0) {
    snprintf(buffer, room, "%s", weight.text());
  } else {
    snprintf(buffer, room, "%s (%s)", weight.text(), Quoted(argument.name).text());
  }
  return buffer;
}

// A checkpoint that is read into the parameters of a model.
class Loading {
 public:
  // Null params: shapes are not compared beyond the rank.
  Loading(attn_context* context, const attn_model* model, const attn_tensor* params,
          const attn_weights* weights, const attn_load_options* options)
      : context_(context),
        model_(*model),
        params_(params),
        weights_(weights),
        options_(options != nullptr ? *options : attn_load_options{}) {
    if (params != nullptr) return;
    options_.report = nullptr;
    options_.keep_missing = options_.merge_dimensions = 0;
  }

  attn_status compare(const char* path) {
    const int32_t count = attn_weights_count(weights_);
    const Scratch<uint8_t> known(context_, count);
    if (known.data() == nullptr) return out_of_memory(context_);
    memset(known.data(), 0, static_cast<size_t>(count));
    Differences differences(options_);
    for (int32_t k = 0; k < model_.n_params; ++k) compare_one(k, known.data(), differences);
    for (int32_t j = 0; j < count; ++j) {
      if (known[j] != 0) continue;
      differences.add(options_.ignore_extra, "%s is not in the model",
                      Quoted(attn_weights_at(weights_, j).name).text());
    }
    ATTN_TRY(differences.check(context_, path, model_.name));
    return check_data(context_, weights_);
  }

  attn_status read() {
    if (model_.n_params == 0) return ATTN_OK;
    // All that may be refused is before the first parameter changes: memory for the largest copy.
    int32_t largest = 0;
    for (int32_t k = 1; k < model_.n_params; ++k)
      if (staged_bytes(k) > staged_bytes(largest)) largest = k;
    const HostCopy room(context_, params_[largest], false);
    ATTN_TRY(room.status());
    for (int32_t k = 0; k < model_.n_params; ++k)
      ATTN_TRY(HostCopy(context_, params_[k], false, room.memory()).status());
    for (int32_t k = 0; k < model_.n_params; ++k) {
      const int32_t index = find(k);
      if (index < 0) continue;
      HostCopy copy(context_, params_[k], false, room.memory());
      const attn_type type = static_cast<attn_type>(attn_weights_at(weights_, index).type);
      convert_reals(context_, attn_element_count(&params_[k]), type, data_of(weights_, index),
                    params_[k].type, copy.tensor().data);
      ATTN_TRY(copy.write_to(params_[k]));
    }
    return ATTN_OK;
  }

 private:
  // Of a parameter that is not in memory of the host.
  int64_t staged_bytes(int32_t k) const {
    if (is_same(params_[k].device, attn_device_id{})) return 0;
    return attn_element_count(&params_[k]) * attn_type_size(params_[k].type);
  }

  int32_t find(int32_t k) const {
    return attn_weights_find(weights_, model_.params[k].weight_name);
  }

  // A tensor that has the name with a prefix more or less; null where there is none.
  const char* likely(const char* name) const {
    for (const Entry* e = weights_->entries; e < weights_->entries + weights_->count; ++e)
      if (is_last_part(name, e->name) || is_last_part(e->name, name)) return e->name;
    return nullptr;
  }

  void add_missing(const char* weight_name, const char* name, Differences& differences) const {
    const char* meant = likely(weight_name);
    if (meant == nullptr) return differences.add(options_.keep_missing, "%s is missing", name);
    differences.add(options_.keep_missing, "%s is missing; did you mean %s?", name,
                    Quoted(meant).text());
  }

  void compare_one(int32_t k, uint8_t* known, Differences& differences) {
    const attn_argument& argument = model_.params[k];
    char name[900];
    full_name(name, sizeof name, argument);
    const int32_t index = find(k);
    if (index < 0) return add_missing(argument.weight_name, name, differences);
    known[index] = 1;
    const attn_weight weight = attn_weights_at(weights_, index);
    const attn_type type = static_cast<attn_type>(weight.type);
    const bool may_convert = options_.convert_types && is_real(type) && weight.type < ATTN_FILE_I32;
    if (type != argument.type) {
      differences.add(may_convert,
                      may_convert ? "%s is %s, converted to %s" : "%s is %s, must be %s", name,
                      attn_file_type_name(weight.type), attn_type_name(argument.type));
    }
    if (params_ != nullptr && !same_extents(weight, params_[k])) {
      const bool may_merge =
          options_.merge_dimensions &&
          attn_shapes_merge(weight.rank, weight.extent, params_[k].rank, params_[k].extent);
      differences.add(
          may_merge,
          may_merge ? "%s has shape [%s], taken as [%s]" : "%s has shape [%s], must have [%s]",
          name, ExtentsText(weight.rank, weight.extent).text(),
          ExtentsText(params_[k].rank, params_[k].extent).text());
      if (!may_merge) return;
    } else if (params_ == nullptr && weight.rank != argument.rank) {
      differences.add(false, "%s has shape [%s], must have rank %d", name,
                      ExtentsText(weight.rank, weight.extent).text(), argument.rank);
    }
    if (params_ != nullptr && may_convert) check_range(weight, index, name, argument, differences);
  }

  void check_range(const attn_weight& weight, int32_t index, const char* name,
                   const attn_argument& argument, Differences& differences) {
    const attn_type type = static_cast<attn_type>(weight.type);
    const uint8_t* data = data_of(weights_, index);
    const int64_t count = weight.bytes / attn_type_size(type);
    const int64_t k = first_overflow(context_, count, type, data, argument.type);
    if (k == count) return;
    differences.add(options_.allow_overflow, "%s: element %lld is %.9g, which %s does not hold",
                    name, shown(k), get_real(type, data, k), attn_type_name(argument.type));
  }

  attn_context* context_;
  const attn_model& model_;
  const attn_tensor* params_;
  const attn_weights* weights_;
  attn_load_options options_;
};

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_model_save(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const char* path) {
  ATTN_TRY(check_model(context, model, params));
  const Scratch<const char*> names(context, model->n_params);
  if (names.data() == nullptr) return out_of_memory(context);
  for (int32_t k = 0; k < model->n_params; ++k) names[k] = model->params[k].weight_name;
  return attn_weights_save(context, path, model->n_params, names.data(), params);
}

attn_status attn_model_load(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const char* path) {
  return attn_model_load_options(context, model, params, path, nullptr);
}

attn_status attn_model_load_options(attn_context* context, const attn_model* model,
                                    const attn_tensor* params, const char* path,
                                    const attn_load_options* options) {
  ATTN_TRY(check_model(context, model, params));
  for (int32_t k = 0; k < model->n_params; ++k)
    ATTN_TRY(check_argument(context, model->params[k], &params[k]));
  attn_weights* weights;
  ATTN_TRY(attn_weights_open(context, path, &weights));
  Loading loading(context, model, params, weights, options);
  attn_status status = loading.compare(path);
  if (status == ATTN_OK) status = loading.read();
  attn_weights_close(weights);
  return status;
}

attn_status attn_model_load_shapes(attn_context* context, const attn_model* model,
                                   attn_tensor* params, const char* path,
                                   const attn_load_options* options) {
  ATTN_TRY(check_model(context, model, params));
  attn_weights* weights;
  ATTN_TRY(attn_weights_open(context, path, &weights));
  const attn_status status = Loading(context, model, nullptr, weights, options).compare(path);
  for (int32_t k = 0; k < model->n_params && status == ATTN_OK; ++k) {
    const attn_weight weight =
        attn_weights_at(weights, attn_weights_find(weights, model->params[k].weight_name));
    params[k] = attn_tensor{};
    params[k].type = model->params[k].type;
    params[k].rank = weight.rank;
    memcpy(params[k].extent, weight.extent, sizeof weight.extent);
  }
  attn_weights_close(weights);
  return status;
}
