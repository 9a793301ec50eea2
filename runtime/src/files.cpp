// Reading from files and memory, and atomic writing.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

namespace attn::rt {

attn_status check_path(attn_context* context, const char* path) {
  if (path == nullptr) return attn_fail(context, ATTN_REFUSED, "the path is null");
  if (*path == '\0') return attn_fail(context, ATTN_REFUSED, "the path is empty");
  return ATTN_OK;
}

attn_status open_source(attn_context* context, const char* path, Source* source) {
  *source = {path, 0, nullptr, -1};
  ATTN_TRY(check_path(context, path));
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return bad_file(context, *source, "%s", strerror(errno));
  struct stat facts;
  const char* wrong = nullptr;
  if (fstat(descriptor, &facts) != 0) {
    wrong = strerror(errno);
  } else if (S_ISDIR(facts.st_mode)) {
    wrong = "is a directory";
  } else if (!S_ISREG(facts.st_mode)) {
    wrong = "is not a regular file";
  }
  if (wrong != nullptr) {
    close(descriptor);
    return bad_file(context, *source, "%s", wrong);
  }
  source->size = facts.st_size;
  source->descriptor = descriptor;
  return ATTN_OK;
}

attn_status map_source(attn_context* context, Source* source) {
  if (source->size == 0) return ATTN_OK;
  const size_t bytes = static_cast<size_t>(source->size);
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, source->descriptor, 0);
  if (mapped != MAP_FAILED) {
    source->memory = static_cast<const uint8_t*>(mapped);
    source->owner = Source::mapping;
    return ATTN_OK;
  }
  void* copy = exact_allocate(context, bytes);
  if (copy == nullptr) return out_of_memory(context);
  const attn_status status = read_at(context, *source, 0, copy, source->size);
  source->memory = static_cast<const uint8_t*>(copy);
  source->owner = Source::heap;
  return status;
}

attn_status check_size(attn_context* context, const Source& source) {
  struct stat facts;
  if (source.owner != Source::mapping) return ATTN_OK;
  if (fstat(source.descriptor, &facts) != 0)
    return bad_file(context, source, "%s", strerror(errno));
  if (facts.st_size >= source.size) return ATTN_OK;
  return bad_file(context, source, "was cut short while it was read");
}

attn_status memory_source(attn_context* context, const char* label, const void* bytes, int64_t size,
                          Source* source) {
  static const uint8_t nothing = 0;
  const uint8_t* memory = static_cast<const uint8_t*>(bytes);
  *source = {label, size < 0 ? 0 : size, memory != nullptr ? memory : &nothing, -1};
  ATTN_TRY(check_given(context, label, "label"));
  return check_array(context, bytes, source->size, "bytes");
}

