// A formula as it stands on paper, whatever it is written in: TeX for papers, MathML for browsers
// (report/mathml.h), words for those who listen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/operation.h"

namespace attn::text {

struct Math {
  enum class Kind {
    letter,   // one letter
    word,     // a name of several letters
    upright,  // a name that is the same everywhere: d, exp, true
    number,
    sign,      // between its operands
    prefix,    // a sign before its operand
    comma,     // between the items of a list
    space,     // of a width
    mark,      // a bracket, which belongs to no other
    row,       // one after the other
    fraction,  // above, below
    root,
    fenced,  // a mark, what stands between, a mark
    below,   // base, subscript
    above,   // base, superscript
    limits,  // a sum or the like, what it runs over
    dotted,
    cases,  // value, condition, value otherwise
  };
  Kind kind = Kind::row;
  std::string text, tex;    // of what has no parts: in characters, and in TeX with its blanks
  std::vector<Math> parts;  // of the rest

  bool empty() const { return kind == Kind::row && parts.empty(); }
  bool operator==(const Math&) const = default;
};

// ---- parts
Math letters(std::string_view name);  // `q`, `gamma` as γ, `wq`
Math upright(std::string_view name);
Math operator_name(std::string_view name);  // of a function that TeX has no name for
Math number(std::string_view digits);
Math sign(std::string_view character, std::string_view tex = {});  // `=`, `-`; "≤" by "\\le"
Math minus();                                                      // before an operand
Math logical_not();                                                // before an operand
Math mark(std::string_view bracket);                               // of its own height
Math comma();                                                      // as in x_{i,j}
Math dots();
Math partial();    // ∂
Math such_that();  // the colon of a condition
Math blank();      // in the text of TeX only
Math thin_space();
Math wide_space();
// ---- wholes
Math row(std::vector<Math> parts);
// With the separator between any two.
Math joined(const std::vector<Math>& parts, const std::vector<Math>& separator);
Math fraction(Math above, Math below);
Math below(Math base, Math subscript);
Math above(Math base, Math superscript);
Math bracketed(Math inside);
Math floored(Math inside);
Math dotted(Math base);
// ∑, ∏, max, … over what stands below; the name of a reduction of the language.
Math limits(std::string_view reduction, Math over);
Math cases(Math value, Math condition, Math otherwise);
Math primes(Math base, size_t count);
// By the notation of its row.
Math call(const ir::Operation& operation, const std::vector<Math>& arguments);
Math call(Math function, const std::vector<Math>& arguments);

// What is written first, of a row and of what has scripts.
const Math& first_part(const Math& m);
// Without the minus that it begins with; false where it does not.
bool take_minus(Math& m);

std::string tex(const Math& m);
std::string spoken(const Math& m);

}  // namespace attn::text
