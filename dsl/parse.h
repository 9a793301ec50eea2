// From text to tree.
#pragma once

#include <cstddef>
#include <string_view>

#include "compiler/base/diagnostic.h"
#include "dsl/ast.h"

namespace attn::dsl {

// Limits of one file; a file beyond them gets one message that names the limit.
inline constexpr size_t kMaxSourceBytes = size_t{1} << 20;
inline constexpr size_t kMaxNameBytes = 255;  // between the dots of a name
inline constexpr size_t kMaxTokens = size_t{1}
                                     << 18;  // words and signs: bounds the nodes of a tree

// Parses one file of the map. Reports every statement that cannot be read, goes on after it, and
// returns the rest; the tree is worth elaborating only if there were no errors.
File parse(const SourceMap& sources, int32_t file, Diagnostics& diagnostics);

// Parses one expression of our own, such as a derivative in the table of operations. An error in
// it is ours: throws InternalError.
ExprPtr parse_expression(std::string_view text);

}  // namespace attn::dsl
