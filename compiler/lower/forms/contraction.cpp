#include "compiler/lower/forms/contraction.h"

#include <algorithm>

#include "compiler/lower/forms/scope.h"

namespace attn::lower {
namespace {

using Halide::cast;
using HExpr = Halide::Expr;

bool contains(const IndexGroup& group, ir::IndexId i) {
  return std::ranges::find(group, i) != group.end();
}

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

// A factor over (batch, outer, reduced), one linear index each, computed in `type`.
Factor factor(const Scope& scope, const Halide::Type& type, const IndexGroup& batch,
              const IndexGroup& outer, const IndexGroup& reduced, const ir::Expr& value,
              const ir::Conditions& guard) {
  const auto translator = [=](const HExpr& b, const HExpr& row, const HExpr& k) {
    Translator::Indices indices;
    scope.decode(batch, b, indices);
    scope.decode(outer, row, indices);
    scope.decode(reduced, k, indices);
    return scope.at(std::move(indices));
  };
  Factor f;
  f.at = [=](HExpr b, HExpr row, HExpr k) {
    Translator t = translator(b, row, k);
    return t.where(guard, cast(type, t(value)));
  };
  if (!guard.empty())
    f.visible = [=](HExpr b, HExpr row, HExpr k) { return translator(b, row, k).condition(guard); };
  f.contiguous = contiguous(value, outer, reduced);
  return f;
}

}  // namespace

ContractionSpec contraction_spec(const plan::Function& f, const plan::Kernel& kernel,
                                 const Arguments& arguments) {
  const auto& c = std::get<plan::ContractionForm>(kernel.form);
  const ir::Graph& g = f.graph;
  const Scope scope{g, arguments};
  const Halide::Type stored = storage_type(g[c.target].storage);
  const Halide::Type type = arithmetic_type(ir::arithmetic_type(g[c.target].storage));
  ContractionSpec spec{.name = "out"};
  spec.accumulate = type;
  for (const plan::Product& p : c.products) {
    ContractionTerm term{factor(scope, type, c.batch, c.rows, p.reduced, p.left, p.left_guard),
                         factor(scope, type, c.batch, c.columns, p.reduced, p.right, p.right_guard),
                         scope.count(p.reduced)};
    term.left.fallback = p.hides_left();
    term.right.fallback = p.hides_right();
    spec.terms.push_back(term);
  }
  for (ir::IndexId i : c.free) {
    const auto group = contains(c.batch, i)  ? OutputDim::Group::kBatch
                       : contains(c.rows, i) ? OutputDim::Group::kRow
                                             : OutputDim::Group::kColumn;
    spec.output.push_back({group, scope.extent(i)});
  }
  spec.epilogue = [=, &g, &c](const std::vector<HExpr>& place, HExpr sum) {
    Translator::Indices indices;
    for (size_t k = 0; k < place.size(); ++k) indices[c.free[k]] = place[k];
    Translator t = scope.at(std::move(indices));
    t.replace(c.sum, sum);
    std::vector<HExpr> values = {cast(stored, t.where(c.guard, cast(type, t(c.epilogue))))};
    if (c.kept) values.push_back(cast(storage_type(g[c.sum].storage), t(*c.kept)));
    return values;
  };
  // A batch of such matrices is small work, and several terms are costly to compile twice.
  spec.rarely_thin = !c.batch.empty() || c.products.size() > 1;
  spec.typical_batch = scope.typical_count(c.batch);
  spec.typical_rows = scope.typical_count(c.rows);
  spec.typical_columns = scope.typical_count(c.columns);
  spec.typical_reduced = scope.typical_count(c.products[0].reduced);
  return spec;
}

}  // namespace attn::lower
