// The kernels of a segment: claimed, in order, and finished.
#pragma once

#include "compiler/plan/kinds.h"

namespace attn::plan {

// Kernels for all definitions of a graph, in the order in which they run.
struct ClaimedGraph {
  ir::Graph graph;  // with the definitions as they were claimed
  std::vector<Claimed> kernels;
  std::set<ir::TensorId> wanted;  // with what kernels take from one another
};

// Asks the kinds in their order: tiles first, since a group knows best what to do with an equality;
// then, of the rest, each definition in turn. `wanted` as in plan_function, `saved` as in in_order.
// `apart`: maps that have loops of their own.
ClaimedGraph claim_kernels(ir::Graph g, const Costs& costs,
                           const solve::Unmaterialised& unmaterialised,
                           const std::set<ir::TensorId>& wanted,
                           const std::set<ir::TensorId>& saved,
                           const std::set<ir::TensorId>& apart);

// Adds the kernels to `f`, each after what bounds its columns.
void add_kernels(const std::string& model, Function& f, const Costs& costs, ClaimedGraph& claimed);

// Adds kernels to `kernels`, of `f`, for the definitions of `g` as they are written: none of tiles.
void add_plainly(const std::string& model, Function& f, std::vector<Kernel>& kernels,
                 const Costs& costs, ir::Graph g);

// Fills name, reads, writes and sizes of a kernel of `g` that has its definitions, and places what
// it writes. `uses`: of `g`. `wanted` as in plan_function.
void finish_kernel(const std::string& model, Function& f, const ir::Graph& g, const ir::Uses& uses,
                   Kernel& kernel, const std::set<ir::TensorId>& wanted);

}  // namespace attn::plan
