// Formulas for browsers: MathML, which all of them draw without a library.
#pragma once

#include <string>
#include <string_view>

namespace attn::report {

// Text that is safe in an element and in a quoted attribute.
std::string escaped_xml(std::string_view text);

// The formula as a `math` element. Reads the TeX that text::to_tex and the rows of operations are
// written in, so that both forms come from one walk of the tree; anything else is an InternalError.
// `spoken`, in the notation of the language, is what a screen reader says and what is copied.
std::string mathml(std::string_view tex, std::string_view spoken);

}  // namespace attn::report
