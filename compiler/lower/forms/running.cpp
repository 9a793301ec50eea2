#include "compiler/lower/forms/running.h"

#include "compiler/base/check.h"
#include "compiler/lower/terms/extremes.h"
#include "compiler/solve/running.h"

namespace attn::lower {
namespace {

// Sums of floats are added in doubles: as many terms follow each other as there are results.
Type added_in(ir::Combine combine, const Type& type) {
  return combine == ir::Combine::sum && type.is_float() ? Halide::Float(64) : type;
}

}  // namespace

LoopsSpec running_spec(const Scope& scope, const plan::LoopsForm& form) {
  const ir::Definition& d = form.definition;
  const auto found = solve::find_running(scope.g, d);
  ATTN_CHECK(found && found->along == form.along, "a running sum along another index");
  const solve::Running& sum = *found;
  LoopsSpec spec;
  Translator::Indices indices;
  for (size_t k = d.free.size(); k-- > 0;) {
    spec.vars.emplace_back("i" + std::to_string(k));
    indices[d.free[k]] = spec.vars.back();
    if (d.free[k] == sum.along) spec.along = static_cast<int>(spec.vars.size()) - 1;
  }
  const Expr extent = scope.extent(sum.along), last = extent - 1;
  const RDom step(0, extent, "step");
  const Expr here = sum.down ? last - step : Expr(step);
  const Expr before = sum.down ? min(here + 1, last) : max(here - 1, 0);
  indices[sum.term] = spec.vars[spec.along];
  Translator t(scope.g, scope.arguments, indices);
  ir::Conditions others = d.guard;
  others.extract(sum.condition);

  spec.stored = storage_type(scope.g[d.target].storage);
  spec.computed = computed_type(scope.g[d.target].storage);
  const Type type = added_in(d.combine, spec.computed);
  const Expr nothing = neutral(d.combine, type);
  spec.terms = Func("terms");
  spec.terms(spec.vars) = t.where(others, cast(type, cast(spec.computed, t(d.body))), nothing);

  const std::vector<Expr> all(spec.vars.begin(), spec.vars.end());
  std::vector<Expr> at = all, earlier = all, added = all;
  const Expr place = here + static_cast<int>(sum.ahead);
  at[spec.along] = here;
  earlier[spec.along] = before;
  added[spec.along] = clamp(place, 0, last);
  const Expr term = select(place >= 0 && place <= last, spec.terms(added), nothing);
  // The first one reads itself, which is what nothing gives.
  spec.running = Func("running");
  spec.running(spec.vars) = to_accumulate(d.combine, nothing);
  spec.running(at) = combined(d.combine, spec.running(earlier), to_accumulate(d.combine, term));
  spec.out = Func("out");
  spec.out(spec.vars) =
      cast(spec.stored, cast(spec.computed, from_accumulated(d.combine, type, spec.running(all))));
  for (int k = 0; k <= spec.along; ++k)
    spec.row_points = spec.row_points * max(scope.extent(d.free[d.free.size() - 1 - k]), 1);
  spec.same_condition_in_lanes = std::none_of(
      d.guard.begin(), d.guard.end(),
      [&](const ir::Expr& c) { return !ir::tensors(c).empty() && ir::uses(c, d.free.back()); });
  return spec;
}

}  // namespace attn::lower
