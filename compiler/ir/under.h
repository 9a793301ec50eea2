// Walks of an expression that know which conditions hold at each part: those around the whole, and
// those of the selects on the way down.
#pragma once

#include <functional>

#include "compiler/ir/expr.h"

namespace attn::ir {

// Calls f on every node of e, parents first, with the conditions that hold there (`known` and those
// of the selects above). The condition of a select is itself evaluated under what holds around it,
// and the parts of a conjunction or disjunction that read data under those that read none.
// f returns false to skip a node's arguments.
void visit_under(const Expr& e, const Conditions& known,
                 const std::function<bool(const Expr&, const Conditions&)>& f);

// Bottom up, like rewrite: f gets each rebuilt node and the conditions that hold at its place.
Expr rewrite_under(const Expr& e, const Conditions& known,
                   const std::function<Expr(const Expr&, const Conditions&)>& f);

}  // namespace attn::ir
