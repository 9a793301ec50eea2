// The weights of a whole model: names, types and shapes are compared before a byte moves, and all
// differences are told at once.
#include <attn/device.h>
#include <attn/safetensors.h>
#include <attn/train.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <cstdarg>

#include "check.h"
#include "elements.h"
#include "files.h"

namespace attn::rt {
namespace {

// Lines for one message; what no longer fits is counted.
class Differences {
 public:
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = hidden_ > 0 ? 0 : kRoom - used_;
    const size_t length = static_cast<size_t>(vsnprintf(text_ + used_, room, format, arguments));
    va_end(arguments);
    if (length < room) {
      used_ += length;
    } else {
      ++hidden_;
    }
  }
  attn_status check(attn_context* context, const char* path, const char* model) {
    if (used_ == 0 && hidden_ == 0) return ATTN_OK;
    text_[used_] = '\0';
    if (hidden_ > 0) snprintf(text_ + used_, sizeof text_ - used_, "\n  and %d more", hidden_);
    return attn_fail(context, ATTN_BAD_FILE, "%s does not fit model %s:%s", path, model, text_);
  }

 private:
  static constexpr size_t kRoom = 6000;
  char text_[kRoom + 64] = "";
  size_t used_ = 0;
  int hidden_ = 0;
};

bool same_extents(const attn_weight& weight, const attn_tensor& tensor) {
  return weight.rank == tensor.rank &&
         std::equal(weight.extent, weight.extent + weight.rank, tensor.extent);
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

// Compares the file with the model. Null params: shapes are not compared beyond the rank.
attn_status compare(attn_context* context, const attn_model* model, const attn_tensor* params,
                    const attn_weights* weights, const char* path) {
  const int32_t count = attn_weights_count(weights);
  const Scratch<uint8_t> known(context, count);
  if (known.data() == nullptr) return out_of_memory(context);
  memset(known.data(), 0, static_cast<size_t>(count));
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
    if (params != nullptr && !same_extents(weight, params[k])) {
      differences.add("\n  %s has shape [%s], must have [%s]", name,
                      ExtentsText(weight.rank, weight.extent).text(),
                      ExtentsText(params[k].rank, params[k].extent).text());
    } else if (params == nullptr && weight.rank != argument.rank) {
      differences.add("\n  %s has shape [%s], must have rank %d", name,
                      ExtentsText(weight.rank, weight.extent).text(), argument.rank);
    }
  }
  for (int32_t j = 0; j < count; ++j) {
    if (known[j] != 0) continue;
    differences.add("\n  %s is not in the model", Quoted(attn_weights_at(weights, j).name).text());
  }
  return differences.check(context, path, model->name);
}

// Reads into memory of its own first: a file that fails half-way must not leave half a model.
attn_status read_all(attn_context* context, const attn_model* model, const attn_tensor* params,
                     const attn_weights* weights) {
  int64_t total = 0;
  for (int32_t k = 0; k < model->n_params; ++k) total += bytes_of(params[k]);
  char* staged = static_cast<char*>(exact_allocate(context, static_cast<size_t>(total)));
  if (staged == nullptr) return out_of_memory(context);
  attn_status status = ATTN_OK;
  char* at = staged;
  for (int32_t k = 0; k < model->n_params && status == ATTN_OK; ++k) {
    const int32_t index = attn_weights_find(weights, model->params[k].weight_name);
    status = attn_weights_read(context, weights, index, at);
    at += attn_weights_at(weights, index).bytes;
  }
  at = staged;
  for (int32_t k = 0; k < model->n_params && status == ATTN_OK; ++k) {
    attn_tensor read = params[k];
    read.data = at;
    read.device = {};
    status = attn_copy(context, &params[k], &read);
    at += bytes_of(read);
  }
  attn_free(nullptr, staged);
  return status;
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_model_save(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const char* path) {
  const Scratch<const char*> names(context, model->n_params);
  if (names.data() == nullptr) return out_of_memory(context);
  for (int32_t k = 0; k < model->n_params; ++k) names[k] = model->params[k].weight_name;
  return attn_weights_save(context, path, model->n_params, names.data(), params);
}

attn_status attn_model_load(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const char* path) {
  for (int32_t k = 0; k < model->n_params; ++k)
    ATTN_TRY(check_argument(context, model->params[k], &params[k]));
  attn_weights* weights;
  ATTN_TRY(attn_weights_open(context, path, &weights));
  attn_status status = compare(context, model, params, weights, path);
  if (status == ATTN_OK) status = read_all(context, model, params, weights);
  attn_weights_close(weights);
  return status;
}

attn_status attn_model_load_shapes(attn_context* context, const attn_model* model,
                                   attn_tensor* params, const char* path) {
  attn_weights* weights;
  ATTN_TRY(attn_weights_open(context, path, &weights));
  attn_status status = compare(context, model, nullptr, weights, path);
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
