// Opened weight files: their tensors by index and by name, and what reading and writing share.
#include "weights.h"

#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "check.h"
#include "scanner.h"

namespace attn::rt {
namespace {

// The file that has an entry.
const attn_weights* holder(const attn_weights* weights, const Entry& entry) {
  return weights->n_parts > 0 ? weights->parts[entry.part] : weights;
}

bool has(const attn_weights* weights, int32_t index) {
  return weights != nullptr && index >= 0 && index < weights->count;
}

attn_status check_index(attn_context* context, const attn_weights* weights, int32_t index) {
  ATTN_TRY(check_given(context, weights, "weights"));
  if (has(weights, index)) return ATTN_OK;
  return attn_fail(context, ATTN_REFUSED, "%s: has %d tensors, and none of index %d",
                   weights->source.label, weights->count, index);
}

}  // namespace

const char* name_complaint(const char* name, size_t length) {
  if (length == 0) return "a name is empty";
  if (length == 12 && memcmp(name, "__metadata__", 12) == 0) return "the name is reserved";
  if (length > 1024) return "a name exceeds 1024 bytes";
  if (!valid_utf8(name, static_cast<int64_t>(length))) return "a name is not UTF-8";
  for (size_t k = 0; k < length; ++k) {
    const unsigned char byte = static_cast<unsigned char>(name[k]);
    if (byte < 0x20 || byte == 0x7f) return "a name has a control character";
    const bool part = (k == 0 || name[k - 1] == '/') && length - k >= 2 && name[k] == '.' &&
                      name[k + 1] == '.' && (length - k == 2 || name[k + 2] == '/');
    if (part) return "a name has the path \"..\"";
  }
  return nullptr;
}

attn_status sort_entries(attn_context* context, attn_weights* weights) {
  std::sort(weights->entries, weights->entries + weights->count,
            [](const Entry& a, const Entry& b) { return strcmp(a.name, b.name) < 0; });
  for (int32_t k = 1; k < weights->count; ++k) {
    if (strcmp(weights->entries[k - 1].name, weights->entries[k].name) != 0) continue;
    return bad_file(context, weights->source, "tensor %s is given twice",
                    Quoted(weights->entries[k].name).text());
  }
  return ATTN_OK;
}

const uint8_t* data_of(const attn_weights* weights, int32_t index) {
  const Entry& entry = weights->entries[index];
  const attn_weights* file = holder(weights, entry);
  return file->source.memory + 8 + file->header_bytes + entry.begin;
}

attn_status check_data(attn_context* context, const attn_weights* weights) {
  for (int32_t k = 0; k < weights->n_parts; ++k)
    ATTN_TRY(check_size(context, weights->parts[k]->source));
  return weights->n_parts > 0 ? ATTN_OK : check_size(context, weights->source);
}

}  // namespace attn::rt

using namespace attn::rt;

void attn_weights_close(attn_weights* weights) {
  if (weights == nullptr) return;
  for (int32_t k = 0; k < weights->n_parts; ++k) attn_weights_close(weights->parts[k]);
  close_source(&weights->source);
  for (void* memory : {static_cast<void*>(weights->parts), static_cast<void*>(weights->path),
                       static_cast<void*>(weights->header), static_cast<void*>(weights->entries),
                       static_cast<void*>(weights)}) {
    attn_free(nullptr, memory);
  }
}

int32_t attn_weights_count(const attn_weights* weights) {
  return weights != nullptr ? weights->count : 0;
}

attn_weight attn_weights_at(const attn_weights* weights, int32_t index) {
  attn_weight weight = {};
  if (!has(weights, index)) return weight;
  const Entry& entry = weights->entries[index];
  weight.name = entry.name;
  weight.type = static_cast<attn_file_type>(entry.type);
  weight.bytes = entry.end - entry.begin;
  const attn_weights* file = holder(weights, entry);
  JsonScanner json(file->header + entry.shape_at, file->header + file->header_bytes);
  int count;
  read_list(&json, weight.extent, ATTN_MAX_RANK, &count);
  weight.rank = entry.rank;
  return weight;
}

int32_t attn_weights_find(const attn_weights* weights, const char* name) {
  if (weights == nullptr || name == nullptr) return -1;
  const Entry *begin = weights->entries, *end = begin + weights->count;
  const Entry* found = std::lower_bound(begin, end, name, [](const Entry& e, const char* wanted) {
    return strcmp(e.name, wanted) < 0;
  });
  const bool is_there = found != end && strcmp(found->name, name) == 0;
  return is_there ? static_cast<int32_t>(found - begin) : -1;
}

attn_status attn_weights_read(attn_context* context, const attn_weights* weights, int32_t index,
                              void* destination) {
  ATTN_TRY(check_index(context, weights, index));
  const Entry& entry = weights->entries[index];
  const size_t bytes = static_cast<size_t>(entry.end - entry.begin);
  ATTN_TRY(check_array(context, destination, entry.end - entry.begin, "destination"));
  ATTN_TRY(check_size(context, holder(weights, entry)->source));
  if (bytes > 0) memcpy(destination, data_of(weights, index), bytes);
  if (entry.type != ATTN_FILE_BOOL) return ATTN_OK;
  char of[450];
  snprintf(of, sizeof of, "tensor %s: ", Quoted(entry.name).text());
  return check_bools(context, weights->source, of, destination, entry.end - entry.begin);
}

attn_status attn_weights_load(attn_context* context, const attn_weights* weights, int32_t index,
                              attn_array* array) {
  ATTN_TRY(check_given(context, array, "array"));
  *array = attn_array{};
  ATTN_TRY(check_index(context, weights, index));
  const attn_weight weight = attn_weights_at(weights, index);
  array->type = weight.type;
  array->rank = weight.rank;
  memcpy(array->extent, weight.extent, sizeof array->extent);
  array->count = weight.bytes / attn_file_type_size(weight.type);
  array->data = exact_allocate(context, static_cast<size_t>(weight.bytes));
  const attn_status status = array->data != nullptr
                                 ? attn_weights_read(context, weights, index, array->data)
                                 : out_of_memory(context);
  if (status != ATTN_OK) attn_array_free(array);
  return status;
}
