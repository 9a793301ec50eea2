// A graph as formulas, for papers and reports.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/text/math.h"

namespace attn::text {

// Its definitions as one align* environment of TeX; needs amsmath. Where `given` is there, those of
// tensors that it defines too, by name, are left out: the derivative without the forward graph; and
// the title says what of it g is: "gradient".
std::string to_tex(const ir::Graph& g, const ir::Graph* given = nullptr,
                   const std::string& what = "gradient");

// One definition: `left = right where condition`; the condition may be empty. `text` is the same in
// the language's own notation, on one line.
struct Formula {
  Math left, right, condition;
  std::string text;
  bool operator==(const Formula&) const = default;
};
// Of definitions of the graph, by their numbers.
std::vector<Formula> formulas(const ir::Graph& g, const std::vector<size_t>& which);
// The names of all tensors of the graph, in order.
std::vector<Math> tensor_names(const ir::Graph& g);
// An index or a size by its name: `i`, `row`, e with 2 below for `e2`.
Math index_name(const std::string& name);

}  // namespace attn::text
