// Element types of files and their checked conversions.
#include <attn/types.h>
#include <math.h>
#include <string.h>

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

template <class T>
T element(const void* data, int64_t index) {
  T value;
  memcpy(&value, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)),
         sizeof(T));
  return value;
}

Number of_real(double value) { return {value, 0, true, false}; }
Number of_integer(int64_t value) { return {static_cast<double>(value), value, false, false}; }

Number number_at(const attn_array& array, int64_t k) {
  switch (array.type) {
    case ATTN_FILE_F32:
      return of_real(element<float>(array.data, k));
    case ATTN_FILE_F64:
      return of_real(element<double>(array.data, k));
    case ATTN_FILE_F16:
      return of_real(attn_f32_from_f16(element<uint16_t>(array.data, k)));
    case ATTN_FILE_BF16:
      return of_real(attn_f32_from_bf16(element<uint16_t>(array.data, k)));
    case ATTN_FILE_I64:
      return of_integer(element<int64_t>(array.data, k));
    case ATTN_FILE_I32:
      return of_integer(element<int32_t>(array.data, k));
    case ATTN_FILE_I16:
      return of_integer(element<int16_t>(array.data, k));
    case ATTN_FILE_I8:
      return of_integer(element<int8_t>(array.data, k));
    case ATTN_FILE_U32:
      return of_integer(element<uint32_t>(array.data, k));
    case ATTN_FILE_U16:
      return of_integer(element<uint16_t>(array.data, k));
    case ATTN_FILE_BOOL:
    case ATTN_FILE_U8:
      return of_integer(element<uint8_t>(array.data, k));
    case ATTN_FILE_U64: {
      const uint64_t value = element<uint64_t>(array.data, k);
      Number number = of_integer(static_cast<int64_t>(value));
      number.above = value > static_cast<uint64_t>(INT64_MAX);
      number.real = static_cast<double>(value);
      return number;
    }
  }
  return of_integer(0);
}

template <class T>
void put(void* data, int64_t index, T value) {
  memcpy(static_cast<char*>(data) + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// An integer within +-2^bits is exact in a real of that precision.
bool exact(const Number& number, int bits) {
  const int64_t limit = int64_t{1} << bits;
  return !number.above && number.integer >= -limit && number.integer <= limit;
}

// Writes one element; false when the type cannot hold it.
bool put_number(const Number& number, attn_type type, void* to, int64_t k) {
  const bool real = number.is_real;
  const bool finite = real && isfinite(number.real);
  switch (type) {
    case ATTN_F64:
      if (!real && !exact(number, 53)) return false;
      put(to, k, number.real);
      return true;
    case ATTN_F32: {
      if (!real && !exact(number, 24)) return false;
      const float value = static_cast<float>(number.real);
      put(to, k, value);
      return !finite || isfinite(value);
    }
    case ATTN_F16: {
      if (!real && !exact(number, 11)) return false;
      const uint16_t value = attn_f16_from_f64(number.real);
      put(to, k, value);
      return !finite || (value & 0x7c00) != 0x7c00;
    }
    case ATTN_BF16: {
      if (!real && !exact(number, 8)) return false;
      const uint16_t value = attn_bf16_from_f64(number.real);
      put(to, k, value);
      return !finite || (value & 0x7f80) != 0x7f80;
    }
    case ATTN_I32:
      if (number.above || number.integer < INT32_MIN || number.integer > INT32_MAX) return false;
      put(to, k, static_cast<int32_t>(number.integer));
      return true;
    case ATTN_BOOL:
      if (number.integer != 0 && number.integer != 1) return false;
      put(to, k, static_cast<uint8_t>(number.integer));
      return true;
  }
  return false;
}

bool is_real(attn_file_type type) {
  return type == ATTN_FILE_F32 || type == ATTN_FILE_F64 || type == ATTN_FILE_F16 ||
         type == ATTN_FILE_BF16;
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

int64_t attn_file_type_size(attn_file_type type) {
  switch (type) {
    case ATTN_FILE_F64:
    case ATTN_FILE_I64:
    case ATTN_FILE_U64:
      return 8;
    case ATTN_FILE_F32:
    case ATTN_FILE_I32:
    case ATTN_FILE_U32:
      return 4;
    case ATTN_FILE_F16:
    case ATTN_FILE_BF16:
    case ATTN_FILE_I16:
    case ATTN_FILE_U16:
      return 2;
    case ATTN_FILE_BOOL:
    case ATTN_FILE_I8:
    case ATTN_FILE_U8:
      return 1;
  }
  return 0;
}

const char* attn_file_type_name(attn_file_type type) {
  switch (type) {
    case ATTN_FILE_F32:
      return "f32";
    case ATTN_FILE_F64:
      return "f64";
    case ATTN_FILE_F16:
      return "f16";
    case ATTN_FILE_BF16:
      return "bf16";
    case ATTN_FILE_I32:
      return "i32";
    case ATTN_FILE_BOOL:
      return "bool";
    case ATTN_FILE_I64:
      return "i64";
    case ATTN_FILE_I16:
      return "i16";
    case ATTN_FILE_I8:
      return "i8";
    case ATTN_FILE_U64:
      return "u64";
    case ATTN_FILE_U32:
      return "u32";
    case ATTN_FILE_U16:
      return "u16";
    case ATTN_FILE_U8:
      return "u8";
  }
  return "unknown";
}

void attn_array_free(attn_array* array) {
  if (array == nullptr) return;
  attn_free(nullptr, array->data);
  *array = attn_array{};
}

attn_status attn_array_convert(attn_context* context, const char* name, const attn_array* array,
                               attn_type type, void* destination) {
  const bool to_integer = type == ATTN_I32 || type == ATTN_BOOL;
  if ((to_integer && is_real(array->type)) ||
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
                     name, static_cast<long long>(k), number.real, attn_type_name(type));
  }
  return ATTN_OK;
}
