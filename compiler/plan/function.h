// Plans one function: from a graph to kernels, places and workspace.
#pragma once

#include <set>
#include <string>

#include "compiler/plan/plan.h"

namespace attn::plan {

// `forwarded` and `saved` are tensors of `g` with role input that forward has computed; `wanted`
// are tensors of it that a later function would like to find saved. `name` begins symbols.
Function plan_function(std::string model, FunctionKind kind, std::string name, ir::Graph g,
                       const std::vector<ir::TensorId>& forwarded,
                       const std::vector<ir::TensorId>& saved, std::set<ir::TensorId> wanted,
                       const Costs& costs, Diagnostics& diagnostics);

// What `forward` calls a tensor of `from`, the graph that it was planned from: an output that is
// stored in two planes has its value in a tensor of its own.
ir::TensorId planned(const ir::Graph& from, const Function& forward, ir::TensorId t);

// Integer data in subscripts that no proof bounds: definitions of the least and greatest subscript,
// appended to `g`, and what to compare them with.
struct Checks {
  std::vector<ir::Definition> definitions;
  std::vector<DataCheck> checks;
};
Checks data_checks(ir::Graph& g);

// Slots for the tensors in `places` that live in the workspace, by first and last use in `kernels`.
std::vector<Slot> assign_slots(const Function& f);

// The run-time sizes of definitions and of tensors: those of extents, conditions and bodies.
std::vector<ir::SizeId> sizes_used(const ir::Graph& g,
                                   const std::vector<ir::Definition>& definitions,
                                   const std::vector<ir::TensorId>& tensors);

}  // namespace attn::plan
