// Numbers, sums, products and calls as the language writes them.
#include <algorithm>
#include <cmath>

#include "compiler/ir/operation.h"
#include "compiler/text/writer.h"

namespace attn::text {
namespace {

using dsl::ExprPtr;
using dsl::Op;

ExprPtr number(const ir::Number& n) {
  return n.is_integer ? dsl::make_number(n.integer) : dsl::make_number(n.real);
}

ExprPtr called(std::string name, std::vector<ExprPtr> arguments) {
  dsl::Call c{{std::move(name), {}}, {}};
  for (ExprPtr& a : arguments) c.arguments.push_back({{}, std::move(a)});
  return dsl::make(std::move(c));
}

ExprPtr negated(ExprPtr e) { return dsl::make(dsl::Unary{dsl::UnaryOp::minus, std::move(e)}); }

// `-a * b` is (-a) * b: the sign goes to the first operand, as one would write it.
ExprPtr with_sign(ExprPtr e) {
  if (const auto* c = std::get_if<dsl::Chain>(&e->node);
      c && c->level == dsl::Level::multiplicative) {
    dsl::Chain result = *c;
    result.operands[0] = negated(result.operands[0]);
    return dsl::make(std::move(result));
  }
  return negated(std::move(e));
}

bool is_literal_power(const ir::Expr& e) {
  return e.is(ir::Kind::power) && e.args()[1].is(ir::Kind::literal);
}

}  // namespace

ExprPtr chain(std::vector<ExprPtr> operands, std::vector<Op> ops) {
  if (operands.size() == 1) return operands[0];
  const dsl::Level level = dsl::level_of(ops[0]);
  if (const auto* first = std::get_if<dsl::Chain>(&operands[0]->node);
      first && first->level == level && level != dsl::Level::comparison) {
    const dsl::Chain inner = *first;
    operands.erase(operands.begin());
    operands.insert(operands.begin(), inner.operands.begin(), inner.operands.end());
    ops.insert(ops.begin(), inner.ops.begin(), inner.ops.end());
  }
  return dsl::make(dsl::Chain{level, std::move(operands), std::move(ops)});
}

ExprPtr Writer::expression(const ir::Expr& e) const {
  switch (e.kind()) {
    case ir::Kind::literal:
      if (e.type() == ir::Type::boolean) return dsl::make(dsl::Boolean{e.is_true()});
      return number(e->number);
    case ir::Kind::size:
      return size(e->size);
    case ir::Kind::index:
      return dsl::make(dsl::Name{name(e->index)});
    case ir::Kind::read:
      return read(e);
    case ir::Kind::power:
    case ir::Kind::multiply:
      return product(e);
    case ir::Kind::quotient:
    case ir::Kind::remainder:
      return chain({expression(e.args()[0]), expression(e.args()[1])},
                   {e.is(ir::Kind::quotient) ? Op::floor_divide : Op::remainder});
    case ir::Kind::call:
      return call(e);
    case ir::Kind::add:
      return sum(terms_of(e), e.type() == ir::Type::integer);
    case ir::Kind::select:
      return dsl::make(dsl::Conditional{condition(e.args()[0]), expression(e.args()[1]),
                                        expression(e.args()[2])});
    default:
      return condition(e);
  }
}

ExprPtr Writer::read(const ir::Expr& e) const {
  const std::string& tensor = context_.g[e->tensor].name;
  if (e.args().empty()) return dsl::make(dsl::Name{tensor});
  dsl::Access access{{tensor, {}}, false, {}};
  for (const ir::Expr& s : e.args()) access.subscripts.push_back(expression(s));
  return dsl::make(std::move(access));
}

ExprPtr Writer::call(const ir::Expr& e) const {
  using ir::Meaning;
  if (meaning(e) == Meaning::minimum && meaning(e.args()[0]) == Meaning::maximum) {
    const ir::Expr& inner = e.args()[0];
    return called("clamp", {expression(inner.args()[0]), expression(inner.args()[1]),
                            expression(e.args()[1])});
  }
  std::vector<ExprPtr> arguments;
  for (const ir::Expr& a : e.args()) arguments.push_back(expression(a));
  return called(std::string(e->operation->name), std::move(arguments));
}

// base ^ exponent for an exponent above 0.
ExprPtr Writer::power(const ir::Expr& base, double exponent) const {
  if (exponent == 1) return expression(base);
  if (exponent == 0.5) return called("sqrt", {expression(base)});
  ExprPtr n = exponent == std::floor(exponent) && exponent < 1e15
                  ? dsl::make_number(static_cast<int64_t>(exponent))
                  : dsl::make_number(exponent);
  return dsl::make(dsl::Power{expression(base), std::move(n)});
}

// A product, or a power by itself: what has a negative exponent is divided by.
ExprPtr Writer::product(const ir::Expr& e) const {
  if (e.is(ir::Kind::power) && !e.args()[1].is(ir::Kind::literal))
    return dsl::make(dsl::Power{expression(e.args()[0]), expression(e.args()[1])});
  std::vector<ir::Expr> factors{e};
  if (e.is(ir::Kind::multiply)) factors = e.args();
  ir::Number coefficient{true, 1, 0};
  if (factors[0].is(ir::Kind::literal)) {
    coefficient = factors[0]->number;
    factors.erase(factors.begin());
  }
  sort_factors(factors);
  std::vector<ExprPtr> above, below;
  bool simple = true;  // the divisors may share one bar without changing when multiplied out
  for (const ir::Expr& f : factors) {
    const double n = is_literal_power(f) ? f.args()[1]->number.value() : 1;
    const ir::Expr base = is_literal_power(f) ? f.args()[0] : f;
    if (n < 0) {
      below.push_back(power(base, -n));
      simple = simple && (base.is(ir::Kind::read) || base.is(ir::Kind::call) ||
                          base.is(ir::Kind::quotient) || base.is(ir::Kind::remainder) ||
                          (base.is(ir::Kind::size) && base->size.terms().size() == 1));
    } else if (n != 1) {
      above.push_back(power(base, n));
    } else if (base.is(ir::Kind::size) && base->size.terms().size() == 1) {
      // `x * T * H`, without brackets.
      ExprPtr s = size(base->size);
      const auto* c = std::get_if<dsl::Chain>(&s->node);
      const bool plain =
          c && std::all_of(c->ops.begin(), c->ops.end(), [](Op o) { return o == Op::multiply; });
      if (plain)
        above.insert(above.end(), c->operands.begin(), c->operands.end());
      else
        above.push_back(s);
    } else {
      above.push_back(expression(base));
    }
  }
  const bool negative = coefficient.value() < 0;
  if (negative) {
    coefficient.integer = -coefficient.integer;
    coefficient.real = -coefficient.real;
  }
  const bool one = coefficient.is_integer && coefficient.integer == 1;
  if (!one || above.empty()) above.insert(above.begin(), number(coefficient));
  std::vector<Op> ops(above.size() - 1, Op::multiply);
  std::vector<ExprPtr> operands = std::move(above);
  if (simple && below.size() > 1)
    below = {chain(below, std::vector<Op>(below.size() - 1, Op::multiply))};
  for (ExprPtr& b : below) {
    operands.push_back(std::move(b));
    ops.push_back(Op::divide);
  }
  ExprPtr result = chain(std::move(operands), std::move(ops));
  return negative ? with_sign(std::move(result)) : result;
}

ExprPtr Writer::scale(ExprPtr e, const ir::Expr& by) const {
  const auto [coefficient, rest] = ir::split_coefficient(by);
  const bool negative = coefficient.value() < 0 || by.is_literal(-1);
  std::vector<ExprPtr> operands{std::move(e)};
  std::vector<ir::Expr> divisors;
  if (rest.is(ir::Kind::multiply)) divisors = rest.args();
  if (rest.is(ir::Kind::power)) divisors = {rest};
  for (const ir::Expr& f : divisors)
    operands.push_back(power(f.args()[0], -f.args()[1]->number.value()));
  std::vector<Op> ops(operands.size() - 1, Op::divide);
  ExprPtr result = chain(std::move(operands), std::move(ops));
  return negative ? negated(std::move(result)) : result;
}

ExprPtr Writer::sum(std::vector<Term> terms, bool integer) const {
  if (terms.empty()) return dsl::make_number(int64_t{0});
  sort_terms(terms, integer);
  std::vector<ExprPtr> operands;
  std::vector<Op> ops;
  for (const Term& t : terms) {
    ExprPtr value = expression(t.value);
    if (operands.empty()) {
      operands.push_back(t.negative ? with_sign(std::move(value)) : std::move(value));
    } else {
      operands.push_back(std::move(value));
      ops.push_back(t.negative ? Op::subtract : Op::add);
    }
  }
  return chain(std::move(operands), std::move(ops));
}

ExprPtr Writer::monomial(const ir::Monomial& m, ir::Rational c) const {
  std::vector<ExprPtr> factors;
  if (c.num != 1 || m.empty()) factors.push_back(dsl::make_number(c.num));
  for (const auto& [id, n] : m)
    for (int k = 0; k < n; ++k) factors.push_back(dsl::make(dsl::Name{context_.g[id].name}));
  std::vector<Op> ops(factors.size() - 1, Op::multiply);
  if (c.den != 1) {
    factors.push_back(dsl::make_number(c.den));
    ops.push_back(Op::divide);
  }
  return chain(std::move(factors), std::move(ops));
}

ExprPtr Writer::size(const ir::Poly& p) const {
  auto terms = p.terms();
  auto degree = [](const ir::Monomial& m) {
    int sum = 0;
    for (const auto& [id, n] : m) sum += n;
    return sum;
  };
  std::stable_sort(terms.begin(), terms.end(),
                   [&](const auto& a, const auto& b) { return degree(a.first) > degree(b.first); });
  auto first = std::find_if(terms.begin(), terms.end(), [](auto& t) { return t.second.num > 0; });
  if (first != terms.end()) std::rotate(terms.begin(), first, terms.end());
  if (terms.empty()) return dsl::make_number(int64_t{0});
  std::vector<ExprPtr> operands;
  std::vector<Op> ops;
  for (const auto& [m, c] : terms) {
    ExprPtr value = monomial(m, {c.num < 0 ? -c.num : c.num, c.den});
    if (operands.empty()) {
      operands.push_back(c.num < 0 ? with_sign(std::move(value)) : std::move(value));
    } else {
      operands.push_back(std::move(value));
      ops.push_back(c.num < 0 ? Op::subtract : Op::add);
    }
  }
  return chain(std::move(operands), std::move(ops));
}

}  // namespace attn::text
