// The weights of a whole model: names, types and shapes are compared before a byte moves, and all
// differences are told at once.
#include <attn/device.h>
#include <attn/safetensors.h>
#include <attn/train.h>
#include <attn/types.h>
#include <stdio.h>
#include <string.h>

#include "files.h"

namespace attn::rt {
namespace {

// Lines for one message; what no longer fits is counted.
class Differences {
 public:
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    ++count_;
    if (full_) {
      ++hidden_;
      return;
    }
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text_ + used_, kRoom - used_, format, arguments);
    va_end(arguments);
    if (length < 0 || static_cast<size_t>(length) >= kRoom - used_) {
      full_ = true;
      ++hidden_;
      text_[used_] = '\0';
    } else {
      used_ += static_cast<size_t>(length);
    }
  }
  attn_status fail(attn_context* context, const char* path, const char* model) {
    if (hidden_ > 0) {
      snprintf(text_ + used_, sizeof text_ - used_, "\n  and %d more", hidden_);
    }
    return attn_fail(context, ATTN_BAD_FILE, "%s does not fit model %s:%s", path, model, text_);
  }
  int count() const { return count_; }

 private:
  static constexpr size_t kRoom = 6000;
  char text_[kRoom + 64] = "";
  size_t used_ = 0;
  int count_ = 0, hidden_ = 0;
  bool full_ = false;
};

bool same_extents(const attn_weight& weight, int32_t rank, const int64_t* extent) {
  if (weight.rank != rank) return false;
  for (int32_t k = 0; k < rank; ++k) {
    if (weight.extent[k] != extent[k]) return false;
  }
  return true;
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

// Compares the file with the model. Null params: shapes are not compared beyond the rank. `known`
// has a zero byte for every tensor of the file.
attn_status compare_with(attn_context* context, const attn_model* model, const attn_tensor* params,
                         const attn_weights* weights, const char* path, uint8_t* known) {
  Differences differences;
  char name[900];
  for (int32_t k = 0; k < model->n_params; ++k) {
    const attn_argument& argument = model->params[k];
    full_name(name, sizeof name, argument);
    const int32_t index = attn_weights_find(weights, argument.weight_name);
    if (index < 0) {
      differences.add("\n  %s is missing", name);
      continue;
    }
    known[index] = 1;
    const attn_weight weight = attn_weights_at(weights, index);
    if (static_cast<int>(weight.type) != static_cast<int>(argument.type)) {
      differences.add("\n  %s is %s, must be %s", name, attn_file_type_name(weight.type),
                      attn_type_name(argument.type));
    }
    if (params != nullptr && !same_extents(weight, params[k].rank, params[k].extent)) {
      differences.add("\n  %s has shape %s, must have %s", name,
                      Shape(weight.rank, weight.extent).text(),
                      Shape(params[k].rank, params[k].extent).text());
    } else if (params == nullptr && weight.rank != argument.rank) {
      differences.add("\n  %s has shape %s, must have rank %d", name,
                      Shape(weight.rank, weight.extent).text(), argument.rank);
    }
  }
  for (int32_t j = 0; j < attn_weights_count(weights); ++j) {
    if (known[j] != 0) continue;
    differences.add("\n  %s is not in the model", Quoted(attn_weights_at(weights, j).name).text());
  }
  if (differences.count() == 0) return ATTN_OK;
  return differences.fail(context, path, model->name);
}

attn_status compare(attn_context* context, const attn_model* model, const attn_tensor* params,
                    const attn_weights* weights, const char* path) {
  const size_t bytes = static_cast<size_t>(attn_weights_count(weights));
  uint8_t* known = static_cast<uint8_t*>(attn_allocate(context, bytes));
  if (known == nullptr) return attn_fail(context, ATTN_NO_MEMORY, "out of memory");
  memset(known, 0, bytes);
  const attn_status status = compare_with(context, model, params, weights, path, known);
  attn_free(context, known);
  return status;
}

// Reads into memory of its own first: a file that fails half-way must not leave half a model.
attn_status read_all(attn_context* context, const attn_model* model, const attn_tensor* params,
                     const attn_weights* weights) {
  int64_t total = 0;
  for (int32_t k = 0; k < model->n_params; ++k) {
    total += attn_element_count(&params[k]) * attn_type_size(params[k].type);
  }
  char* staged = static_cast<char*>(exact_allocate(context, static_cast<size_t>(total)));
  if (staged == nullptr) return attn_fail(context, ATTN_NO_MEMORY, "out of memory");
  attn_status status = ATTN_OK;
  int64_t place = 0;
  for (int32_t k = 0; k < model->n_params && status == ATTN_OK; ++k) {
    const int32_t index = attn_weights_find(weights, model->params[k].weight_name);
    status = attn_weights_read(context, weights, index, staged + place);
    place += attn_weights_at(weights, index).bytes;
  }
  place = 0;
  for (int32_t k = 0; k < model->n_params && status == ATTN_OK; ++k) {
    attn_tensor read = params[k];
    read.data = staged + place;
    read.device = {};
    status = attn_copy(context, &params[k], &read);
    place += attn_element_count(&read) * attn_type_size(read.type);
  }
  attn_free(nullptr, staged);
  return status;
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_model_save(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const char* path) {
  const size_t bytes = sizeof(const char*) * static_cast<size_t>(model->n_params);
  const char** names = static_cast<const char**>(attn_allocate(context, bytes));
  if (names == nullptr) return attn_fail(context, ATTN_NO_MEMORY, "out of memory");
  for (int32_t k = 0; k < model->n_params; ++k) names[k] = model->params[k].weight_name;
  const attn_status status = attn_weights_save(context, path, model->n_params, names, params);
  attn_free(context, names);
  return status;
}

attn_status attn_model_load(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const char* path) {
  for (int32_t k = 0; k < model->n_params; ++k) {
    const attn_status status =
        attn_check_tensor(context, "parameter", &model->params[k], &params[k], &params[k], 0);
    if (status != ATTN_OK) return status;
  }
  attn_weights* weights;
  attn_status status = attn_weights_open(context, path, &weights);
  if (status != ATTN_OK) return status;
  status = compare(context, model, params, weights, path);
  if (status == ATTN_OK) status = read_all(context, model, params, weights);
  attn_weights_close(weights);
  return status;
}

attn_status attn_model_load_shapes(attn_context* context, const attn_model* model,
                                   attn_tensor* params, const char* path) {
  attn_weights* weights;
  attn_status status = attn_weights_open(context, path, &weights);
  if (status != ATTN_OK) return status;
  status = compare(context, model, nullptr, weights, path);
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
