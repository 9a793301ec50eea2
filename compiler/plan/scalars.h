// The scalars of an update.
#pragma once

#include "compiler/ir/step.h"

namespace attn::plan {

// An update whose scalars are definitions over the rows, and whose elements have the type of its
// states.
ir::Graph gather_scalars(const ir::Graph& update);

}  // namespace attn::plan
