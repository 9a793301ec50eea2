// Well-formed UTF-8, for what is shown.
#pragma once

#include <string_view>

namespace attn {

inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length of the well-formed UTF-8 sequence at `at`, or 0: no broken bytes go to a terminal.
size_t sequence_length(std::string_view text, size_t at);

}  // namespace attn
