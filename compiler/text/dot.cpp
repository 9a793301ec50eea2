#include "compiler/text/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/text/text.h"

namespace attn::text {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string label(const ir::Graph& g, const ir::Tensor& t) {
  std::string extents;
  for (const ir::Poly& p : t.extents) extents += (extents.empty() ? "" : ", ") + to_string(g, p);
  return extents.empty() ? t.name : fmt::format("{} [{}]", t.name, extents);
}

}  // namespace

std::string to_dot(const ir::Graph& g, const ir::Graph* given, const std::string& what) {
  std::set<ir::TensorId> used, outputs;
  for (const ir::Output& o : g.outputs) used.insert(o.tensor), outputs.insert(o.tensor);
  for (const ir::Definition& d : g.definitions) {
    used.insert(d.target);
    used.merge(ir::reads(d));
  }
  std::string text = fmt::format("digraph {} {{\n  node [shape=box];\n",
                                 quoted(given ? what + " of " + g.name : g.name));
  for (ir::TensorId t : used) {
    const ir::Tensor& tensor = g[t];
    std::string style;
    if (tensor.role == ir::Role::parameter) {
      style = ", style=filled, fillcolor=lightgrey";
    } else if (!g.definition_of(t)) {
      style = ", shape=ellipse";
    } else if (given && given->find(tensor.name)) {
      style = ", style=dashed";
    }
    if (outputs.count(t)) style += ", peripheries=2";
    text +=
        fmt::format("  {} [label={}{}];\n", quoted(tensor.name), quoted(label(g, tensor)), style);
  }
  for (const ir::Definition& d : g.definitions)
    for (ir::TensorId t : ir::reads(d))
      text += fmt::format("  {} -> {};\n", quoted(g[t].name), quoted(g[d.target].name));
  return text + "}\n";
}

}  // namespace attn::text
