// Parts of the page.
#pragma once

#include <string>

#include "compiler/report/report.h"

namespace attn::report {

// A formula on a line of its own: what it defines, its value, its condition.
std::string row(const Formula& f);
// The same with more, HTML, if its condition holds.
std::string row_with(const Formula& f, const std::string& more);
// A part that can be shut; `summary` is HTML.
std::string fold(const std::string& summary, const std::string& inside, bool open);

// A count: its formula as MathML; its value, in a unit, where sizes are known, or what is left of
// the formula then.
using UnitText = std::string (*)(double);
std::string formula_of(const Count& c);
std::string value_of(const Count& c, UnitText unit);

std::string big_o(const text::Math& order);

// The lines of a derivative with what made them, and the steps of its derivation.
std::string derivation(const Derivative& d);
// Kernels and tensors of a function.
std::string plan_of(const FunctionReport& f);

}  // namespace attn::report
