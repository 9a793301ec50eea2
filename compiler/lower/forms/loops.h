// One definition as it is written, in Halide's terms: Funcs without a schedule. Takes anything;
// correct for all sizes.
#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/forms/scope.h"
#include "compiler/plan/form.h"

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
  // own. In place: it is `out`, whose update adds them.
  Func scatter;
  bool in_place = false;
  int scattered = 0;  // the first dimension in which data says which element
  // Running sums, which `out` reads: one update over `vars`, in order along that dimension, of
  // these terms.
  Func running, terms;
  int along = 0;
  // Whether `out` has no values but those of its update, at the positions of the definition; and
  // the variables of that update.
  bool is_placed = false;
  std::vector<Var> placed_vars;
  // Of a scatter in classes, which is in place: the update, of placed_vars, adds the points of one
  // class of elements after the other.
  std::optional<RVar> classes;
  bool is_innermost_plain = false;  // the update runs along the innermost dimension
  // Whether data hides all neighbours along the innermost dimension or none. Otherwise Halide would
  // make scalars of vectors anyway, and fails to when two conditions read the same element.
  bool same_condition_in_lanes = true;
  // A copy of what the sum reads through a window, at the subscripts of that read, innermost first,
  // also before the first element and beyond the last: there it has any of the elements, which the
  // conditions hide. Undefined where the sum has none or it was not asked for.
  Func window;
  // Points that one row of the innermost dimension visits.
  Expr row_points = 1;
};

// Sums whose points say where they are added: `in_order`, each point adds to its element;
// `by_owner`, each element looks for its points, as a reduction under a condition; `in_classes`, as
// in order, for every kScatterClasses-th element at a time, where data says where, some dimension
// is not scattered, and sums are stored as they are computed. Else by owner.
enum class Scatter { in_order, by_owner, in_classes };
constexpr int kScatterClasses = 64;

enum class Windows { in_place, copied };

LoopsSpec loops_spec(const Scope& scope, const plan::LoopsForm& form,
                     Scatter scatter = Scatter::in_order, Windows windows = Windows::in_place);

}  // namespace attn::lower
