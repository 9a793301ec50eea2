// .npy files: a magic string, a header that is a Python dictionary, and the elements. The grammar
// read here is the part of Python that NumPy writes, with its keys in any order.
#include <attn/npy.h>
#include <attn/types.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "host_copy.h"

namespace attn::rt {
namespace {

constexpr int64_t kMaxHeader = 65536;
constexpr char kMagic[] = "\x93NUMPY";

struct Header {
  attn_file_type type;
  bool swapped;  // big-endian elements
  bool fortran;
  int32_t rank;
  int64_t extent[ATTN_MAX_RANK];
};

// Reads the dictionary; `wrong` is the first complaint.
struct HeaderParser {
  const char* at;
  const char* end;
  const char* wrong = nullptr;

  bool fail(const char* text) {
    if (wrong == nullptr) wrong = text;
    return false;
  }
  void skip_space() {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t')) ++at;
  }
  bool take(char c) {
    skip_space();
    if (at == end || *at != c) return false;
    ++at;
    return true;
  }
  bool word(const char* text) {
    skip_space();
    const size_t length = strlen(text);
    if (static_cast<size_t>(end - at) < length || memcmp(at, text, length) != 0) return false;
    at += length;
    return true;
  }
  // A quoted string without escapes, which no legal header needs.
  bool string(const char** text, size_t* length) {
    skip_space();
    if (at == end || (*at != '\'' && *at != '"')) return fail("a string is expected");
    const char quote = *at++;
    *text = at;
    while (at < end && *at != quote && *at != '\\') ++at;
    if (at == end || *at != quote) return fail("a string does not end");
    *length = static_cast<size_t>(at - *text);
    ++at;
    return true;
  }
  bool extent(int64_t* value) {
    skip_space();
    if (at == end || *at < '0' || *at > '9') return fail("shape: a size is expected");
    *value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; ++at) {
      if (__builtin_mul_overflow(*value, int64_t{10}, value) ||
          __builtin_add_overflow(*value, int64_t{*at - '0'}, value)) {
        return fail("shape: a size exceeds 2^63 - 1");
      }
    }
    return true;
  }
  bool shape(Header* header) {
    header->rank = 0;
    if (!take('(')) return fail("shape is no tuple");
    while (!take(')')) {
      if (header->rank == ATTN_MAX_RANK) return fail("shape: the rank exceeds 8");
      if (!extent(&header->extent[header->rank++])) return false;
      if (take(',')) continue;
      if (header->rank == 1) return fail("shape is no tuple");
      if (!take(')')) return fail("shape: ',' or ')' is expected");
      break;
    }
    return true;
  }
  bool descr(Header* header);
  bool parse(Header* header);
};

struct Letter {
  char kind;
  char size;
  attn_file_type type;
};

constexpr Letter kLetters[] = {
    {'f', '4', ATTN_FILE_F32}, {'f', '8', ATTN_FILE_F64}, {'f', '2', ATTN_FILE_F16},
    {'i', '4', ATTN_FILE_I32}, {'i', '8', ATTN_FILE_I64}, {'i', '2', ATTN_FILE_I16},
    {'i', '1', ATTN_FILE_I8},  {'u', '4', ATTN_FILE_U32}, {'u', '8', ATTN_FILE_U64},
    {'u', '2', ATTN_FILE_U16}, {'u', '1', ATTN_FILE_U8},  {'b', '1', ATTN_FILE_BOOL}};

bool HeaderParser::descr(Header* header) {
  skip_space();
  if (at < end && (*at == '[' || *at == '(')) {
    return fail("structured element types are not supported");
  }
  const char* text;
  size_t length;
  if (!string(&text, &length)) return false;
  if (length >= 2 && text[1] == 'O') return fail("object arrays are not supported");
  if (length != 3 || (text[0] != '<' && text[0] != '>' && text[0] != '|' && text[0] != '=')) {
    return fail("the element type is not supported (f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 are)");
  }
  for (const Letter& letter : kLetters) {
    if (text[1] != letter.kind || text[2] != letter.size) continue;
    if (text[0] == '|' && letter.size != '1') return fail("the element type has no byte order");
    header->type = letter.type;
    header->swapped = text[0] == '>' && letter.size != '1';
    return true;
  }
  return fail("the element type is not supported (f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 are)");
}

bool HeaderParser::parse(Header* header) {
  bool descr_seen = false, order_seen = false, shape_seen = false;
  if (!take('{')) return fail("the header is no dictionary");
  while (!take('}')) {
    const char* key;
    size_t length;
    if (!string(&key, &length)) return false;
    if (!take(':')) return fail("':' is expected");
    const auto is = [&](const char* name) {
      return length == strlen(name) && memcmp(key, name, length) == 0;
    };
    bool* seen = is("descr")           ? &descr_seen
                 : is("fortran_order") ? &order_seen
                 : is("shape")         ? &shape_seen
                                       : nullptr;
    if (seen == nullptr) return fail("the header has an unknown key");
    if (*seen) return fail("the header has a key twice");
    *seen = true;
    if (seen == &descr_seen) {
      if (!descr(header)) return false;
    } else if (seen == &shape_seen) {
      if (!shape(header)) return false;
    } else {
      header->fortran = word("True");
      if (!header->fortran && !word("False")) return fail("fortran_order is no bool");
    }
    if (take(',')) continue;
    if (!take('}')) return fail("',' or '}' is expected");
    break;
  }
  skip_space();
  if (at != end) return fail("the header goes on after its dictionary");
  if (!descr_seen) return fail("the header has no descr");
  if (!order_seen) return fail("the header has no fortran_order");
  if (!shape_seen) return fail("the header has no shape");
  return true;
}

void swap_bytes(void* data, int64_t count, int64_t size) {
  unsigned char* at = static_cast<unsigned char*>(data);
  for (int64_t k = 0; k < count; ++k, at += size) {
    for (int64_t j = 0; j < size / 2; ++j) {
      const unsigned char byte = at[j];
      at[j] = at[size - 1 - j];
      at[size - 1 - j] = byte;
    }
  }
}

// Reads a file in Fortran order, the first index fastest, piece by piece to its row-major places.
attn_status read_transposed(attn_context* context, const Source& source, int64_t offset,
                            attn_array* array, int64_t bytes) {
  const int64_t size = attn_file_type_size(array->type);
  int64_t stride[ATTN_MAX_RANK], index[ATTN_MAX_RANK] = {};
  int64_t place = size;
  for (int32_t k = array->rank - 1; k >= 0; --k) {
    stride[k] = place;
    place *= array->extent[k];
  }
  char piece[8192];
  char* base = static_cast<char*>(array->data);
  place = 0;
  for (int64_t done = 0; done < bytes;) {
    const int64_t part = bytes - done < static_cast<int64_t>(sizeof piece)
                             ? bytes - done
                             : static_cast<int64_t>(sizeof piece);
    const attn_status status = read_at(context, source, offset + done, piece, part);
    if (status != ATTN_OK) return status;
    for (int64_t j = 0; j < part; j += size) {
      memcpy(base + place, piece + j, static_cast<size_t>(size));
      for (int32_t k = 0; k < array->rank; ++k) {
        place += stride[k];
        if (++index[k] < array->extent[k]) break;
        place -= stride[k] * array->extent[k];
        index[k] = 0;
      }
    }
    done += part;
  }
  return ATTN_OK;
}

attn_status wrong_file(attn_context* context, const Source& source, const char* text) {
  return attn_fail(context, ATTN_BAD_FILE, "%s: %s", source.label, text);
}

attn_status read_elements(attn_context* context, const Source& source, int64_t offset,
                          const Header& header, attn_array* array) {
  int64_t bytes;
  const Shape shape(header.rank, header.extent);
  if (!array_size(header.type, header.rank, header.extent, &array->count, &bytes)) {
    return attn_fail(context, ATTN_BAD_FILE, "%s: shape %s overflows", source.label, shape.text());
  }
  if (bytes != source.size - offset) {
    return attn_fail(context, ATTN_BAD_FILE,
                     "%s: shape %s of %s takes %lld bytes, the file has %lld", source.label,
                     shape.text(), attn_file_type_name(header.type), static_cast<long long>(bytes),
                     static_cast<long long>(source.size - offset));
  }
  array->type = header.type;
  array->rank = header.rank;
  for (int32_t k = 0; k < header.rank; ++k) array->extent[k] = header.extent[k];
  array->data = exact_allocate(context, static_cast<size_t>(bytes));
  if (array->data == nullptr) return attn_fail(context, ATTN_NO_MEMORY, "out of memory");
  const attn_status status = header.fortran && header.rank > 1
                                 ? read_transposed(context, source, offset, array, bytes)
                                 : read_at(context, source, offset, array->data, bytes);
  if (status != ATTN_OK) return status;
  if (header.swapped) swap_bytes(array->data, array->count, attn_file_type_size(array->type));
  if (header.type == ATTN_FILE_BOOL) {
    for (int64_t k = 0; k < bytes; ++k) {
      if (static_cast<const uint8_t*>(array->data)[k] > 1) {
        return wrong_file(context, source, "a bool is neither 0 nor 1");
      }
    }
  }
  return ATTN_OK;
}

attn_status load(attn_context* context, const Source& source, attn_array* array) {
  unsigned char start[12] = {};
  const int64_t begun = source.size < 12 ? source.size : 12;
  attn_status status = read_at(context, source, 0, start, begun);
  if (status != ATTN_OK) return status;
  if (memcmp(start, "PK", 2) == 0) return wrong_file(context, source, ".npz is not supported");
  if (begun < 10 || memcmp(start, kMagic, 6) != 0) {
    return wrong_file(context, source, "is no .npy file");
  }
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0) {
    return attn_fail(context, ATTN_BAD_FILE, "%s: version %d.%d is not supported", source.label,
                     version, start[7]);
  }
  const int64_t prefix = version == 1 ? 10 : 12;
  int64_t length = start[8] | start[9] << 8;
  if (version > 1) length |= int64_t{start[10]} << 16 | int64_t{start[11]} << 24;
  if (source.size < prefix || length > source.size - prefix) {
    return wrong_file(context, source, "ends inside the header");
  }
  if (length > kMaxHeader) return wrong_file(context, source, "the header exceeds 64 KiB");
  char* text = static_cast<char*>(attn_allocate(context, static_cast<size_t>(length)));
  if (text == nullptr) return attn_fail(context, ATTN_NO_MEMORY, "out of memory");
  status = read_at(context, source, prefix, text, length);
  Header header = {};
  if (status == ATTN_OK) {
    HeaderParser parser{text, text + length};
    if (!parser.parse(&header)) status = wrong_file(context, source, parser.wrong);
  }
  attn_free(context, text);
  if (status != ATTN_OK) return status;
  return read_elements(context, source, prefix + length, header, array);
}

