// Reductions of which each is the one before, or the one after, and one more term:
// c[b,i] = sum[j where j <= i] x[b,j].
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace attn::solve {

struct Running {
  ir::IndexId along, term;  // of the results and of what is reduced; both run equally far
  bool down;                // whether each adds to the one after it
  int64_t ahead;            // the term that the result at i adds is at i + ahead
  ir::Expr condition;       // that says so; nothing else depends on `along`
};

// Nothing where `d` is no sum, product, maximum or minimum of this kind.
std::optional<Running> find_running(const ir::Graph& g, const ir::Definition& d);

}  // namespace attn::solve
