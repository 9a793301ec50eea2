// One definition as it is written, in Halide's terms: Funcs without a schedule. Takes anything;
// correct for all sizes.
#pragma once

#include <vector>

#include "compiler/lower/forms/scope.h"

namespace attn::lower {

struct LoopsSpec {
  // Over `vars`, the target's dimensions innermost first, and over the planes of a log-sum-exp.
  Func out;
  std::vector<Var> vars;
  Var plane{"plane"};
  bool has_planes = false;
  Type stored, computed;
  // Reductions over `vars`, which `out` reads: each is one update.
  std::vector<Func> reductions;
  // Instead of them, sums that the reduced points visit in order, each adding to an element of its
  // own.
  Func scatter;
  int scattered = 0;  // the dimension in which data says which element
  // Whether `out` has no values but those of its update, at the positions of the definition.
  bool is_placed = false;
  bool is_innermost_plain = false;  // the update runs along the innermost dimension
  // Whether data hides all neighbours along the innermost dimension or none. Otherwise Halide would
  // make scalars of vectors anyway, and fails to when two conditions read the same element.
  bool same_condition_in_lanes = true;
  // Points that one row of the innermost dimension visits.
  Expr row_points = 1;
};

LoopsSpec loops_spec(const Scope& scope, const ir::Definition& definition);

}  // namespace attn::lower
