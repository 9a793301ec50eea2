// The checks of a call's tensors. They touch nothing but the descriptions, and run before anything
// is written.
#include <attn/types.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "context.h"

namespace attn::rt {
namespace {

constexpr int kNameBytes = 256;

// A tensor beside an argument, and not the argument itself.
bool is_derivative(const char* kind) {
  for (const char* plain : {"input", "parameter", "output"})
    if (strcmp(kind, plain) == 0) return false;
  return true;
}

// "x", "cotangent of y", "gradient of attn.wq".
const char* tensor_name(char* buffer, const char* kind, const attn_argument* argument) {
  snprintf(buffer, kNameBytes, is_derivative(kind) ? "%s of %s" : "%.0s%s", kind, argument->name);
  return buffer;
}

// "(T)" where the text of an extent says more than its value does.
const char* extent_text(char* buffer, const char* text, int64_t value) {
  char number[32];
  snprintf(number, sizeof number, "%lld", static_cast<long long>(value));
  if (text == nullptr || strcmp(text, number) == 0) return "";
  snprintf(buffer, kNameBytes, " (%s)", text);
  return buffer;
}

// "the CPU", "cuda:0".
const char* device_name(char* buffer, attn_device_id device) {
  if (device.type == ATTN_CPU) return "the CPU";
  snprintf(buffer, kNameBytes, device.type == ATTN_CUDA ? "cuda:%d" : "device %d", device.ordinal);
  return buffer;
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_check_tensor(attn_context* context, const char* kind,
                              const attn_argument* argument, const attn_tensor* tensor,
                              const attn_tensor* wanted, int optional) {
  char name_buffer[kNameBytes], text[kNameBytes];
  auto name = [&] { return tensor_name(name_buffer, kind, argument); };
  if (tensor == nullptr) return attn_fail(context, ATTN_REFUSED, "%s: the tensor is null", name());
  if (optional && tensor->data == nullptr) return ATTN_OK;
  if (is_derivative(kind) && !argument->differentiable) {
    return attn_fail(context, ATTN_REFUSED, "%s: the model was compiled without it", name());
  }
  if (tensor->type != argument->type) {
    return attn_fail(context, ATTN_REFUSED, "%s: type is %s, must be %s", name(),
                     attn_type_name(tensor->type), attn_type_name(argument->type));
  }
  if (tensor->rank != wanted->rank) {
    return attn_fail(context, ATTN_REFUSED, "%s: rank is %d, must be %d", name(), tensor->rank,
                     wanted->rank);
  }
  for (int k = 0; k < wanted->rank; ++k) {
    if (tensor->extent[k] != wanted->extent[k] || tensor->extent[k] < 0) {
      return attn_fail(context, ATTN_REFUSED, "%s: extent %d%s is %lld, must be %lld", name(), k,
                       extent_text(text, argument->extent[k], wanted->extent[k]),
                       static_cast<long long>(tensor->extent[k]),
                       static_cast<long long>(std::max<int64_t>(wanted->extent[k], 0)));
    }
  }
  const int64_t count = attn_element_count(tensor);
  if (count < 0) {
    return attn_fail(context, ATTN_REFUSED, "%s: its bytes exceed 2^63 - 1", name());
  }
  if (count == 0) return ATTN_OK;
  if (tensor->data == nullptr) {
    return attn_fail(context, ATTN_REFUSED, "%s: data is null, must hold %lld elements", name(),
                     static_cast<long long>(count));
  }
  if (!is_same(tensor->device, device_of(context))) {
    char other[kNameBytes];
    return attn_fail(context, ATTN_REFUSED,
                     "%s: its data is in memory of %s, must be in that of %s", name(),
                     device_name(text, tensor->device), device_name(other, device_of(context)));
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(tensor->data);
  const uintptr_t alignment = static_cast<uintptr_t>(attn_type_size(tensor->type));
  if (address % alignment != 0) {
    return attn_fail(context, ATTN_REFUSED, "%s: data is %d bytes past a multiple of %d", name(),
                     static_cast<int>(address % alignment), static_cast<int>(alignment));
  }
  const uintptr_t bytes = static_cast<uintptr_t>(count) * alignment;
  if (address + bytes < address) {
    return attn_fail(context, ATTN_REFUSED, "%s: data and size pass the end of memory", name());
  }
  return ATTN_OK;
}

// Sorts the intervals and sweeps over them, so that models of thousands of tensors are checked in
// no time.
attn_status attn_check_overlap(attn_context* context, int count, attn_interval* list) {
  std::sort(list, list + count,
            [](const attn_interval& a, const attn_interval& b) { return a.begin < b.begin; });
  // Of what began earlier: what reaches furthest, of all and of the written.
  const attn_interval* any = nullptr;
  const attn_interval* target = nullptr;
  for (const attn_interval* now = list; now < list + count; ++now) {
    const attn_interval* other = now->written ? any : target;
    if (other != nullptr && now->begin < other->end) {
      return attn_fail(context, ATTN_REFUSED, "%s, which is written, overlaps %s",
                       now->written ? now->name : other->name,
                       now->written ? other->name : now->name);
    }
    if (any == nullptr || now->end > any->end) any = now;
    if (now->written && (target == nullptr || now->end > target->end)) target = now;
  }
  return ATTN_OK;
}
