// The inside of opened weight files, and the rules for names that reading and writing share.
#pragma once

#include <attn/safetensors.h>

#include "files.h"

namespace attn::rt {

class JsonScanner;

// Null when the name is allowed, else what is wrong with it.
const char* name_complaint(const char* name, size_t length);

// One tensor. Extents stay in the header's text: the table is smaller than the text it describes.
struct Entry {
  const char* name;
  int64_t begin, end;  // in the data section
  uint32_t shape_at;   // in the header
  uint8_t type;
  uint8_t rank;
  uint16_t part;  // the file that has it, where there are several
};

constexpr int32_t kMaxTensors = 1'000'000;

// Sorts the table by name; refuses a name that is given twice.
attn_status sort_entries(attn_context* context, attn_weights* weights);
// The bytes of an entry, in memory. Look at check_data before.
const uint8_t* data_of(const attn_weights* weights, int32_t index);
// Whether the files still have all their bytes.
attn_status check_data(attn_context* context, const attn_weights* weights);

// A list of at most `room` integers.
bool read_list(JsonScanner* json, int64_t* values, int room, int* count);

// Opens one file of tensors; its path, from exact_allocate, is then the weights' own, and is freed
// after a failure.
attn_status open_file(attn_context* context, char* path, attn_weights** weights);

// What safetensors_index.cpp knows: the path that is meant where `path` is a directory, of which
// `*owned` is then the memory; whether a path is that of an index; and how one is read.
attn_status find_weights(attn_context* context, const char* path, char** owned);
bool is_index(const char* path);
attn_status read_index(attn_context* context, attn_weights* weights);

}  // namespace attn::rt

// A file of tensors, or an index of several.
struct attn_weights {
  attn::rt::Source source;
  char* path;  // of the source, where it is not the caller's
  char* header;
  int64_t header_bytes;
  attn::rt::Entry* entries;  // sorted by name
  int32_t count;
  attn_weights** parts;  // the files of an index
  int32_t n_parts;
};