attn_status read_at(attn_context* context, const Source& source, int64_t offset, void* destination,
                    int64_t bytes) {
  if (offset < 0 || bytes < 0 || offset > source.size || bytes > source.size - offset) {
    return bad_file(context, source, "ends early: %lld bytes at %lld of %lld", shown(bytes),
                    shown(offset), shown(source.size));
  }
  if (source.memory != nullptr) {
    ATTN_TRY(check_size(context, source));
    if (bytes > 0) memcpy(destination, source.memory + offset, static_cast<size_t>(bytes));
    return ATTN_OK;
  }
  char* to = static_cast<char*>(destination);
  while (bytes > 0) {
    const ssize_t got = pread(source.descriptor, to, static_cast<size_t>(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bad_file(context, source, "%s", strerror(errno));
    if (got == 0) return bad_file(context, source, "was cut short while it was read");
    to += got;
    offset += got;
    bytes -= got;
  }
  return ATTN_OK;
}

void close_source(Source* source) {
  if (source->owner != Source::caller) {
    void* memory = const_cast<uint8_t*>(source->memory);
    if (source->owner == Source::mapping)
      munmap(memory, static_cast<size_t>(source->size));
    else
      attn_free(nullptr, memory);
    source->owner = Source::caller;
    source->memory = nullptr;
  }
  if (source->descriptor >= 0) close(source->descriptor);
  source->descriptor = -1;
}

attn_status bad_file(attn_context* context, const Source& source, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return attn_fail(context, ATTN_BAD_FILE, "%s: %s", source.label, text);
}

const char* foreign_format(const uint8_t* start) {
  static constexpr struct {
    char bytes[7], name[32];
  } kFormats[] = {{"\x93NUMPY", "an .npy file"},
                  {"PK\x03\x04", "a zip file, as .npz and .pt are"},
                  {"GGUF", "a GGUF file"},
                  {"\x89HDF", "an HDF5 file"}};
  for (const auto& format : kFormats)
    if (memcmp(start, format.bytes, strlen(format.bytes)) == 0) return format.name;
  return nullptr;
}

attn_status check_bools(attn_context* context, const Source& source, const char* of,
                        const void* data, int64_t bytes) {
  for (int64_t k = 0; k < bytes; ++k)
    if (static_cast<const uint8_t*>(data)[k] > 1)
      return bad_file(context, source, "%sa bool is neither 0 nor 1", of);
  return ATTN_OK;
}

namespace {

// Whether a file put in the place of `path` would take that of a device, a pipe or the like; also
// by a link, such as /dev/stdout.
bool is_special(const char* path) {
  struct stat facts;
  if (lstat(path, &facts) != 0) return false;
  if (!S_ISLNK(facts.st_mode)) return !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
  char target[8] = "";
  if (readlink(path, target, sizeof target - 1) > 0 &&
      (strncmp(target, "/proc/", 6) == 0 || strncmp(target, "/dev/", 5) == 0)) {
    return true;
  }
  return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

}  // namespace

AtomicFile::AtomicFile(attn_context* context, const char* path) : context_(context), path_(path) {
  status_ = check_path(context, path);
  if (status_ != ATTN_OK) return;
  if (is_special(path)) {
    status_ =
        attn_fail(context, ATTN_BAD_FILE, "%s: is not a regular file, and is not replaced", path);
    return;
  }
  const size_t room = strlen(path) + 48;
  temporary_ = static_cast<char*>(attn_allocate(context, room));
  if (temporary_ == nullptr) {
    status_ = out_of_memory(context);
    return;
  }
  // mkstemp would give permissions that the process's mask does not.
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(temporary_, room, "%s.%ld-%09ld.tmp", path, static_cast<long>(getpid()),
             static_cast<long>(now.tv_nsec));
    descriptor_ = open(temporary_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) fail("create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    unlink(temporary_);
  }
  attn_free(context_, temporary_);
}

void AtomicFile::fail(const char* doing) {
  if (status_ != ATTN_OK) return;
  status_ = attn_fail(context_, ATTN_BAD_FILE, "%s: cannot %s: %s", path_, doing, strerror(errno));
}

void AtomicFile::flush() {
  const char* from = buffer_;
  while (used_ > 0 && status_ == ATTN_OK) {
    const ssize_t put = ::write(descriptor_, from, used_);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail("write");
    from += put;
    used_ -= static_cast<size_t>(put);
  }
  used_ = 0;
}

void AtomicFile::write(const void* bytes, int64_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0 && status_ == ATTN_OK) {
    if (used_ == sizeof buffer_) flush();
    const size_t room = sizeof buffer_ - used_;
    const size_t part = static_cast<uint64_t>(count) < room ? static_cast<size_t>(count) : room;
    memcpy(buffer_ + used_, from, part);
    used_ += part;
    from += part;
    count -= static_cast<int64_t>(part);
  }
}

attn_status AtomicFile::commit() {
  if (status_ == ATTN_OK) flush();
  if (status_ == ATTN_OK && fsync(descriptor_) != 0) fail("write");
  if (status_ == ATTN_OK && rename(temporary_, path_) != 0) fail("replace");
  if (status_ != ATTN_OK) return status_;
  close(descriptor_);
  descriptor_ = -1;
  // The new name is on disk only when its directory is; where that is refused, the data still is.
  char* slash = strrchr(temporary_, '/');
  if (slash != nullptr) slash[slash == temporary_ ? 1 : 0] = '\0';
  const int directory = open(slash != nullptr ? temporary_ : ".", O_RDONLY | O_CLOEXEC);
  if (directory >= 0) {
    fsync(directory);
    close(directory);
  }
  return ATTN_OK;
}

Quoted::Quoted(const char* name, size_t length) {
  constexpr size_t kShown = 100;
  char* to = text_;
  *to++ = '"';
  for (size_t k = 0; k < length && k < kShown; ++k) {
    const unsigned char byte = static_cast<unsigned char>(name[k]);
    if (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\') {
      to += snprintf(to, 5, "\\x%02x", byte);
    } else {
      *to++ = static_cast<char>(byte);
    }
  }
  strcpy(to, length > kShown ? "...\"" : "\"");
}

ExtentsText::ExtentsText(int32_t rank, const int64_t* extent) {
  char* to = text_;
  for (int32_t k = 0; k < rank; ++k)
    to += snprintf(to, 24, "%s%lld", k > 0 ? ", " : "", shown(extent[k]));
}

bool array_size(attn_file_type type, int32_t rank, const int64_t* extent, int64_t* count,
                int64_t* bytes) {
  int64_t product = attn_file_type_size(type);
  *count = 1;
  bool empty = false;
  for (int32_t k = 0; k < rank; ++k) {
    if (extent[k] < 0) return false;
    if (extent[k] == 0) {
      empty = true;
    } else {
      if (__builtin_mul_overflow(product, extent[k], &product)) return false;
      *count *= extent[k];
    }
  }
  *bytes = empty ? 0 : product;
  if (empty) *count = 0;
  return true;
}

}  // namespace attn::rt
