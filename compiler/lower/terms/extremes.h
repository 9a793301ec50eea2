// max, min and argmax of reals compare integers of the same order, in which a NaN comes last: it is
// the result where it is seen, which comparisons of floating-point numbers do not promise. Those of
// integers compare unsigned integers: of `max(least, data + index)` Halide leaves out the steps that
// change nothing, and finds their bound by a subtraction that overflows. Of all other combinations
// and types these are the values themselves.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/lower/terms/halide.h"

namespace attn::lower {

Type accumulated(ir::Combine combine, const Type& type);
Expr to_accumulate(ir::Combine combine, const Expr& value);
Expr from_accumulated(ir::Combine combine, const Type& type, const Expr& value);

}  // namespace attn::lower
