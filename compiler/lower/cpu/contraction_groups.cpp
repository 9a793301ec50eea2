// Sorts the rows, or the terms of the sums, of a contraction by their groups: counts first, then
// each to its place. Those of one group keep their order, so that results do not depend on threads.
#include "compiler/lower/cpu/contraction_problem.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

Members::Members(const ContractionGroups& groups, const Expr& batches, const Expr& all)
    : groups_(groups.count), batches_(batches), all_(all) {
  Var member("member"), group("group"), place("place"), batch("batch");
  const Expr given = groups.of(in_range(batch, batches), in_range(member, all));
  // What is in no group comes last.
  of_(member, batch) = select(given >= 0 && given < groups_, given, groups_);
  const auto group_of = [&](const Expr& m, const Expr& b) {
    return in_range(of_(in_range(m, all_), b), groups_ + 1);
  };

  // How many members come before those of a group.
  RDom m(0, all_, "m"), g(1, groups_ + 1, "g");
  before_(group, batch) = 0;
  before_(group_of(m, batch) + 1, batch) += 1;
  before_(g, batch) += before_(in_range(g - 1, groups_ + 1), batch);

  // In front, where the next member of each group goes, which changes as they come; behind, the
  // members in their order.
  RDom step({{0, 2}, {0, all_}}, "step");
  sorted_(place, batch) = before_(in_range(min(place, groups_), groups_ + 1), batch);
  const Expr own = group_of(step[1], batch);
  const Expr next = in_range(sorted_(own, batch), all_);
  sorted_(in_range(select(step[0] == 0, first() + next, own), first() + all_), batch) =
      select(step[0] == 0, step[1], next + 1);

  of_.compute_root();
  before_.compute_root();
  sorted_.compute_root();
}

Expr Members::count(const Expr& matrix) const {
  const auto [batch, group] = apart(matrix);
  return in_range(before_(group + 1, batch) - before_(group, batch), all_ + 1);
}

Expr Members::at(const Expr& matrix, const Expr& place) const {
  const auto [batch, group] = apart(matrix);
  const Expr sorted = first() + in_range(before_(group, batch) + place, all_);
  return in_range(sorted_(sorted, batch), all_);
}

Expr Members::has_none(const Expr& batch, const Expr& member) const {
  return of_(in_range(member, all_), in_range(batch, batches_)) == groups_;
}

std::pair<Expr, Expr> Members::apart(const Expr& matrix) const {
  if (constant(batches_) == 1) return {0, in_range(matrix, groups_)};
  const std::vector<Expr> at =
      decode_index(in_range(matrix, batches_ * groups_), {batches_, groups_});
  return {at[0], at[1]};
}

}  // namespace attn::lower
