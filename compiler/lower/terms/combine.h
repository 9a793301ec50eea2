// What reductions start with and do, in Halide's terms.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/lower/terms/halide.h"

namespace attn::lower {

// The lowest and highest finite f32, which reductions over nothing give in every precision.
constexpr float kLowest = -3.4028235e38f;
constexpr float kHighest = 3.4028235e38f;

// The value over nothing, of a log-sum-exp that of its maximum; and the value of two.
Expr neutral(ir::Combine combine, const Type& type);
Expr combined(ir::Combine combine, const Expr& a, const Expr& b);

// max, min and argmax of reals compare integers of the same order, in which a NaN comes last: it is
// the result where it is seen, which comparisons of floating-point numbers do not promise.
Type accumulated(ir::Combine combine, const Type& type);
Expr to_accumulate(ir::Combine combine, const Expr& value);
Expr from_accumulated(ir::Combine combine, const Type& type, const Expr& value);

}  // namespace attn::lower
