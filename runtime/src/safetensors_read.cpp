// Reading safetensors: eight bytes of header length, a JSON object, the data. The header is parsed
// twice, first to check and count, then to fill a table of exactly that many entries.
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "check.h"
#include "file_types.h"
#include "scanner.h"
#include "weights.h"

namespace attn::rt {

bool read_list(JsonScanner* json, int64_t* values, int room, int* count) {
  *count = 0;
  if (!json->take('[')) return json->fail("'[' is expected");
  return json->items(']', "',' or ']' is expected", [&] {
    int64_t value;
    if (!json->integer(&value)) return false;
    if (*count == room)
      return json->fail(room == 2 ? "two offsets are expected" : "the rank exceeds 8");
    values[(*count)++] = value;
    return true;
  });
}

namespace {

constexpr uint64_t kMaxHeader = 100'000'000;
// That the table of entries may take beside the bytes of the data.
constexpr int64_t kTableBytes = int64_t{1} << 19;

bool read_type(JsonScanner* json, uint8_t* type) {
  Text text;
  if (!json->string(&text)) return false;
  for (*type = 0; *type < kFileTypeCount; ++*type)
    if (text.is(kFileTypes[*type].safetensors)) return true;
  return json->fail(
      "the dtype is not supported (F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64 BOOL are)");
}

bool skip_metadata(JsonScanner* json) {
  Text text;
  if (!json->take('{')) return json->fail("__metadata__ is no object");
  return json->items('}', "',' or '}' is expected", [&] {
    if (!json->string(&text)) return false;
    return json->take(':') ? json->string(&text) : json->fail("':' is expected");
  });
}

struct Parser {
  attn_context* context;
  attn_weights* weights;
  int64_t data_bytes;
  JsonScanner json;

