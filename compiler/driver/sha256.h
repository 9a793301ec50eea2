// SHA-256 (FIPS 180-4): what the cache knows its entries by.
#pragma once

#include <string>
#include <string_view>

namespace attn::driver {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace attn::driver
