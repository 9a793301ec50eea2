// Turns a scatter into a gather: solves `n == e` for a reduced index r, which removes one loop.
//
//   e is r                     r becomes n
//   e is r or -r, and a rest   r becomes the solution, under its range unless that is proved
//   e is c * r + rest          r becomes (n - rest) // c, where c divides n - rest
//   e is r // c, r % c         r becomes n * c + t or c * t + n, with a new index t
//   e reads data               stays a scatter: `n == token[b,i]`, and `n == first[b,i] + r` where
//                              n has more values than r
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace attn::solve {

// The same definition with as many equalities of its guard solved as can be solved exactly for a
// reduced index (new indices go to `g`); among the solvable, the index of greatest extent. What
// stays (data such as `n == token[b,i]`) is left in the guard. Works for every combine.
ir::Definition solve_equalities(ir::Graph& g, const ir::Definition& d);

// A condition `n == position`, where n is a free index that occurs nowhere else and `position`
// depends on reduced ones: each point of the reduction is added at one element along n, and the
// others need not ask for it.
struct Scatter {
  size_t dimension;  // of n in d.free
  ir::Expr position;
  ir::Expr condition;
};
// One for each such condition, in the order of the dimensions: of two indices in one, the first.
std::vector<Scatter> find_scatters(const ir::Definition& d);

}  // namespace attn::solve
