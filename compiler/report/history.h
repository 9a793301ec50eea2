// How a derivative came about: what each pass did, and which rules and passes made each line.
#pragma once

#include "compiler/report/report.h"

namespace attn::report {

// The formulas of definitions of a graph, by their numbers; names are relative to each definition's
// block. `letter`: of a derivative's names, as in block_of.
std::vector<Formula> formulas(const ir::Graph& g, const std::vector<size_t>& which,
                              char letter = 0);

// The letter that names of this derivative begin with.
char letter_of(const std::string& derivative);

// What is not of the forward graph. Passes that changed only what is are left out.
Derivative history(const Derived& derived, const ir::Graph& forward);

}  // namespace attn::report
