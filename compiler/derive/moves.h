// Contributions whose subscripts have an inverse: what reads an element of the tensor.
#pragma once

#include <optional>

#include "compiler/derive/contributions.h"

namespace attn::derive {

// What a contribution adds to the element of `free`: the sum over `several` of `value`, where
// `guard` holds. With `sum`, which the caller gives a target, the contribution is summed at the
// points of the read first; `value` is a read whose subscripts are those into that target.
struct Moved {
  std::optional<ir::Definition> sum;
  ir::Conditions guard;
  ir::Expr value;
  std::vector<ir::IndexId> several;
};

// For `x[h * E + e]`, `x[n // C, n % C]` and the like. A sum keeps the form that the reader has,
// and only a copy of it pays for the move; where several points read one element, it does so if it
// is over tiles and has not many times the elements of the tensor. Nothing where the subscripts
// have no inverse, or where the move costs nothing and saves none.
std::optional<Moved> move_to_elements(ir::Graph& g, const Contribution& c, ir::TensorId target,
                                      const std::vector<ir::IndexId>& free,
                                      const solve::Unmaterialised& unmaterialised);

}  // namespace attn::derive
