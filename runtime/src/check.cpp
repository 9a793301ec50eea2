#include "check.h"

#include <attn/types.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

namespace attn::rt {
namespace {

constexpr int kNameBytes = 256;

// "(T)" where the text of an extent says more than its value does.
const char* extent_text(char* buffer, const char* text, int64_t value) {
  char number[32];
  snprintf(number, sizeof number, "%lld", shown(value));
  if (text == nullptr || strcmp(text, number) == 0) return "";
  snprintf(buffer, kNameBytes, " (%s)", text);
  return buffer;
}

// "the CPU", "cuda:0".
const char* device_name(char* buffer, attn_device_id device) {
  if (device.type == ATTN_CPU) return "the CPU";
  snprintf(buffer, kNameBytes,
           device.type == ATTN_CUDA     ? "cuda:%d"
           : device.type == ATTN_OPENCL ? "opencl:%d"
                                        : "device %d",
           device.ordinal);
  return buffer;
}

}  // namespace

extern "C" const char ATTN_RUNTIME_SYMBOL = 0;

attn_status check_version(attn_context* context, const attn_model* model) {
  if (model == nullptr) return attn_fail(context, ATTN_REFUSED, "the model is null");
  if (model->abi_version == ATTN_ABI_VERSION) return ATTN_OK;
  return attn_fail(context, ATTN_REFUSED,
                   "a model compiled for version %u of the interface; the runtime has version %d",
                   model->abi_version, ATTN_ABI_VERSION);
}

attn_status check_given(attn_context* context, const void* argument, const char* name) {
  if (argument != nullptr) return ATTN_OK;
  return attn_fail(context, ATTN_REFUSED, "the argument %s is null", name);
}

attn_status check_array(attn_context* context, const void* array, int64_t count, const char* name) {
  if (count == 0) return ATTN_OK;
  if (count > 0) return check_given(context, array, name);
  return attn_fail(context, ATTN_REFUSED, "the argument %s has %lld elements", name, shown(count));
}

attn_status check_memory(attn_context* context, const attn_model& model, const char* what,
                         attn_block memory, int64_t bytes) {
  if (memory.data == nullptr)
    return attn_fail(context, ATTN_REFUSED, "%s: the %s is null", model.name, what);
  if (reinterpret_cast<uintptr_t>(memory.data) % 64 != 0)
    return attn_fail(context, ATTN_REFUSED, "%s: the %s must be aligned to 64 bytes", model.name,
                     what);
  if (memory.bytes >= bytes) return ATTN_OK;
  return attn_fail(context, ATTN_REFUSED, "%s: the %s has %lld bytes, and needs %lld", model.name,
                   what, shown(memory.bytes), shown(bytes));
}

attn_status check_tensor(attn_context* context, const char* kind, const attn_argument& argument,
                         const attn_tensor* tensor, const attn_tensor& wanted, bool is_optional) {
  char name_buffer[kNameBytes], text[kNameBytes], other[kNameBytes];
  // "x", "cotangent of y", "gradient of attn.wq".
  const auto name = [&] {
    snprintf(name_buffer, kNameBytes, "%s%s%s", kind, *kind != '\0' ? " of " : "", argument.name);
    return name_buffer;
  };
  if (tensor == nullptr) return attn_fail(context, ATTN_REFUSED, "%s: the tensor is null", name());
  if (is_optional && tensor->data == nullptr) return ATTN_OK;
  if (*kind != '\0' && !argument.differentiable)
    return attn_fail(context, ATTN_REFUSED, "%s: the model was compiled without it", name());
  if (tensor->rank == 0 && tensor->data == nullptr && wanted.rank > 0)
    return attn_fail(
        context, ATTN_REFUSED,
        "%s: the tensor was not set, or got no memory: its rank is 0 and its data null", name());
  if (tensor->type != wanted.type) {
    return attn_fail(context, ATTN_REFUSED, "%s: type is %s, must be %s", name(),
                     attn_type_name(tensor->type), attn_type_name(wanted.type));
  }
  if (tensor->rank != wanted.rank) {
    return attn_fail(context, ATTN_REFUSED, "%s: rank is %d, must be %d", name(), tensor->rank,
                     wanted.rank);
  }
  for (int k = 0; k < wanted.rank; ++k) {
    if (tensor->extent[k] < 0)
      return attn_fail(context, ATTN_REFUSED, "%s: dimension %d is %lld, which is negative", name(),
                       k + 1, shown(tensor->extent[k]));
    if (tensor->extent[k] == wanted.extent[k]) continue;
    return attn_fail(context, ATTN_REFUSED, "%s: dimension %d%s is %lld, must be %lld", name(),
                     k + 1, extent_text(text, argument.extent[k], wanted.extent[k]),
                     shown(tensor->extent[k]), shown(std::max<int64_t>(wanted.extent[k], 0)));
  }
  const int64_t count = attn_element_count(tensor);
  if (count < 0) return attn_fail(context, ATTN_REFUSED, "%s: its bytes exceed 2^63 - 1", name());
  if (count == 0) return ATTN_OK;
  if (tensor->data == nullptr) {
    return attn_fail(context, ATTN_REFUSED, "%s: data is null, must hold %lld elements", name(),
                     shown(count));
  }
  if (!is_same(tensor->device, device_of(context))) {
    return attn_fail(context, ATTN_REFUSED,
                     "%s: its data is in memory of %s, must be in that of %s", name(),
                     device_name(text, tensor->device), device_name(other, device_of(context)));
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(tensor->data);
  const uintptr_t size = static_cast<uintptr_t>(attn_type_size(tensor->type));
  if ((address & (size - 1)) != 0) {
    return attn_fail(context, ATTN_REFUSED, "%s: data is %d bytes past a multiple of %d", name(),
                     static_cast<int>(address % size), static_cast<int>(size));
  }
  if (address + static_cast<uintptr_t>(count) * size < address)
    return attn_fail(context, ATTN_REFUSED, "%s: data and size pass the end of memory", name());
  return ATTN_OK;
}

attn_status check_model(attn_context* context, const attn_model* model, const attn_tensor* params) {
  if (context == nullptr) return ATTN_REFUSED;
  if (model == nullptr) return attn_fail(context, ATTN_REFUSED, "the model is null");
  if (params != nullptr || model->n_params == 0) return ATTN_OK;
  return attn_fail(context, ATTN_REFUSED, "%s: no parameters", model->name);
}

attn_status check_argument(attn_context* context, const attn_argument& argument,
                           const attn_tensor* tensor) {
  attn_tensor wanted = tensor != nullptr ? *tensor : attn_tensor{};
  wanted.type = argument.type;
  return check_tensor(context, "", argument, tensor, wanted, false);
}

// Sorts the intervals and sweeps over them, so that models of thousands of tensors are checked in
// no time.
attn_status check_overlap(attn_context* context, int count, Interval* list) {
  std::sort(list, list + count,
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  // Of what began earlier: what reaches furthest, of all and of the written.
  const Interval* any = nullptr;
  const Interval* target = nullptr;
  for (const Interval* now = list; now < list + count; ++now) {
    const Interval* other = now->is_written ? any : target;
    if (other != nullptr && now->begin < other->end) {
      return attn_fail(context, ATTN_REFUSED, "%s, which is written, overlaps %s",
                       now->is_written ? now->name : other->name,
                       now->is_written ? other->name : now->name);
    }
    if (any == nullptr || now->end > any->end) any = now;
    if (now->is_written && (target == nullptr || now->end > target->end)) target = now;
  }
  return ATTN_OK;
}

}  // namespace attn::rt
