#include "compiler/solve/out_of_sum.h"

#include <algorithm>

#include "compiler/ops/table.h"
#include "compiler/solve/prove.h"

namespace attn::solve {

using ir::Conditions;
using ir::Expr;
using ir::Graph;
using ir::IndexId;

namespace {

constexpr int kMostMaps = 4;

bool is_away_from_zero(const Expr& real) {
  const Expr& e = ir::meaning(real) == ir::Meaning::to_real ? real.args()[0] : real;
  return (e.is(ir::Kind::add) || ir::meaning(e) == ir::Meaning::maximum) &&
         std::ranges::any_of(e.args(), [](const Expr& a) {
           return a.is(ir::Kind::literal) && a->number.value() > 0;
         });
}

bool has_pole(const DefinitionOf& definition_of, const Expr& factor, int maps) {
  const auto is_pole = [&](const Expr& e) {
    if (e.is(ir::Kind::power))
      return e.args()[1].is(ir::Kind::literal) && e.args()[1]->number.value() < 0 &&
             !ir::tensors(e.args()[0]).empty() && !is_away_from_zero(e.args()[0]);
    if (ir::meaning(e) == ir::Meaning::logarithm)
      return !ir::tensors(e).empty() && !is_away_from_zero(e.args()[0]);
    if (!e.is(ir::Kind::read)) return false;
    const ir::Definition* d = definition_of(e->tensor);
    if (!d) return false;
    if (d->combine == ir::Combine::logsumexp) return true;
    return d->combine == ir::Combine::set && maps > 0 && has_pole(definition_of, d->body, maps - 1);
  };
  return ir::any_part(factor, is_pole);
}

}  // namespace

Expr out_of_sum(const Graph& g, const Expr& factor, const std::set<ir::IndexId>& reduced,
                const ir::Conditions& guard) {
  if (factor.is(ir::Kind::multiply)) {
    std::vector<Expr> all;
    for (const Expr& f : factor.args()) all.push_back(out_of_sum(g, f, reduced, guard));
    return ir::multiply(std::move(all));
  }
  if (!factor.is(ir::Kind::power) || !factor.args()[1].is(ir::Kind::literal) ||
      factor.args()[1]->number.value() >= 0)
    return factor;
  const Expr& base = factor.args()[0];
  const bool converted = ir::meaning(base) == ir::Meaning::to_real;
  const Expr& n = converted ? base.args()[0] : base;
  if (n.is(ir::Kind::size)) {
    const ir::Poly rest = n->size - ir::Poly(1);
    if (nonnegative(g, rest) || !nonnegative(g, rest, reduced)) return factor;
  } else {
    if (ir::is_real(n.type())) return factor;
    const Expr at_least_one = ir::at_least_zero(n - 1);
    if (proves(g, {}, at_least_one) || !proves(g, guard, at_least_one)) return factor;
  }
  const Expr positive = ops::apply("max", {n, Expr(1)});
  return rebuild(factor, {converted ? rebuild(base, {positive}) : positive, factor.args()[1]});
}

bool has_a_term(const Graph& g, const std::set<IndexId>& free, const std::set<IndexId>& reduced,
                const Conditions& guard) {
  std::map<IndexId, Expr> first;  // of all points
  for (IndexId r : reduced) {
    if (!nonnegative(g, g[r].extent - ir::Poly(1), free)) return false;
    first.emplace(r, Expr(0));
  }
  Conditions known;
  for (const Expr& c : guard)
    if (std::ranges::none_of(ir::indices(c), [&](IndexId i) { return reduced.count(i) > 0; }))
      known.insert(c);
  return std::ranges::all_of(guard, [&](const Expr& c) {
    return known.count(c) > 0 || proves(g, known, ir::substitute(c, first));
  });
}

bool has_pole(const DefinitionOf& definition_of, const Expr& factor) {
  return has_pole(definition_of, factor, kMostMaps);
}

bool is_finite(const Graph& g, const Expr& factor) {
  return std::ranges::all_of(ir::factors_of(factor), [&](const Expr& f) {
    if (f.is(ir::Kind::read)) return g[f->tensor].role == ir::Role::parameter;
    return ir::tensors(f).empty();
  });
}

Expr times_sum(const Graph& g, const Expr& factor, const Expr& sum) {
  const Expr product = ir::multiply({factor, sum});
  if (is_finite(g, factor)) return product;
  return ir::where({ir::negation(ir::equal(sum, Expr(0)))}, product);
}

Expr times_sum(const Graph& g, const Expr& factor, const Expr& sum, const std::set<IndexId>& free,
               const std::set<IndexId>& reduced, const Conditions& guard) {
  if (has_a_term(g, free, reduced, guard)) return ir::multiply({factor, sum});
  return times_sum(g, factor, sum);
}

}  // namespace attn::solve
