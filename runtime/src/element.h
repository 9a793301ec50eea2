#pragma once

#include "frame.h"

namespace attn::rt {

constexpr int kElementText = 96;

// Writes which element of an integer input is this number, for what stands after its name: "[2, 0]
// is 10". Writes the empty text where none is, as where a subscript is computed from elements.
void describe_element(Frame& frame, const char* input, int32_t number, char* text);

}  // namespace attn::rt
