// The standard library, which the compiler carries within itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::driver {

// The text of "std/norm.attn", or nothing.
std::optional<std::string_view> library_file(std::string_view name);
// "std.activations", "std.attention", …
std::vector<std::string> library_names();

}  // namespace attn::driver
