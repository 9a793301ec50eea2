// A graph as TeX, for papers and reports; needs amsmath.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace attn::text {

// Its definitions as one align* environment. Where `given` is there, those of tensors that it
// defines too, by name, are left out: the derivative without the forward graph; and the title says
// what of it g is: "gradient".
std::string to_tex(const ir::Graph& g, const ir::Graph* given = nullptr,
                   const std::string& what = "gradient");

}  // namespace attn::text
