// A graph as TeX, for papers and reports; needs amsmath.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::text {

// Its definitions as one align* environment. Where `given` is there, those of tensors that it
// defines too, by name, are left out: the derivative without the forward graph; and the title says
// what of it g is: "gradient".
std::string to_tex(const ir::Graph& g, const ir::Graph* given = nullptr,
                   const std::string& what = "gradient");

// One definition: `left = right where condition`; the condition may be empty. `text` is the same in
// the language's own notation, on one line.
struct TexLine {
  std::string left, right, condition, text;
};
// Of definitions of the graph, by their numbers.
std::vector<TexLine> tex_lines(const ir::Graph& g, const std::vector<size_t>& which);
// The names of all tensors of the graph, in order.
std::vector<std::string> tex_names(const ir::Graph& g);
// An index or a size by its name: `i`, `\mathit{row}`, `e_{2}`.
std::string tex_index(const std::string& name);

}  // namespace attn::text
