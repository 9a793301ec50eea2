// Plans one function: from a graph to kernels, places and workspace.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/plan/plan.h"

namespace attn::plan {

// What a function computes, and what forward has computed for it.
struct Request {
  FunctionKind kind = FunctionKind::forward;
  std::string name = "forward";  // begins symbols
  ir::Graph graph;
  std::vector<ir::TensorId> forwarded, saved;       // tensors of `graph` with role input
  std::map<ir::TensorId, ir::TensorId> in_forward;  // what forward calls them
  std::set<ir::TensorId> wanted;  // that a later function would like to find saved
  std::set<ir::TensorId> large;   // of what is saved: much larger than all that it is made of
};
Function plan_function(const std::string& model, Request request, const Costs& costs,
                       Diagnostics& diagnostics);

// `graph` without what forward has computed: the tensors of `given`, each with what forward calls
// it, are inputs where they are read. Those that forward does not give its caller are `saved`, in
// the order of their ids.
Request cut_given(const Function& forward, ir::Graph graph,
                  const std::map<ir::TensorId, ir::TensorId>& given);

// Places for the tensors of `g`: those of arguments and results.
void place_arguments(Function& f, const ir::Graph& g);

// What `forward` calls a tensor of `from`, the graph that it was planned from: an output that is
// stored in two planes has its value in a tensor of its own.
ir::TensorId planned(const ir::Graph& from, const Function& forward, ir::TensorId t);

// "T[4*D, 2]".
std::string shape_text(const ir::Graph& g, ir::TensorId t);

// Integer data in subscripts that no proof bounds: definitions of the least and greatest subscript,
// after those of what they read that is not given, and what to compare them with.
struct Checks {
  std::vector<ir::Definition> definitions;
  std::vector<DataCheck> checks;
};
Checks data_checks(ir::Graph& g);
// What min and max of integers give over nothing. A subscript that a condition hides is checked as
// this: the least is above the greatest.
ir::Expr of_nothing(ir::Combine combine);

// Whether a kernel of that form may write one tensor to the memory of another that it reads: a map,
// a contraction in what finishes its sum, a scatter in what it starts as, or a row kernel, that
// reads the other at its own point only; or a sum that reads it at the planes that it mixes.
// `stored`: all that the kernel writes, alone but for the sum that a contraction keeps.
bool writes_over(const ir::Graph& g, const Form& form, const std::vector<ir::TensorId>& stored,
                 ir::TensorId written, ir::TensorId read);

// When each tensor of a planned function is needed, in the order of the kernels.
std::vector<Life> lives_of(const Function& f);
// The same of forward where nothing is saved, in the order of its lives: what would be saved of
// every step of a recurrence, and what only the kernels of that step read, is needed for that step.
// Empty: there is nothing of the kind.
std::vector<Life> unsaved_lives_of(const Function& f);
// What a kernel takes or writes of `t`, of which one step is in memory: that step. Else `t`.
ir::TensorId taken_of(const Function& f, const Kernel& k, ir::TensorId t);
// The sum that a kernel stores beside what it makes of it; invalid: none.
ir::TensorId kept_of(const Form& form);

// The bytes of the workspace at the kernel that needs the most, where what is saved has a block of
// its own: a formula in the sizes of `g`, the function's graph where more of them may be known.
// What lies in the memory of results that are not yet written counts, too.
ir::Poly workspace_bytes(const ir::Graph& g, const Function& f);

// The run-time sizes of definitions and of tensors: those of extents, conditions and bodies.
std::vector<ir::SizeId> sizes_used(const ir::Graph& g,
                                   const std::vector<ir::Definition>& definitions,
                                   const std::vector<ir::TensorId>& tensors);

}  // namespace attn::plan
