// Formulas for browsers: MathML, which all of them draw without a library.
#pragma once

#include <string>
#include <string_view>

#include "compiler/text/math.h"

namespace attn::report {

// Text that is safe in an element and in a quoted attribute.
std::string escaped_xml(std::string_view text);

// The formula as a `math` element. `spoken` is what a screen reader says and what is copied;
// without it, the formula in words.
std::string mathml(const text::Math& formula, std::string_view spoken = {});

}  // namespace attn::report