const char* descr_of(attn_type type) {
  switch (type) {
    case ATTN_F64:
      return "<f8";
    case ATTN_F16:
      return "<f2";
    case ATTN_I32:
      return "<i4";
    case ATTN_BOOL:
      return "|b1";
    default:
      return "<f4";
  }
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_npy_load(attn_context* context, const char* path, attn_array* array) {
  *array = attn_array{};
  Source source;
  attn_status status = open_source(context, path, &source);
  if (status != ATTN_OK) return status;
  status = load(context, source, array);
  close_source(&source);
  if (status != ATTN_OK) attn_array_free(array);
  return status;
}

attn_status attn_npy_parse(attn_context* context, const char* label, const void* bytes,
                           int64_t size, attn_array* array) {
  *array = attn_array{};
  const attn_status status = load(context, memory_source(label, bytes, size), array);
  if (status != ATTN_OK) attn_array_free(array);
  return status;
}

attn_status attn_npy_save(attn_context* context, const char* path, const attn_tensor* tensor) {
  const int64_t count = attn_element_count(tensor);
  if (count < 0 || (count > 0 && tensor->data == nullptr)) {
    return attn_fail(context, ATTN_REFUSED, "%s: the array has no valid size or data", path);
  }
  const HostCopy copy(context, *tensor, true);
  if (copy.status() != ATTN_OK) return copy.status();
  const void* data = copy.tensor().data;
  char shape[24 * ATTN_MAX_RANK + 3], header[512];
  char* to = shape;
  *to = '\0';
  for (int32_t k = 0; k < tensor->rank; ++k) {
    to += snprintf(to, 24, "%s%lld", k > 0 ? ", " : "", static_cast<long long>(tensor->extent[k]));
  }
  if (tensor->rank == 1) memcpy(to, ",", 2);
  int length =
      snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
               descr_of(tensor->type), shape);
  while ((10 + length + 1) % 64 != 0) header[length++] = ' ';
  header[length++] = '\n';
  unsigned char start[10];
  memcpy(start, kMagic, 6);
  start[6] = 1;
  start[7] = 0;
  start[8] = static_cast<unsigned char>(length & 0xff);
  start[9] = static_cast<unsigned char>(length >> 8);

  AtomicFile file(context, path);
  file.write(start, sizeof start);
  file.write(header, length);
  if (tensor->type == ATTN_BF16) {
    for (int64_t k = 0; k < count; ++k) {
      const float value = attn_f32_from_bf16(static_cast<const uint16_t*>(data)[k]);
      file.write(&value, sizeof value);
    }
  } else {
    file.write(data, count * attn_type_size(tensor->type));
  }
  return file.commit();
}
