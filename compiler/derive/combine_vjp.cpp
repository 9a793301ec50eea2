#include "compiler/derive/combine_vjp.h"

#include <algorithm>

#include "compiler/ops/table.h"
#include "compiler/solve/prove.h"

namespace attn::derive {
namespace {

using ir::Combine;
using ir::Definition;
using ir::Expr;

// Appends `target.NAME[free] = combine[reduced where guard and extra] body`, read at d's indices.
Expr helper(ir::Graph& g, const Definition& d, const char* name, Combine combine, const Expr& extra,
            const Expr& body) {
  Definition h = d;
  h.combine = combine;
  h.guard.merge(ir::conjuncts(extra));
  h.body = body;
  h = ir::with_fresh_indices(g, h).definition;
  h.target = g.new_tensor(
      tensor(g[d.target].name + "." + name, storage_of(body), g[d.target].extents, d.where));
  g.definitions.push_back(ir::normal_form(h));
  std::vector<Expr> subscripts = index_values(d.free);
  return g.read(h.target, std::move(subscripts));
}

// Whether a row of the reduction may have no point.
bool may_be_empty(const ir::Graph& g, const Definition& d) {
  return !d.guard.empty() || std::any_of(d.reduced.begin(), d.reduced.end(), [&](ir::IndexId i) {
    return !solve::nonnegative(g, g[i].extent - ir::Poly(1));
  });
}

// Appends `target.others[free, i] = prod[j where guard and j != i] body(j)`, read at d's indices,
// for the reduced indices i of d.
Expr product_of_others(ir::Graph& g, const Definition& d) {
  Definition h = ir::with_fresh_indices(g, d).definition;
  std::vector<ir::Poly> extents = g[d.target].extents;
  std::vector<Expr> differ, subscripts;
  for (size_t k = 0; k < d.reduced.size(); ++k) {
    const ir::Index own = g[d.reduced[k]];
    h.free.push_back(g.new_index(own.name, own.extent));
    extents.push_back(own.extent);
    differ.push_back(
        ir::negation(ir::equal(ir::index_value(h.reduced[k]), ir::index_value(h.free.back()))));
  }
  h.guard.merge(ir::conjuncts(ir::any_of(std::move(differ))));
  h.target = g.new_tensor(
      tensor(g[d.target].name + ".others", storage_of(d.body), std::move(extents), d.where));
  g.definitions.push_back(ir::normal_form(h));
  for (const auto* list : {&d.free, &d.reduced})
    for (ir::IndexId i : *list) subscripts.push_back(ir::index_value(i));
  return g.read(h.target, std::move(subscripts));
}

}  // namespace

ir::Tensor tensor(std::string name, ir::Storage storage, std::vector<ir::Poly> extents,
                  Span where) {
  ir::Tensor t;
  t.name = std::move(name);
  t.storage = storage;
  t.extents = std::move(extents);
  t.where = where;
  return t;
}

ir::Storage storage_of(const Expr& body) {
  if (body.is(ir::Kind::literal) && body.type() == ir::Type::integer) return ir::Storage::f32;
  return storage_of(body.type());
}

ir::Storage storage_of(ir::Type type) {
  switch (type) {
    case ir::Type::boolean:
      return ir::Storage::boolean;
    case ir::Type::integer:
      return ir::Storage::i32;
    case ir::Type::f32:
      return ir::Storage::f32;
    case ir::Type::f64:
      return ir::Storage::f64;
  }
  throw InternalError("a type without storage");
}

std::vector<Flow> combine_vjp(ir::Graph& g, const Definition& d, const Expr& dy, bool again) {
  const Expr y = g.target(d), &f = d.body;
  switch (d.combine) {
    case Combine::set:
    case Combine::sum:
      return {{d.guard, dy}};
    case Combine::logsumexp:
      return {{d.guard, dy * ops::apply("exp", {f - y})}};
    case Combine::max:
    case Combine::min: {
      const Expr wins = ir::equal(f, y);
      const Expr ties = helper(g, d, "ties", Combine::sum, wins, 1);
      ir::Conditions path = d.guard;
      path.merge(ir::conjuncts(wins));
      // Of an empty row the ties are 0, and the quotient may be computed there all the same.
      const Expr count = may_be_empty(g, d) ? ops::apply("max", {ties, 1}) : ties;
      return {{std::move(path), dy / count}};
    }
    case Combine::prod: {
      if (again) return {{d.guard, dy * product_of_others(g, d)}};
      const Expr is_zero = ir::equal(f, 0);
      const Expr zeros = helper(g, d, "zeros", Combine::sum, is_zero, 1);
      const Expr others = helper(g, d, "nonzero", Combine::prod, ir::negation(is_zero), f);
      ir::Conditions none = d.guard, one = d.guard;
      none.merge(ir::conjuncts(ir::equal(zeros, 0)));
      one.merge(ir::conjuncts(ir::all_of({ir::equal(zeros, 1), is_zero})));
      // The quotient may be computed also where no point of a sum asks for it, and f is 0.
      const Expr factor = ir::select(is_zero, 1, f);
      return {{std::move(none), dy * y / factor}, {std::move(one), dy * others}};
    }
    case Combine::argmax:
      return {};
  }
  throw InternalError("a combine without a vjp");
}

void store_operands(ir::Graph& g, const std::set<ir::TensorId>& targets) {
  std::vector<Definition> old = std::move(g.definitions);
  g.definitions.clear();
  for (Definition& d : old) {
    const bool compares = d.combine == Combine::max || d.combine == Combine::min;
    if (compares && targets.count(d.target) && !d.body.is(ir::Kind::read)) {
      Definition operand = d;
      operand.combine = Combine::set;
      operand.free.insert(operand.free.end(), d.reduced.begin(), d.reduced.end());
      operand.reduced.clear();
      std::vector<Expr> subscripts;
      std::vector<ir::Poly> extents;
      for (ir::IndexId i : operand.free) {
        subscripts.push_back(ir::index_value(i));
        extents.push_back(g[i].extent);
      }
      operand.target = g.new_tensor(
          tensor(g[d.target].name + ".operand", storage_of(d.body), std::move(extents), d.where));
      operand = ir::with_fresh_indices(g, operand).definition;
      d.body = g.read(operand.target, std::move(subscripts));
      g.definitions.push_back(ir::normal_form(std::move(operand)));
    }
    g.definitions.push_back(std::move(d));
  }
}

}  // namespace attn::derive
