// Texts without state about the devices that there are: "there are 2 CUDA devices, of ordinals 0 to
// 1".
#pragma once

#include <stdint.h>

// `kind` is a literal, `what` stands behind it: " with doubles". Null where the ordinal is one of
// `count`.
#define ATTN_ORDINAL_TEXT(kind, what, n, last) \
  "there are " #n " " kind " devices" what ", of ordinals 0 to " #last
#define ATTN_ORDINAL_TEXTS(kind, what)                                                        \
  {                                                                                           \
    "there is no " kind " device" what, "there is one " kind " device" what ", of ordinal 0", \
        ATTN_ORDINAL_TEXT(kind, what, 2, 1), ATTN_ORDINAL_TEXT(kind, what, 3, 2),             \
        ATTN_ORDINAL_TEXT(kind, what, 4, 3), ATTN_ORDINAL_TEXT(kind, what, 5, 4),             \
        ATTN_ORDINAL_TEXT(kind, what, 6, 5), ATTN_ORDINAL_TEXT(kind, what, 7, 6),             \
        ATTN_ORDINAL_TEXT(kind, what, 8, 7),                                                  \
        "there are more than 8 " kind " devices" what ", and none of this ordinal"            \
  }

namespace attn::rt {

inline const char* text_of_count(const char* const (&texts)[10], int32_t count, int32_t ordinal) {
  if (ordinal >= 0 && ordinal < count) return nullptr;
  return texts[count < 0 ? 0 : count > 8 ? 9 : count];
}

}  // namespace attn::rt
