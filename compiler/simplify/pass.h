// The passes of the compiler's middle, and the order in which they run.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::simplify {

struct Pass {
  const char* name;   // the word that `emit --after=NAME` takes
  const char* brief;  // one line for the help
  ir::Graph (*run)(const ir::Graph&);
};

// Called after every pass that changed something, with its name.
using Trace = std::function<void(const Pass&, const ir::Graph&)>;

// Every pass, by the name that `emit --after=NAME` takes.
std::span<const Pass> pipeline();

// Runs when everything is derived: calls that only derivatives see become their arguments.
ir::Graph drop_stops(const ir::Graph& g);

// Guards travel: part of the meaning. Runs after elaborate and again after derive.
ir::Graph spread_guards(const ir::Graph& g);

// A forward graph, tidied: fold, inline what is trivial, hoist, merge, drop what is not used.
ir::Graph simplify(const ir::Graph& g, const Trace& trace = {});

// A gradient graph: everything that `simplify` does, and find, re-bracket, specialise, factor, in
// the order of pipeline.cpp. `forward_outputs` are tensors that the caller has anyway (outputs of
// the forward pass): never inlined, available to re-bracketing until it has run. `kept` are further
// ones that forward stores: what still reads them in the end goes on reading them.
ir::Graph simplify_gradient(const ir::Graph& g, const std::vector<ir::TensorId>& forward_outputs,
                            const std::vector<ir::TensorId>& kept = {}, const Trace& trace = {});

}  // namespace attn::simplify
