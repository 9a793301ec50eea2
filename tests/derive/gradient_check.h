// Compares derived gradients with central differences of the evaluator.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/evaluate/evaluate.h"
#include "compiler/ir/graph.h"

namespace attn::testing {

struct CheckOptions {
  double tolerance = 1e-6;    // of the largest entry of a gradient, and at least of 1
  double step = 1e-4;         // of a five-point difference
  int64_t dense_up_to = 500;  // entries; larger tensors are checked along 8 random directions
};

// The gradient of `forward` at `inputs`, for random cotangents of its outputs; every definition of
// the gradient graph, by tensor name.
evaluate::Arrays gradient_at(const ir::Graph& forward, const evaluate::Arrays& inputs,
                             uint64_t seed = 1);

// "" or the first entry that differs. Checks every real input and parameter.
std::string check_gradient(const ir::Graph& forward, const evaluate::Arrays& inputs,
                           const CheckOptions& options = {});

}  // namespace attn::testing