  attn_status complain(const char* wrong) {
    return bad_file(context, weights->source, "header byte %lld: %s", shown(json.offset()), wrong);
  }
  attn_status complain_of(Text name, const char* wrong) {
    return bad_file(context, weights->source, "tensor %s: %s",
                    Quoted(name.begin, name.length).text(), wrong);
  }
  bool entry_fields(Entry* entry, int64_t* extent);
  attn_status entry(Text name, Entry* entry);
  attn_status tensor(Text name, Entry* entries, int32_t* count);
  attn_status object(Entry* entries, int32_t* count);
};

bool Parser::entry_fields(Entry* entry, int64_t* extent) {
  bool type_seen = false, shape_seen = false, offsets_seen = false;
  if (!json.take('{')) return json.fail("an object is expected");
  do {
    Text key;
    if (!json.string(&key)) return false;
    bool* seen = key.is("dtype")          ? &type_seen
                 : key.is("shape")        ? &shape_seen
                 : key.is("data_offsets") ? &offsets_seen
                                          : nullptr;
    if (seen == nullptr) return json.fail("an unknown key (dtype, shape, data_offsets are known)");
    if (*seen) return json.fail("a key is given twice");
    *seen = true;
    if (!json.take(':')) return json.fail("':' is expected");
    int count;
    if (seen == &type_seen) {
      if (!read_type(&json, &entry->type)) return false;
    } else if (seen == &shape_seen) {
      entry->shape_at = static_cast<uint32_t>(json.offset());
      if (!read_list(&json, extent, ATTN_MAX_RANK, &count)) return false;
      entry->rank = static_cast<uint8_t>(count);
    } else {
      int64_t offsets[2];
      if (!read_list(&json, offsets, 2, &count)) return false;
      if (count != 2) return json.fail("two offsets are expected");
      entry->begin = offsets[0];
      entry->end = offsets[1];
    }
  } while (json.take(','));
  if (!json.take('}')) return json.fail("',' or '}' is expected");
  if (!type_seen) return json.fail("dtype is missing");
  if (!shape_seen) return json.fail("shape is missing");
  if (!offsets_seen) return json.fail("data_offsets are missing");
  return true;
}

attn_status Parser::entry(Text name, Entry* entry) {
  int64_t extent[ATTN_MAX_RANK], elements, bytes;
  if (!entry_fields(entry, extent)) return complain_of(name, json.wrong());
  if (entry->end < entry->begin) return complain_of(name, "data_offsets run backwards");
  if (entry->end > data_bytes) return complain_of(name, "data_offsets pass the end of the file");
  const attn_file_type type = static_cast<attn_file_type>(entry->type);
  if (!array_size(type, entry->rank, extent, &elements, &bytes))
    return complain_of(name, "the shape overflows");
  if (bytes != entry->end - entry->begin) {
    char text[320];
    snprintf(text, sizeof text, "shape [%s] of %s takes %lld bytes, data_offsets span %lld",
             ExtentsText(entry->rank, extent).text(), attn_file_type_name(type), shown(bytes),
             shown(entry->end - entry->begin));
    return complain_of(name, text);
  }
  return ATTN_OK;
}

// Without `entries` only checks and counts; with them also fills, and decodes names in place.
attn_status Parser::object(Entry* entries, int32_t* count) {
  *count = 0;
  bool metadata_seen = false;
  attn_status status = ATTN_OK;
  const auto item = [&] {
    Text name;
    if (!json.string(&name)) return false;
    if (!json.take(':')) return json.fail("':' is expected");
    if (!name.is("__metadata__")) {
      status = tensor(name, entries, count);
      return status == ATTN_OK;
    }
    if (metadata_seen) return json.fail("__metadata__ is given twice");
    metadata_seen = true;
    return skip_metadata(&json);
  };
  if (!json.take('{')) return complain("the header is no object");
  if (!json.items('}', "',' or '}' is expected", item))
    return status != ATTN_OK ? status : complain(json.wrong());
  return json.at_end() ? ATTN_OK : complain("the header goes on after its object");
}

attn_status Parser::tensor(Text name, Entry* entries, int32_t* count) {
  if (*count == kMaxTensors) return complain("there are more than 1,000,000 tensors");
  Entry found = {};
  ATTN_TRY(entry(name, &found));
  if (entries != nullptr) {
    const size_t length = decode_escapes(name);
    const char* wrong = name_complaint(name.begin, length);
    if (wrong != nullptr) return complain_of({name.begin, length}, wrong);
    name.begin[length] = '\0';
    found.name = name.begin;
    entries[*count] = found;
  }
  ++*count;
  return ATTN_OK;
}

// Every byte of the data belongs to exactly one tensor, but tensors without bytes may lie anywhere.
attn_status check_cover(attn_context* context, attn_weights* weights, int64_t data_bytes) {
  std::sort(weights->entries, weights->entries + weights->count,
            [](const Entry& a, const Entry& b) {
              return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
            });
  int64_t covered = 0;
  for (int32_t k = 0; k < weights->count; ++k) {
    const Entry& entry = weights->entries[k];
    if (entry.begin == entry.end) continue;
    if (entry.begin != covered) {
      return bad_file(context, weights->source, "tensor %s: %s", Quoted(entry.name).text(),
                      entry.begin < covered ? "its data overlaps another tensor's"
                                            : "there is a hole before its data");
    }
    covered = entry.end;
  }
  if (covered == data_bytes) return ATTN_OK;
  return bad_file(context, weights->source, "the last %lld bytes belong to no tensor",
                  shown(data_bytes - covered));
}

attn_status read_header(attn_context* context, attn_weights* weights) {
  const Source& source = weights->source;
  uint8_t start[8];
  if (source.size < 8) {
    return bad_file(context, source, "is not a safetensors file: it has %lld bytes",
                    shown(source.size));
  }
  ATTN_TRY(read_at(context, source, 0, start, 8));
  uint64_t length = 0;
  for (int k = 7; k >= 0; --k) length = length << 8 | start[k];
  if (length > static_cast<uint64_t>(source.size - 8)) {
    const char* format = foreign_format(start);
    if (format != nullptr)
      return bad_file(context, source, "is %s, not a safetensors file", format);
    return bad_file(context, source,
                    "is not a safetensors file, or was cut: its header would take %llu bytes, and "
                    "%lld are there",
                    static_cast<unsigned long long>(length), shown(source.size - 8));
  }
  if (length > kMaxHeader) return bad_file(context, source, "the header exceeds 100 MB");
  weights->header_bytes = static_cast<int64_t>(length);
  weights->header = static_cast<char*>(exact_allocate(context, length));
  if (weights->header == nullptr) return out_of_memory(context);
  ATTN_TRY(read_at(context, source, 8, weights->header, weights->header_bytes));
  if (!valid_utf8(weights->header, weights->header_bytes))
    return bad_file(context, source, "the header is not UTF-8");

  const int64_t data_bytes = source.size - 8 - weights->header_bytes;
  char* end = weights->header + weights->header_bytes;
  int32_t count;
  Parser counter{context, weights, data_bytes, {weights->header, end}};
  ATTN_TRY(counter.object(nullptr, &count));
  const int64_t table_bytes = count * static_cast<int64_t>(sizeof(Entry));
  if (table_bytes > data_bytes + kTableBytes) {
    return bad_file(context, source, "%d tensors are too many for a file of %lld bytes", count,
                    shown(source.size));
  }
  weights->entries = static_cast<Entry*>(exact_allocate(context, static_cast<size_t>(table_bytes)));
  if (weights->entries == nullptr) return out_of_memory(context);
  Parser filler{context, weights, data_bytes, {weights->header, end}};
  ATTN_TRY(filler.object(weights->entries, &weights->count));
  ATTN_TRY(check_cover(context, weights, data_bytes));
  return sort_entries(context, weights);
}

attn_status new_weights(attn_context* context, attn_weights** weights) {
  *weights = static_cast<attn_weights*>(exact_allocate(context, sizeof(attn_weights)));
  if (*weights == nullptr) return out_of_memory(context);
  **weights = attn_weights{};
  (*weights)->source.descriptor = -1;
  return ATTN_OK;
}

attn_status close_unless_good(attn_status status, attn_weights** weights) {
  if (status == ATTN_OK) return status;
  attn_weights_close(*weights);
  *weights = nullptr;
  return status;
}

attn_status map_path(attn_context* context, const char* path, attn_weights* weights) {
  ATTN_TRY(open_source(context, path, &weights->source));
  return map_source(context, &weights->source);
}

attn_status open_part(attn_context* context, attn_weights* weights) {
  ATTN_TRY(map_path(context, weights->path, weights));
  return read_header(context, weights);
}

attn_status open_any(attn_context* context, const char* path, attn_weights* weights) {
  ATTN_TRY(find_weights(context, path, &weights->path));
  if (weights->path != nullptr) path = weights->path;
  ATTN_TRY(map_path(context, path, weights));
  return is_index(path) ? read_index(context, weights) : read_header(context, weights);
}

attn_status read_memory(attn_context* context, const char* label, const void* bytes, int64_t size,
                        attn_weights* weights) {
  ATTN_TRY(memory_source(context, label, bytes, size, &weights->source));
  return read_header(context, weights);
}

}  // namespace

attn_status open_file(attn_context* context, char* path, attn_weights** weights) {
  const attn_status status = new_weights(context, weights);
  if (status != ATTN_OK) {
    attn_free(nullptr, path);
    return status;
  }
  (*weights)->path = path;
  return close_unless_good(open_part(context, *weights), weights);
}

}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_weights_open(attn_context* context, const char* path, attn_weights** weights) {
  ATTN_TRY(check_given(context, weights, "weights"));
  ATTN_TRY(new_weights(context, weights));
  return close_unless_good(open_any(context, path, *weights), weights);
}

attn_status attn_weights_parse(attn_context* context, const char* label, const void* bytes,
                               int64_t size, attn_weights** weights) {
  ATTN_TRY(check_given(context, weights, "weights"));
  ATTN_TRY(new_weights(context, weights));
  return close_unless_good(read_memory(context, label, bytes, size, *weights), weights);
}
