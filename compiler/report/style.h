// The page's style sheet.
#pragma once

namespace attn::report {

// Dark and light by what the reader prefers, light on paper; nothing is loaded.
extern const char* const kStyle;

}  // namespace attn::report
