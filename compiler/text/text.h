// Turns a graph into a tree of the language, so that every stage prints by the one printer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "dsl/ast.h"

namespace attn::text {

// A file with the graph's sizes and one model; elaborating it gives the graph again. Two indices of
// one definition that share a name are told apart (e, e2); names stay the field's.
dsl::File to_tree(const ir::Graph& g);
std::string to_string(const ir::Graph& g);
// A file with a model for each; what sizes several have is declared once.
std::string to_string(const std::vector<const ir::Graph*>& graphs);
// One definition, expression or polynomial. Each call looks at the whole graph for its names: for
// many of one graph take a Printer.
std::string to_string(const ir::Graph& g, const ir::Definition& d);
std::string to_string(const ir::Graph& g, const ir::Expr& e);
std::string to_string(const ir::Graph& g, const ir::Poly& p);

// Writes parts of one graph, which stays as it is while the printer lives.
class Printer {
 public:
  explicit Printer(const ir::Graph& g);
  ~Printer();
  std::string operator()(const ir::Definition& d) const;
  std::string operator()(const ir::Expr& e) const;
  std::string operator()(const ir::Conditions& c) const;
  std::string operator()(const ir::Poly& p) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

// Same tensors, outputs and definitions in the same order, up to ids, index names and spans.
// `difference`, if given, gets the first place where they differ.
bool same_graph(const ir::Graph& a, const ir::Graph& b, std::string* difference = nullptr);

}  // namespace attn::text
