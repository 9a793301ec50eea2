// The little that the lexer must know of Unicode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attn::dsl {

struct CodePoint {
  uint32_t value = 0;
  size_t length = 0;  // in bytes; 0: not well-formed UTF-8
};

// Decodes the sequence at `at`. Overlong forms, surrogates and values past U+10FFFF are not
// well-formed.
CodePoint decode_utf8(std::string_view text, size_t at);

// Characters that change the order in which a line is shown.
bool is_directional_control(uint32_t value);

// What a typographic or look-alike character stands for, or "".
std::string_view ascii_for(uint32_t value);

}  // namespace attn::dsl
