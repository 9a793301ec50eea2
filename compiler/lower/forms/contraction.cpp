#include "compiler/lower/forms/contraction.h"

#include <algorithm>

#include "compiler/lower/forms/scope.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/plan/sets.h"

namespace attn::lower {
namespace {

// The group whose last index is the last subscript of the largest tensor that is read.
Factor::Along contiguous(const ir::Expr& value, const std::vector<ir::IndexId>& outer,
                         const std::vector<ir::IndexId>& reduced) {
  Factor::Along along = Factor::Along::kNeither;
  size_t rank = 0;
  ir::visit(value, [&](const ir::Expr& e) {
    if (!e.is(ir::Kind::read) || e.args().size() <= rank) return true;
    const ir::Expr& last = e.args().back();
    if (!reduced.empty() && ir::uses(last, reduced.back())) {
      along = Factor::Along::kReduced;
      rank = e.args().size();
    } else if (!outer.empty() && ir::uses(last, outer.back())) {
      along = Factor::Along::kOuter;
      rank = e.args().size();
    }
    return true;
  });
  return along;
}

Expr group_count(const Scope& scope, const plan::Groups& groups) {
  return Translator(scope.g, scope.arguments, {}).extent(groups.count);
}

// Gives the indices of the batch their coordinates; the group.
Expr decode_matrix(const Scope& scope, const plan::ContractionForm& c, const Expr& matrix,
                   Translator::Indices& indices) {
  Expr batch = matrix, group;
  if (c.groups) {
    const Expr count = group_count(scope, *c.groups);
    const std::vector<Expr> at = decode_index(matrix, {scope.count(c.batch), count});
    batch = c.batch.empty() ? Expr(0) : at[0];
    group = c.batch.empty() ? in_range(matrix, count) : at[1];
  }
  scope.decode(c.batch, batch, indices);
  return group;
}

// A factor over (batch, outer, reduced), one linear index each, computed in `type`. `picked`: the
// group of a row is that of the matrix.
Factor factor(const Scope& scope, const Type& type, const plan::ContractionForm& c,
              const IndexGroup& outer, const IndexGroup& reduced, const ir::Expr& value,
              const ir::Conditions& guard, bool picked) {
  const auto translator = [=, &c](const Expr& matrix, const Expr& row, const Expr& k) {
    Translator::Indices indices;
    const Expr group = decode_matrix(scope, c, matrix, indices);
    scope.decode(outer, row, indices);
    scope.decode(reduced, k, indices);
    Translator t = scope.at(std::move(indices));
    if (picked) t.replace(c.groups->of, group);
    return t;
  };
  Factor f;
  f.at = [=](Expr b, Expr row, Expr k) {
    Translator t = translator(b, row, k);
    return t.where(guard, cast(type, t(value)));
  };
  if (!guard.empty())
    f.visible = [=](Expr b, Expr row, Expr k) { return translator(b, row, k).condition(guard); };
  f.contiguous = contiguous(value, outer, reduced);
  f.number = scope.number_of(value);
  const bool as_stored = value.is(ir::Kind::read) && guard.empty();
  if (as_stored) {
    const Type stored = storage_type(scope.g[value->tensor].storage);
    if (stored == type || stored == f.number)
      f.run = scope.run_along(value, f.contiguous == Factor::Along::kOuter ? outer : reduced);
  }
  return f;
}

// Those of the form; all that is shown is one group where it has none.
ContractionGroups groups_of(const Scope& scope, const plan::ContractionForm& c,
                            const ShownMembers* shown) {
  const bool of_rows = c.groups ? c.groups->of_rows() : shown->of_rows;
  const ir::Conditions where = shown ? shown->where : ir::Conditions{};
  const auto of = [=, &c](const Expr& batch, const Expr& member) {
    Translator::Indices indices;
    scope.decode(c.batch, batch, indices);
    scope.decode(of_rows ? c.rows : c.products[0].reduced, member, indices);
    Translator t = scope.at(std::move(indices));
    const Expr group = c.groups ? t(c.groups->of) : Expr(0);
    return where.empty() ? group : select(t.condition(where), group, -1);
  };
  return {of_rows, c.groups ? group_count(scope, *c.groups) : Expr(1), of, !c.groups};
}

}  // namespace

ContractionSpec contraction_spec(const Scope& scope, const plan::ContractionForm& c,
                                 const ShownMembers* shown) {
  const ir::Graph& g = scope.g;
  const Type stored = storage_type(g[c.target].storage);
  const Type type = computed_type(g[c.target].storage);
  ContractionSpec spec;
  spec.type = type;
  for (const plan::Product& p : c.products) {
    const bool picks = c.groups && c.groups->of_rows();
    ContractionTerm term{
        factor(scope, type, c, c.rows, p.reduced, p.left, p.left_guard, false),
        factor(scope, type, c, c.columns, p.reduced, p.right, p.right_guard, picks),
        scope.count(p.reduced)};
    term.left.fallback = p.hides_left();
    term.right.fallback = p.hides_right();
    spec.terms.push_back(term);
  }
  if (c.groups || shown) spec.groups = groups_of(scope, c, shown);
  for (ir::IndexId i : c.free) {
    const auto group = plan::contains(c.batch, i)     ? OutputDim::Group::kBatch
                       : plan::contains(c.rows, i)    ? OutputDim::Group::kRow
                       : plan::contains(c.columns, i) ? OutputDim::Group::kColumn
                                                      : OutputDim::Group::kDealt;
    spec.output.push_back({group, scope.extent(i)});
  }
  spec.epilogue = [=, &g, &c](const std::vector<Expr>& coordinates, Expr sum) {
    Translator::Indices indices;
    for (size_t k = 0; k < coordinates.size(); ++k) indices[c.free[k]] = coordinates[k];
    Translator t = scope.at(std::move(indices));
    t.replace(c.sum, sum);
    std::vector<Expr> values = {cast(stored, t.where(c.guard, cast(type, t(c.epilogue))))};
    if (c.kept) values.push_back(cast(storage_type(g[c.sum].storage), t(*c.kept)));
    return values;
  };
  // A batch of such matrices is small work, and several terms are costly to compile twice. A group
  // may well have a row or two.
  spec.rarely_thin = !spec.groups && (!c.batch.empty() || c.products.size() > 1);
  spec.typical_batch = scope.typical_count(c.batch);
  spec.typical_rows = scope.typical_count(c.rows);
  spec.typical_columns = scope.typical_count(c.columns);
  spec.typical_reduced = scope.typical_count(c.products[0].reduced);
  return spec;
}

}  // namespace attn::lower
