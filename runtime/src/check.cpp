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

struct Interval {
  uintptr_t begin, end;
  int index;
};

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

// Sorts the memory intervals and sweeps over them, so that models of thousands of tensors are
// checked in no time.
attn_status attn_check_overlap(attn_context* context, int count, const attn_tensor* const* tensors,
                               const char* const* names, const int* written) {
  constexpr int kOnStack = 48;
  Interval few[kOnStack];
  Interval* intervals = few;
  if (count > kOnStack) {
    intervals = static_cast<Interval*>(
        attn_allocate(context, sizeof(Interval) * static_cast<size_t>(count)));
    if (intervals == nullptr) return attn_fail(context, ATTN_NO_MEMORY, "out of memory");
  }
  int used = 0;
  for (int k = 0; k < count; ++k) {
    const int64_t elements = attn_element_count(tensors[k]);
    if (elements <= 0 || tensors[k]->data == nullptr) continue;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(tensors[k]->data);
    const int64_t bytes = elements * attn_type_size(tensors[k]->type);
    intervals[used++] = {begin, begin + static_cast<uintptr_t>(bytes), k};
  }
  std::sort(intervals, intervals + used, [](const Interval& a, const Interval& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.index < b.index;
  });
  // Of what began earlier: what reaches furthest, of all and of the written.
  const Interval* any = nullptr;
  const Interval* target = nullptr;
  int first = -1, second = -1;
  for (const Interval* now = intervals; now < intervals + used && first < 0; ++now) {
    const bool writes = written[now->index] != 0;
    const Interval* other = writes ? any : target;
    if (other != nullptr && now->begin < other->end) {
      first = writes ? now->index : other->index;
      second = writes ? other->index : now->index;
    }
    if (any == nullptr || now->end > any->end) any = now;
    if (writes && (target == nullptr || now->end > target->end)) target = now;
  }
  if (intervals != few) attn_free(context, intervals);
  if (first < 0) return ATTN_OK;
  return attn_fail(context, ATTN_REFUSED, "%s, which is written, overlaps %s", names[first],
                   names[second]);
}
