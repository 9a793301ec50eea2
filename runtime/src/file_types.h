// The types of elements in files: one row each.
#pragma once

#include <attn/array.h>

namespace attn::rt {

// Texts are arrays, no pointers, so that the table needs no relocation.
struct FileType {
  char name[5];         // "f32"
  char safetensors[5];  // "F32"
  char numpy[3];        // "f4"; "" where NumPy has none
  int8_t size;          // in bytes
  int8_t digits;        // of a real's significand, in bits; 0: no real
};

// By attn_file_type.
constexpr FileType kFileTypes[] = {
    {"f32", "F32", "f4", 4, 24}, {"f64", "F64", "f8", 8, 53}, {"f16", "F16", "f2", 2, 11},
    {"bf16", "BF16", "", 2, 8},  {"i32", "I32", "i4", 4, 0},  {"bool", "BOOL", "b1", 1, 0},
    {"i64", "I64", "i8", 8, 0},  {"i16", "I16", "i2", 2, 0},  {"i8", "I8", "i1", 1, 0},
    {"u64", "U64", "u8", 8, 0},  {"u32", "U32", "u4", 4, 0},  {"u16", "U16", "u2", 2, 0},
    {"u8", "U8", "u1", 1, 0},
};
constexpr int kFileTypeCount = sizeof kFileTypes / sizeof kFileTypes[0];
static_assert(kFileTypeCount == ATTN_FILE_U8 + 1);

}  // namespace attn::rt
