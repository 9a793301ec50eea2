// Element types of files and their checked conversions.
#include <math.h>

#include "check.h"
#include "elements.h"
#include "file_types.h"
#include "files.h"

namespace attn::rt {
namespace {

// A number from a file, kept so that no type loses a bit: reals as double, integers as 64 bits.
struct Number {
  double real;
  int64_t integer;
  bool is_real;
  bool above;  // an unsigned value of 2^63 or more
};

Number number_at(const attn_array& array, int64_t k) {
  const FileType& type = kFileTypes[array.type];
  if (type.digits > 0)
    return {get_real(static_cast<attn_type>(array.type), array.data, k), 0, true, false};
  uint64_t bits = 0;  // the lowest byte first
  memcpy(&bits, static_cast<const char*>(array.data) + k * type.size,
         static_cast<size_t>(type.size));
  const int unused = 64 - 8 * type.size;
  const int64_t integer = static_cast<int64_t>(bits << unused) >> unused;
  if (type.name[0] == 'i') return {static_cast<double>(integer), integer, false, false};
  return {static_cast<double>(bits), static_cast<int64_t>(bits), false, bits > INT64_MAX};
}

// Writes one element; false when the type cannot hold it. An integer within +-2^digits is exact in
// a real of that precision.
bool put_number(const Number& number, attn_type type, void* to, int64_t k) {
  const FileType& row = kFileTypes[type];
  int64_t most = int64_t{1} << row.digits, least = -most;
  if (row.digits == 0) {
    const bool is_signed = row.name[0] == 'i';
    most = type == ATTN_BOOL ? 1 : (int64_t{1} << (8 * row.size - is_signed)) - 1;
    least = is_signed ? -most - 1 : 0;
  }
  if (!number.is_real && (number.above || number.integer < least || number.integer > most))
    return false;
  put_real(type, to, k, number.real);
  return !isfinite(number.real) || isfinite(get_real(type, to, k));
}

bool is_known(attn_file_type type) { return type >= 0 && type < kFileTypeCount; }

// Whether merging neighbours among the dimensions of `fine` gives `coarse`.
bool merges(int32_t fine_rank, const int64_t* fine, int32_t coarse_rank, const int64_t* coarse) {
  int32_t k = 0;
  for (int32_t j = 0; j < coarse_rank; ++j) {
    int64_t product = 1;
    while (k < fine_rank && product != coarse[j])
      if (__builtin_mul_overflow(product, fine[k++], &product)) return false;
    if (product != coarse[j]) return false;
  }
  while (k < fine_rank && fine[k] == 1) ++k;
  return k == fine_rank;
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

int64_t attn_file_type_size(attn_file_type type) {
  return is_known(type) ? kFileTypes[type].size : 0;
}

const char* attn_file_type_name(attn_file_type type) {
  return is_known(type) ? kFileTypes[type].name : "unknown";
}

int attn_shapes_merge(int32_t rank_a, const int64_t* a, int32_t rank_b, const int64_t* b) {
  if ((rank_a > 0 && a == nullptr) || (rank_b > 0 && b == nullptr)) return 0;
  return merges(rank_a, a, rank_b, b) || merges(rank_b, b, rank_a, a);
}

void attn_array_free(attn_array* array) {
  if (array == nullptr) return;
  attn_free(nullptr, array->data);
  *array = attn_array{};
}

attn_status attn_array_convert(attn_context* context, const char* name, const attn_array* array,
                               attn_type type, void* destination) {
  ATTN_TRY(check_given(context, name, "name"));
  ATTN_TRY(check_given(context, array, "array"));
  ATTN_TRY(check_array(context, array->data, array->count, "array->data"));
  ATTN_TRY(check_array(context, destination, array->count, "destination"));
  if (!is_known(array->type) || attn_type_size(type) == 0 ||
      (!is_real(type) && kFileTypes[array->type].digits > 0) ||
      (type == ATTN_BOOL && array->type != ATTN_FILE_BOOL)) {
    return attn_fail(context, ATTN_REFUSED, "%s: %s is not converted to %s", name,
                     attn_file_type_name(array->type), attn_type_name(type));
  }
  if (static_cast<int>(array->type) == static_cast<int>(type)) {
    const size_t bytes = static_cast<size_t>(array->count * attn_type_size(type));
    if (bytes > 0) memcpy(destination, array->data, bytes);
    return ATTN_OK;
  }
  for (int64_t k = 0; k < array->count; ++k) {
    const Number number = number_at(*array, k);
    if (put_number(number, type, destination, k)) continue;
    return attn_fail(context, ATTN_BAD_DATA, "%s: element %lld is %.17g, which %s does not hold",
                     name, shown(k), number.real, attn_type_name(type));
  }
  return ATTN_OK;
}
