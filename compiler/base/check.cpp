#include "compiler/base/check.h"

#include <fmt/format.h>

namespace attn {

void check_failed(const char* condition, const char* file, int line, const std::string& text) {
  throw InternalError(fmt::format("{} ({} at {}:{})", text, condition, file, line));
}

}  // namespace attn
