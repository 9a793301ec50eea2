// .npy files: a magic string, a header that is a Python dictionary, and the elements. The grammar
// read here is the part of Python that NumPy writes, with its keys in any order.
#include <attn/npy.h>
#include <attn/types.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "check.h"
#include "file_types.h"
#include "files.h"
#include "host_copy.h"
#include "scanner.h"

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

// Reads the dictionary.
class HeaderScanner : public Scanner {
 public:
  using Scanner::Scanner;

  bool parse(Header* header) {
    bool descr_seen = false, order_seen = false, shape_seen = false;
    if (!take('{')) return fail("the header is no dictionary");
    while (!take('}')) {
      Text key;
      if (!string(&key)) return false;
      if (!take(':')) return fail("':' is expected");
      bool* seen = key.is("descr")           ? &descr_seen
                   : key.is("fortran_order") ? &order_seen
                   : key.is("shape")         ? &shape_seen
                                             : nullptr;
      if (seen == nullptr) return fail("the header has an unknown key");
      if (*seen) return fail("the header has a key twice");
      *seen = true;
      if (seen == &descr_seen) {
        if (!descr(header)) return false;
      } else if (seen == &shape_seen) {
        if (!shape(header)) return false;
      } else {
        header->fortran = take("True");
        if (!header->fortran && !take("False")) return fail("fortran_order is no bool");
      }
      if (take(',')) continue;
      if (!take('}')) return fail("',' or '}' is expected");
      break;
    }
    if (!at_end()) return fail("the header goes on after its dictionary");
    if (!descr_seen) return fail("the header has no descr");
    if (!order_seen) return fail("the header has no fortran_order");
    return shape_seen || fail("the header has no shape");
  }

 private:
  // A quoted string without escapes, which no legal header needs.
  bool string(Text* text) {
    if (!take('\'') && !take('"')) return fail("a string is expected");
    const char quote = at_[-1];
    text->begin = at_;
    while (at_ < end_ && *at_ != quote && *at_ != '\\') ++at_;
    if (at_ == end_ || *at_ != quote) return fail("a string does not end");
    text->length = static_cast<size_t>(at_++ - text->begin);
    return true;
  }

  bool shape(Header* header) {
    header->rank = 0;
    if (!take('(')) return fail("shape is no tuple");
    while (!take(')')) {
      if (header->rank == ATTN_MAX_RANK) return fail("shape: the rank exceeds 8");
      if (!digits(&header->extent[header->rank++], "shape: a size is expected",
                  "shape: a size exceeds 2^63 - 1"))
        return false;
      if (take(',')) continue;
      if (header->rank == 1) return fail("shape is no tuple");
      return take(')') || fail("shape: ',' or ')' is expected");
    }
    return true;
  }

  bool descr(Header* header) {
    if (take('[') || take('(')) return fail("structured element types are not supported");
    Text text = {};
    if (!string(&text)) return false;
    if (text.length >= 2 && text.begin[1] == 'O') return fail("object arrays are not supported");
    const char order = text.length == 3 ? text.begin[0] : '\0';
    for (int k = 0; order != '\0' && strchr("<>|=", order) != nullptr && k < kFileTypeCount; ++k) {
      const FileType& type = kFileTypes[k];
      if (type.numpy[0] == '\0' || memcmp(type.numpy, text.begin + 1, 2) != 0) continue;
      if (order == '|' && type.size != 1) return fail("the element type has no byte order");
      header->type = static_cast<attn_file_type>(k);
      header->swapped = order == '>' && type.size != 1;
      return true;
    }
    return fail("the element type is not supported (f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 are)");
  }
};

void swap_bytes(void* data, int64_t count, int64_t size) {
  char* at = static_cast<char*>(data);
  for (int64_t k = 0; k < count; ++k, at += size) std::reverse(at, at + size);
}

// Reads a file in Fortran order, the first index fastest, piece by piece to its row-major
// positions.
attn_status read_transposed(attn_context* context, const Source& source, int64_t offset,
                            attn_array* array, int64_t bytes) {
  const int64_t size = attn_file_type_size(array->type);
  int64_t stride[ATTN_MAX_RANK], index[ATTN_MAX_RANK] = {};
  int64_t at = size;
  for (int32_t k = array->rank - 1; k >= 0; --k) {
    stride[k] = at;
    at *= array->extent[k];
  }
  char piece[8192];
  char* base = static_cast<char*>(array->data);
  at = 0;
  for (int64_t done = 0; done < bytes;) {
    const int64_t part = std::min<int64_t>(bytes - done, sizeof piece);
    ATTN_TRY(read_at(context, source, offset + done, piece, part));
    for (int64_t j = 0; j < part; j += size) {
      memcpy(base + at, piece + j, static_cast<size_t>(size));
      for (int32_t k = 0; k < array->rank; ++k) {
        at += stride[k];
        if (++index[k] < array->extent[k]) break;
        at -= stride[k] * array->extent[k];
        index[k] = 0;
      }
    }
    done += part;
  }
  return ATTN_OK;
}

