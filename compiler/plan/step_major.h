// Puts the steps of recurrences first in memory.
//
// A kernel that computes one step of h[b,t,n] writes to places that lie apart. As h.steps[t,b,n]
// each step is one piece of memory, as dense as what any kernel writes.
#pragma once

#include <map>
#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/target/target.h"

namespace attn::plan {

// For each tensor that is computed step by step and whose step is not its first dimension: which
// it is. `joined`: of what is computed beside the recurrences.
using StepDimensions = std::map<ir::TensorId, size_t>;
StepDimensions steps_after_others(const ir::Graph& g, const StepDimensions& joined);

// Every tensor of `dimensions` that `g` defines is computed and read as NAME.steps, in which that
// dimension comes first; an output is copied from it.
struct StepMajor {
  ir::Graph graph;
  std::map<ir::TensorId, ir::TensorId> steps;  // NAME.steps, by what it stands for
};
StepMajor step_major(ir::Graph g, const StepDimensions& dimensions);

// What a later graph has of forward. It was made from the model's graph as forward was, each was
// simplified on its own, and the first `shared` tensors are the model's in both.
class Shared {
 public:
  // `joined`: what of `later` is computed step by step beside its recurrences.
  Shared(const ir::Graph& later, const ir::Graph& forward, size_t shared,
         const StepDimensions& joined, const target::Costs& costs);

  StepMajor later, forward;
  // The tensor of forward that a tensor of later is.
  std::optional<ir::TensorId> find(ir::TensorId t) const;

 private:
  size_t shared_;
  std::map<ir::TensorId, ir::TensorId> of_steps_;  // of later: what NAME.steps stands for
};

}  // namespace attn::plan
