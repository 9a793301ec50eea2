// How a derivative came about: what each pass did, and which rules and passes made each line.
#pragma once

#include "compiler/report/report.h"

namespace attn::report {

// The formulas of definitions of a graph, by their numbers; names are relative to each definition's
// block. `letter`: of a derivative's names, as in block_of.
std::vector<Formula> formulas(const ir::Graph& g, const std::vector<size_t>& which,
                              char letter = 0);

// What people call a derivative, and the letter that its names begin with.
struct Words {
  const char *name, *what;  // "gradient", "Gradient"
  char letter;
};
Words words_of(plan::FunctionKind derivative);

// What is not of the forward graph. Passes that changed only what is are left out.
Derivative history(const Derived& derived, const ir::Graph& forward);

}  // namespace attn::report
