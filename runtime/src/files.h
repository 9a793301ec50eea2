// Reading and writing files for the array formats.
#pragma once

#include <attn/array.h>
#include <stddef.h>
#include <string.h>

#include "context.h"

namespace attn::rt {

// Where bytes come from: a regular file, or memory. Reads past the end are errors.
struct Source {
  const char* label;  // the path, in messages
  int64_t size;
  const uint8_t* memory;                                          // null: read from the descriptor
  int descriptor;                                                 // -1: there is no file
  enum Owner : uint8_t { caller, mapping, heap } owner = caller;  // of the memory
};

// Refuses a path that is null or empty.
attn_status check_path(attn_context* context, const char* path);
// Refuses what is no regular file, and never blocks on a pipe.
attn_status open_source(attn_context* context, const char* path, Source* source);
// Puts all of an opened file into memory: maps it, or reads it where the system maps no such file.
attn_status map_source(attn_context* context, Source* source);
// Whether the file still has all bytes: a mapping must not be read where it has lost some.
attn_status check_size(attn_context* context, const Source& source);
// Refuses what is null; the bytes may be where there are none.
attn_status memory_source(attn_context* context, const char* label, const void* bytes, int64_t size,
                          Source* source);
attn_status read_at(attn_context* context, const Source& source, int64_t offset, void* destination,
                    int64_t bytes);
void close_source(Source* source);
// Refuses the source: ATTN_BAD_FILE, and its label before the text.
attn_status bad_file(attn_context* context, const Source& source, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// What a file of those first eight bytes is, "an .npy file", by which other programs are known;
// null where they are of none.
const char* foreign_format(const uint8_t* start);
attn_status check_bools(attn_context* context, const Source& source, const char* of,
                        const void* data, int64_t bytes);

// Writes beside `path` and takes its place when all is on disk. The first error sticks, so a writer
// looks at the status of `commit` only, which also removes the temporary file after a failure.
class AtomicFile {
 public:
  AtomicFile(attn_context* context, const char* path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, int64_t count);
  attn_status commit();

 private:
  void flush();
  void fail(const char* doing);

  attn_context* context_;
  const char* path_;
  char* temporary_ = nullptr;
  int descriptor_ = -1;
  attn_status status_ = ATTN_OK;
  size_t used_ = 0;
  char buffer_[16384];
};

// A name from a file, quoted for a message: what is not printable ASCII as \xHH, cut at 100 bytes.
class Quoted {
 public:
  explicit Quoted(const char* name) : Quoted(name, strlen(name)) {}
  Quoted(const char* name, size_t length);
  const char* text() const { return text_; }

 private:
  char text_[420];
};

// "3, 4"
class ExtentsText {
 public:
  ExtentsText(int32_t rank, const int64_t* extent);
  const char* text() const { return text_; }

 private:
  char text_[24 * ATTN_MAX_RANK + 1] = "";
};

// Elements and bytes of an array; false on overflow or a negative extent. A zero extent does not
// hide an overflow of the others.
bool array_size(attn_file_type type, int32_t rank, const int64_t* extent, int64_t* count,
                int64_t* bytes);

}  // namespace attn::rt
