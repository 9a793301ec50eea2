// Pages as XML: whether they are, and what they say.
#pragma once

#include <string>

namespace attn::testing {

// "" or what keeps a text from being well-formed XML, as far as our pages go: elements, quoted
// attributes, text, one document type.
std::string xml_problem(const std::string& text);

// What a screen reader says of a page: formulas as their alternative text, a line for each block,
// row of a table, and box or arrow of a drawing, whose boxes begin with their class. Without
// styles.
std::string spoken(const std::string& page);

}  // namespace attn::testing
