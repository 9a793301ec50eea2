// Turns "a value lands at a computed place" into "a value is fetched": solves `n == e` for a
// reduced index, which removes one loop. See shared/design.md, section 2, S1..S5.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace attn::solve {

// The same definition with as many equalities of its guard solved as can be solved exactly for a
// reduced index (new indices go to `g`); among the solvable, the index of greatest extent. What
// stays (data such as `n == token[b,i]`) is left in the guard. Works for every combine.
ir::Definition solve_equalities(ir::Graph& g, const ir::Definition& d);

// Only S1: equalities of two plain indices, by renaming. Derive applies this on the spot.
ir::Definition solve_plain_equalities(ir::Graph& g, const ir::Definition& d);

// A condition `n == place`, where n is a free index that occurs nowhere else and `place` depends on
// reduced ones: each point of the reduction lands at one element along n, instead of being asked
// for at all of them.
struct Landing {
  size_t position;  // of n in d.free
  ir::Expr place;
  ir::Expr condition;
};
std::optional<Landing> find_landing(const ir::Definition& d);

}  // namespace attn::solve
