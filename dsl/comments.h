// Gives each comment, and each blank line, to the statement that the printer will put it at; and
// knows a comment that is written as in another language.
#pragma once

#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "dsl/tokens.h"

namespace attn::dsl {

// A comment on a line of its own belongs to what follows it, one after a statement to that
// statement; one within a statement moves above it.
void attach_comments(File& file, const std::vector<Comment>& comments, std::string_view text);

// What to say where a statement fails at `place`: how a comment is written, if `//` stands before
// it on its line and all that the line still says could be a comment. Otherwise empty.
std::string_view help_for_comment(const SourceMap& sources, Span place);
// The same of a name at `where` that is unknown, after what its diagnostic helps with already.
void add_help_for_comment(const SourceMap& sources, Span where, Diagnostic& d);

// What has a body in braces.
inline bool is_braced(const Item& item) {
  return std::holds_alternative<Block>(item.node) || std::holds_alternative<Update>(item.node);
}
// Such items are set off from their neighbours by a blank line, whether or not the source has one.
inline bool set_off(const Item& above, const Item& below) {
  return is_braced(above) || is_braced(below);
}

}  // namespace attn::dsl
