// Failures that are ours, not the user's. ATTN_CHECK stays on in release builds; it throws, and the
// driver turns it into exit status 70 with the text.
#pragma once

#include <stdexcept>
#include <string>

namespace attn {

// A broken promise inside the compiler.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

// A program that exceeds a limit of the compiler. The driver exits with 4; the text names the limit.
struct LimitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& text);

}  // namespace attn

// The second argument is a std::string (use fmt::format); it is evaluated only on failure.
#define ATTN_CHECK(condition, text) \
  do {                              \
    if (!(condition)) ::attn::check_failed(#condition, __FILE__, __LINE__, (text)); \
  } while (false)
