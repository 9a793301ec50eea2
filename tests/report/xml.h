// Whether a text is well-formed XML, as far as our pages go: elements, quoted attributes, text, one
// document type.
#pragma once

#include <string>

namespace attn::testing {

// "" or what is wrong.
std::string xml_problem(const std::string& text);

}  // namespace attn::testing
