// How a model's parameters are updated by their gradients: one graph for each type of parameter,
// over the elements of one tensor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::ir {

// The elements of a tensor of any rank, dealt out to rows: size 0 counts the rows, size 1 the
// columns. The parameter is the only tensor of role parameter; inputs are its gradient, then its
// states, then scalars in f64; outputs are what the parameter and the states become, in this order.
struct Update {
  Storage storage;  // of the parameter
  Graph graph;
};

// The sum of the squares of a gradient's elements, `square`, in f64; dealt out likewise.
struct SquaredNorm {
  Storage storage;  // of the gradient
  Graph graph;
};

struct StepOption {
  std::string name;
  std::optional<double> value;  // where the caller gives none
};
struct StepState {
  std::string name;
  double value = 0;  // before the first update
};

struct Step {
  std::string name;  // "adamw"
  std::vector<StepOption> options;
  std::vector<StepState> states;
  std::vector<Update> updates;
  std::vector<SquaredNorm> norms;  // none where no update reads `norm`
};

// The scalars of an update that are no options: which update this is, from 1, and the Euclidean
// norm of all gradients of the model together.
inline constexpr const char *kStepCount = "step", *kStepNorm = "norm";

// A gradient, and what is remembered of it, is in f32 for every type but f64.
inline Storage gradient_storage(Storage parameter) {
  return parameter == Storage::f64 ? Storage::f64 : Storage::f32;
}

}  // namespace attn::ir
