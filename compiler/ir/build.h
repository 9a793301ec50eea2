// The one way to make a node; used by the constructors of expr.h and by nothing else.
#pragma once

#include "compiler/ir/expr.h"

namespace attn::ir {

struct Build {
  static Expr make(Node node);
};

}  // namespace attn::ir
