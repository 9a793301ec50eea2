// Small random graphs that are always valid, for checks of gradients, passes and kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/evaluate/evaluate.h"
#include "compiler/ir/graph.h"

namespace attn::testing {

// What random graphs may hold. The defaults give forward graphs of all kinds of definitions whose
// values stay of order 1 and away from kinks, ties and the ends of domains, so that central
// differences with a step of about 1e-5 are meaningful.
struct RandomOptions {
  int definitions = 6;       // at most this many, not counting helpers; at least one
  bool known_sizes = true;   // sizes with values compiled in, beside run-time ones
  bool integer_data = true;  // gathers by integer inputs, guards with lengths
  bool max_min = true;       // max and min over an index
  bool products = true;      // prod over an index
  bool shifts = true;        // x[i + k - 1] after conditions
  bool empty_sizes = false;  // run-time sizes may be 0 or 1 (else 2 .. 5)
};

struct RandomGraph {
  uint64_t seed = 0;
  ir::Graph graph;             // verified; at least one real output, one real input and a parameter
  evaluate::Arrays inputs;     // a value for every input and parameter
  std::vector<int64_t> sizes;  // the run-time values, completed; indexed like graph.sizes
};

// Deterministic in (seed, options) on every machine.
RandomGraph random_graph(uint64_t seed, const RandomOptions& options = {});

// Values for the inputs and parameters of any graph at given sizes (completed): reals are distinct
// values in +-[0.2, 1], integers are in 0 .. `integers` - 1, booleans mixed.
evaluate::Arrays random_inputs(const ir::Graph& g, const std::vector<int64_t>& sizes, uint64_t seed,
                               int64_t integers = 2);

}  // namespace attn::testing
