// The inside of an opened weight file, and the rules for names that reading and writing share.
#pragma once

#include <attn/safetensors.h>

#include "files.h"

namespace attn::rt {

// Null when the name is allowed, else what is wrong with it.
const char* name_complaint(const char* name, size_t length);

// One tensor. Extents stay in the header's text: the table is smaller than the text it describes.
struct Entry {
  const char* name;
  int64_t begin, end;  // in the data section
  uint32_t shape_at;   // in the header
  uint8_t type;
  uint8_t rank;
};

}  // namespace attn::rt

struct attn_weights {
  attn::rt::Source source;
  char* header;
  int64_t header_bytes;
  attn::rt::Entry* entries;  // sorted by name
  int32_t count;
};
