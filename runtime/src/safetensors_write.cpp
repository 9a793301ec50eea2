// Writing safetensors. Tensors of large elements come first, so that each is aligned in the file.
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "check.h"
#include "elements.h"
#include "file_types.h"
#include "host_copy.h"
#include "weights.h"

namespace attn::rt {
namespace {

// Counts bytes, and hands them to a file when there is one.
struct HeaderWriter {
  AtomicFile* file;
  int64_t count = 0;

  void bytes(const char* text, size_t length) {
    if (file != nullptr) file->write(text, static_cast<int64_t>(length));
    count += static_cast<int64_t>(length);
  }
  void text(const char* text) { bytes(text, strlen(text)); }
  void integer(int64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", shown(value));
    text(digits);
  }
  // Control characters do not occur in names.
  void string(const char* name) {
    text("\"");
    for (; *name != '\0'; ++name) {
      if (*name == '"' || *name == '\\') text("\\");
      bytes(name, 1);
    }
    text("\"");
  }
};

struct Plan {
  int32_t count;
  const int32_t* order;
  const char* const* names;
  const attn_tensor* tensors;
};

void write_header(const Plan& plan, HeaderWriter* to) {
  to->text("{");
  int64_t offset = 0;
  for (int32_t k = 0; k < plan.count; ++k) {
    const attn_tensor& tensor = plan.tensors[plan.order[k]];
    to->text(k > 0 ? "," : "");
    to->string(plan.names[plan.order[k]]);
    to->text(":{\"dtype\":\"");
    to->text(kFileTypes[tensor.type].safetensors);
    to->text("\",\"shape\":[");
    for (int32_t j = 0; j < tensor.rank; ++j) {
      if (j > 0) to->text(",");
      to->integer(tensor.extent[j]);
    }
    to->text("],\"data_offsets\":[");
    to->integer(offset);
    offset += bytes_of(tensor);
    to->text(",");
    to->integer(offset);
    to->text("]}");
  }
  to->text("}");
  while (to->count % 8 != 0) to->text(" ");
}

attn_status check(attn_context* context, const char* path, const Plan& plan) {
  int64_t total = 0;
  for (int32_t k = 0; k < plan.count; ++k) {
    const char* name = plan.names[k];
    const char* wrong = name_complaint(name, strlen(name));
    const attn_tensor& tensor = plan.tensors[k];
    const int64_t elements = attn_element_count(&tensor);
    if (wrong == nullptr && elements < 0) wrong = "its type or shape is not valid";
    if (wrong == nullptr && elements > 0 && tensor.data == nullptr) wrong = "its data is null";
    if (wrong == nullptr && __builtin_add_overflow(total, bytes_of(tensor), &total))
      wrong = "the sum of all sizes overflows";
    if (wrong != nullptr) {
      return attn_fail(context, ATTN_REFUSED, "%s: tensor %s: %s", path, Quoted(name).text(),
                       wrong);
    }
  }
  return ATTN_OK;
}

attn_status write(attn_context* context, const char* path, int32_t* order, const Plan& plan) {
  for (int32_t k = 0; k < plan.count; ++k) order[k] = k;
  const auto by_name = [&](int32_t a, int32_t b) {
    return strcmp(plan.names[a], plan.names[b]) < 0;
  };
  std::sort(order, order + plan.count, by_name);
  for (int32_t k = 1; k < plan.count; ++k) {
    if (by_name(order[k - 1], order[k])) continue;
    return attn_fail(context, ATTN_REFUSED, "%s: tensor %s is given twice", path,
                     Quoted(plan.names[order[k]]).text());
  }
  std::sort(order, order + plan.count, [&](int32_t a, int32_t b) {
    const int64_t size_a = attn_type_size(plan.tensors[a].type);
    const int64_t size_b = attn_type_size(plan.tensors[b].type);
    return size_a != size_b ? size_a > size_b : by_name(a, b);
  });

  HeaderWriter counter{nullptr};
  write_header(plan, &counter);
  AtomicFile file(context, path);
  uint8_t length[8];
  for (int k = 0; k < 8; ++k) length[k] = static_cast<uint8_t>(counter.count >> (8 * k));
  file.write(length, 8);
  HeaderWriter writer{&file};
  write_header(plan, &writer);
  for (int32_t k = 0; k < plan.count; ++k) {
    const HostCopy copy(context, plan.tensors[order[k]], true);
    ATTN_TRY(copy.status());
    file.write(copy.tensor().data, bytes_of(copy.tensor()));
  }
  return file.commit();
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_weights_save(attn_context* context, const char* path, int32_t count,
                              const char* const* names, const attn_tensor* tensors) {
  ATTN_TRY(check_path(context, path));
  ATTN_TRY(check_array(context, names, count, "names"));
  ATTN_TRY(check_array(context, tensors, count, "tensors"));
  for (int32_t k = 0; k < count; ++k) ATTN_TRY(check_given(context, names[k], "names[k]"));
  const Scratch<int32_t> order(context, count);
  if (order.data() == nullptr) return out_of_memory(context);
  const Plan plan{count, order.data(), names, tensors};
  ATTN_TRY(check(context, path, plan));
  return write(context, path, order.data(), plan);
}
