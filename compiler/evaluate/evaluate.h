// The truth for every test: evaluates a graph in float64, straight from its definitions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::evaluate {

// Row-major values; integers and booleans are exact in float64.
struct Array {
  std::vector<int64_t> extents;
  std::vector<double> values;
};
using Arrays = std::map<std::string, Array>;

// A call that cannot be carried out: a missing input, extents that disagree, integer data out of
// range. The text names the tensor and the dimension.
struct CallError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The value of every run-time size, read from the extents of the arrays given (dsl/LANGUAGE.md,
// "Sizes"); indexed like Graph::sizes.
std::vector<int64_t> read_sizes(const ir::Graph& g, const Arrays& given);

// All tensors that are defined, or only the outputs and what they need. Inputs, parameters and
// cotangents are taken from `given` by tensor name, in float64 whatever their declared storage.
// A read of an element that its tensor's guard hides yields 0.
Arrays evaluate(const ir::Graph& g, const Arrays& given);

}  // namespace attn::evaluate
