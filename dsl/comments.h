// Gives each comment, and each blank line, to the statement that the printer will put it at.
#pragma once

#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "dsl/tokens.h"

namespace attn::dsl {

// A comment on a line of its own belongs to what follows it, one after a statement to that
// statement; one within a statement moves above it.
void attach_comments(File& file, const std::vector<Comment>& comments, std::string_view text);

// What has a body in braces.
inline bool is_braced(const Item& item) {
  return std::holds_alternative<Block>(item.node) || std::holds_alternative<Update>(item.node);
}
// Such items are set off from their neighbours by a blank line, whether or not the source has one.
inline bool set_off(const Item& above, const Item& below) {
  return is_braced(above) || is_braced(below);
}

}  // namespace attn::dsl