attn_status read_elements(attn_context* context, const Source& source, int64_t offset,
                          const Header& header, attn_array* array) {
  int64_t bytes;
  const ExtentsText shape(header.rank, header.extent);
  if (!array_size(header.type, header.rank, header.extent, &array->count, &bytes))
    return bad_file(context, source, "shape [%s] overflows", shape.text());
  if (bytes != source.size - offset) {
    return bad_file(context, source, "shape [%s] of %s takes %lld bytes, the file has %lld",
                    shape.text(), attn_file_type_name(header.type), shown(bytes),
                    shown(source.size - offset));
  }
  array->type = header.type;
  array->rank = header.rank;
  memcpy(array->extent, header.extent, sizeof array->extent);
  array->data = exact_allocate(context, static_cast<size_t>(bytes));
  if (array->data == nullptr) return out_of_memory(context);
  ATTN_TRY(header.fortran && header.rank > 1
               ? read_transposed(context, source, offset, array, bytes)
               : read_at(context, source, offset, array->data, bytes));
  if (header.swapped) swap_bytes(array->data, array->count, attn_file_type_size(array->type));
  const bool is_bool = header.type == ATTN_FILE_BOOL;
  return is_bool ? check_bools(context, source, "", array->data, bytes) : ATTN_OK;
}

attn_status load(attn_context* context, const Source& source, attn_array* array) {
  unsigned char start[12] = {};
  const int64_t begun = source.size < 12 ? source.size : 12;
  ATTN_TRY(read_at(context, source, 0, start, begun));
  if (memcmp(start, "PK", 2) == 0)
    return bad_file(context, source, ".npz is not supported: save each array as an .npy file");
  if (begun < 10 || memcmp(start, kMagic, 6) != 0)
    return bad_file(context, source, "is not an .npy file");
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0)
    return bad_file(context, source, "version %d.%d is not supported", version, start[7]);
  const int64_t prefix = version == 1 ? 10 : 12;
  int64_t length = start[8] | start[9] << 8;
  if (version > 1) length |= int64_t{start[10]} << 16 | int64_t{start[11]} << 24;
  if (source.size < prefix || length > source.size - prefix)
    return bad_file(context, source, "ends inside the header");
  if (length > kMaxHeader) return bad_file(context, source, "the header exceeds 64 KiB");
  const Scratch<char> text(context, length);
  if (text.data() == nullptr) return out_of_memory(context);
  ATTN_TRY(read_at(context, source, prefix, text.data(), length));
  Header header = {};
  HeaderScanner scanner(text.data(), text.data() + length);
  if (!scanner.parse(&header)) return bad_file(context, source, "%s", scanner.wrong());
  return read_elements(context, source, prefix + length, header, array);
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_npy_load(attn_context* context, const char* path, attn_array* array) {
  ATTN_TRY(check_given(context, array, "array"));
  *array = attn_array{};
  Source source;
  ATTN_TRY(open_source(context, path, &source));
  const attn_status status = load(context, source, array);
  close_source(&source);
  if (status != ATTN_OK) attn_array_free(array);
  return status;
}

attn_status attn_npy_parse(attn_context* context, const char* label, const void* bytes,
                           int64_t size, attn_array* array) {
  ATTN_TRY(check_given(context, array, "array"));
  *array = attn_array{};
  Source source;
  ATTN_TRY(memory_source(context, label, bytes, size, &source));
  const attn_status status = load(context, source, array);
  if (status != ATTN_OK) attn_array_free(array);
  return status;
}

attn_status attn_npy_save(attn_context* context, const char* path, const attn_tensor* tensor) {
  ATTN_TRY(check_path(context, path));
  ATTN_TRY(check_given(context, tensor, "tensor"));
  const int64_t count = attn_element_count(tensor);
  if (count < 0 || (count > 0 && tensor->data == nullptr))
    return attn_fail(context, ATTN_REFUSED, "%s: the array has no valid size or data", path);
  const HostCopy copy(context, *tensor, true);
  ATTN_TRY(copy.status());
  const void* data = copy.tensor().data;
  const attn_type type = tensor->type == ATTN_BF16 ? ATTN_F32 : tensor->type;
  const char* order = attn_type_size(type) == 1 ? "|" : "<";
  const ExtentsText shape(tensor->rank, tensor->extent);
  char header[512];
  int length = snprintf(header, sizeof header,
                        "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s%s), }", order,
                        kFileTypes[type].numpy, shape.text(), tensor->rank == 1 ? "," : "");
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
