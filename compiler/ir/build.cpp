// Constructors of numbers, sums, products, powers, quotients, calls and selects: the normal form.
#include "compiler/ir/build.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/ir/operation.h"

namespace attn::ir {
namespace {

Type widest(const std::vector<Expr>& args) {
  Type t = Type::boolean;
  for (const Expr& a : args) t = std::max(t, a.type());
  return t;
}

Number whole(int64_t value) { return {true, value, 0}; }
Number real(double value) { return {false, 0, value}; }

// An integer where the real number is one and fits: `2.0 * x` and `2 * x` are one expression.
Number as_integer(Number n) {
  if (n.is_integer || std::abs(n.real) > 9e15 || n.real != std::floor(n.real)) return n;
  return whole(static_cast<int64_t>(n.real));
}

int64_t checked(__int128 value) {
  if (value > INT64_MAX || value < -INT64_MAX)
    throw LimitError("an integer constant exceeds 63 bits");
  return static_cast<int64_t>(value);
}

Number plus(const Number& a, const Number& b) {
  if (a.is_integer && b.is_integer)
    return whole(checked(static_cast<__int128>(a.integer) + b.integer));
  return real(a.value() + b.value());
}

Number times(const Number& a, const Number& b) {
  if (a.is_integer && b.is_integer)
    return whole(checked(static_cast<__int128>(a.integer) * b.integer));
  return real(a.value() * b.value());
}

// Rounded down, for b other than 0.
int64_t floored(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

bool is_one(const Number& n) { return n.value() == 1; }
bool is_zero_number(const Number& n) { return n.value() == 0; }

Expr node(Kind kind, Type type, std::vector<Expr> args) {
  return Build::make({.kind = kind, .type = type, .args = std::move(args)});
}

// `if c then v else 0`, whose condition is hoisted out of sums and products.
bool is_guarded(const Expr& e) { return e.is(Kind::select) && e.args()[2].is_zero(); }

struct Sum {
  Poly sizes;           // sizes and whole constants
  double constant = 0;  // real constants
  bool has_real = false;
  std::map<Expr, Number> terms;  // rest -> coefficient

  void take(const Expr& e) {
    if (e.is(Kind::add)) {
      for (const Expr& t : e.args()) take(t);
    } else if (e.is(Kind::literal)) {
      if (e->number.is_integer) {
        sizes = sizes + Poly(e->number.integer);
      } else {
        constant += e->number.real;
        has_real = true;
      }
    } else if (e.is(Kind::size)) {
      sizes = sizes + e->size;
    } else {
      Scaled s = split_coefficient(e);
      if (s.rest.is(Kind::size) && s.coefficient.is_integer) {
        sizes = sizes + scale(s.rest->size, {s.coefficient.integer, 1});
        return;
      }
      auto [it, fresh] = terms.try_emplace(s.rest, s.coefficient);
      if (!fresh) it->second = plus(it->second, s.coefficient);
    }
  }

  // Guarded terms of one condition become one; false when there was nothing to join.
  bool join_guarded() {
    std::map<Expr, std::vector<Expr>> groups;
    for (const auto& [rest, c] : terms)
      if (is_guarded(rest) && !is_zero_number(c)) groups[rest.args()[0]].push_back(rest);
    bool joined = false;
    for (const auto& [condition, members] : groups) {
      if (members.size() < 2) continue;
      std::vector<Expr> values;
      for (const Expr& m : members) {
        values.push_back(multiply({literal(terms.at(m)), m.args()[1]}));
        terms.erase(m);
      }
      take(select(condition, add(std::move(values)), 0));
      joined = true;
    }
    return joined;
  }
};

}  // namespace

Expr literal(Number value) { return value.is_integer ? Expr(value.integer) : Expr(value.real); }

Expr size_value(const Poly& size) {
  if (auto n = size.integer()) return Expr(*n);
  return Build::make({.kind = Kind::size, .type = Type::integer, .size = size});
}

Expr index_value(IndexId index) {
  return Build::make({.kind = Kind::index, .type = Type::integer, .index = index});
}

std::vector<Expr> index_values(const std::vector<IndexId>& indices) {
  std::vector<Expr> result;
  for (IndexId i : indices) result.push_back(index_value(i));
  return result;
}

Expr read(TensorId tensor, Type type, std::vector<Expr> subscripts) {
  return Build::make(
      {.kind = Kind::read, .type = type, .tensor = tensor, .args = std::move(subscripts)});
}

Scaled split_coefficient(const Expr& e) {
  if (!e.is(Kind::multiply) || !e.args()[0].is(Kind::literal)) return {whole(1), e};
  std::vector<Expr> rest(e.args().begin() + 1, e.args().end());
  if (rest.size() == 1) return {e.args()[0]->number, rest[0]};
  Type type = widest(rest);
  return {e.args()[0]->number, node(Kind::multiply, type, std::move(rest))};
}

Expr add(std::vector<Expr> terms) {
  if (terms.size() == 1) return terms[0];
  Sum sum;
  for (const Expr& t : terms) sum.take(t);
  while (sum.join_guarded()) {
  }
  std::vector<Expr> out;
  bool flat = true;
  for (const auto& [rest, coefficient] : sum.terms) {
    if (is_zero_number(coefficient)) continue;
    out.push_back(multiply({literal(coefficient), rest}));
    flat = flat && !out.back().is(Kind::add) && !out.back().is(Kind::literal);
  }
  if (!flat) {  // a coefficient was distributed over a sum
    out.push_back(size_value(sum.sizes));
    if (sum.has_real) out.push_back(Expr(sum.constant));
    return add(std::move(out));
  }
  // The one real number among whole terms stays real, so that the type is seen.
  const Type of_terms = widest(out);
  auto keeps_real = [&](const Number& n) { return !n.is_integer && !is_real(of_terms); };
  if (auto c = sum.sizes.constant()) {
    Number n = c->is_integer() ? whole(c->num) : real(c->value());
    if (sum.has_real) n = real(n.value() + sum.constant);
    if (is_real(of_terms)) n = as_integer(n);
    if (!is_zero_number(n) || out.empty() || keeps_real(n)) out.push_back(literal(n));
  } else {
    out.push_back(size_value(sum.sizes));
    Number n = sum.has_real ? real(sum.constant) : whole(0);
    if (is_real(of_terms)) n = as_integer(n);
    if (n.is_integer)  // `x + T + 1.0`, where the type is real anyway
      out.back() = size_value(sum.sizes + Poly(n.integer));
    else
      out.push_back(literal(n));
  }
  if (out.size() == 1) return out[0];
  std::sort(out.begin(), out.end());
  // Of what is left: reals may have cancelled.
  const Type type = widest(out);
  return node(Kind::add, type, std::move(out));
}

Expr multiply(std::vector<Expr> factors) {
  Number coefficient = whole(1);
  std::optional<Poly> sizes;
  std::map<Expr, Number> powers;
  Type type = factors.empty() ? Type::integer : widest(factors);
  std::vector<Expr> stack(factors.rbegin(), factors.rend());
  auto raise = [&](const Expr& base, const Number& by) {
    auto [it, fresh] = powers.try_emplace(base, by);
    if (!fresh) it->second = plus(it->second, by);
  };
  while (!stack.empty()) {
    Expr f = stack.back();
    stack.pop_back();
    if (f.is(Kind::multiply)) {
      stack.insert(stack.end(), f.args().rbegin(), f.args().rend());
    } else if (f.is(Kind::literal)) {
      coefficient = times(coefficient, f->number);
    } else if (f.is(Kind::size)) {
      sizes = sizes ? *sizes * f->size : f->size;
    } else if (f.is(Kind::power) && f.args()[1].is(Kind::literal)) {
      raise(f.args()[0], f.args()[1]->number);
    } else {
      raise(f, whole(1));
    }
  }
  if (is_zero_number(coefficient)) return 0;
  if (sizes) {
    if (auto c = sizes->constant())
      coefficient = times(coefficient, c->is_integer() ? whole(c->num) : real(c->value()));
    else
      raise(size_value(*sizes), whole(1));
  }
  // A condition around a factor is a condition around the product.
  for (const auto& [base, n] : powers) {
    if (!is_guarded(base) || !is_one(n)) continue;
    std::vector<Expr> rest{literal(coefficient), base.args()[1]};
    for (const auto& [other, m] : powers)
      if (!(other == base)) rest.push_back(power(other, literal(m)));
    return select(base.args()[0], multiply(std::move(rest)), 0);
  }
  std::vector<Expr> out;
  bool flat = true;
  const Expr* sum = nullptr;
  for (const auto& [base, n] : powers) {
    if (is_zero_number(n)) continue;
    out.push_back(power(base, literal(n)));
    const Expr& last = out.back();
    flat = flat && !last.is(Kind::multiply) && !last.is(Kind::literal);
  }
  for (const Expr& f : out)
    if (f.is(Kind::add)) sum = &f;
  if (!flat) {
    out.push_back(literal(coefficient));
    return multiply(std::move(out));
  }
  if (out.empty()) return literal(is_real(type) ? coefficient : as_integer(coefficient));
  // Whole products are distributed over sums, and so is a sign over a sum.
  bool integer = coefficient.is_integer && widest(out) == Type::integer;
  if (sum &&
      (integer || (out.size() == 1 && coefficient.is_integer && coefficient.integer == -1))) {
    Expr s = *sum;
    out.erase(out.begin() + (sum - out.data()));
    std::vector<Expr> terms;
    for (const Expr& t : s.args()) {
      std::vector<Expr> product = out;
      product.push_back(t);
      product.push_back(literal(coefficient));
      terms.push_back(multiply(std::move(product)));
    }
    return add(std::move(terms));
  }
  if (is_real(widest(out))) coefficient = as_integer(coefficient);
  if (out.size() == 1 && out[0].is(Kind::size) && coefficient.is_integer)
    return size_value(scale(out[0]->size, {coefficient.integer, 1}));
  std::sort(out.begin(), out.end());
  if (!is_one(coefficient) || (!coefficient.is_integer && !is_real(widest(out))))
    out.insert(out.begin(), literal(coefficient));
  if (out.size() == 1) return out[0];
  Type of_product = widest(out);
  return node(Kind::multiply, of_product, std::move(out));
}

Expr power(const Expr& b, const Expr& e) {
  if (e.is(Kind::literal)) {
    Number n = as_integer(e->number);
    if (is_zero_number(n)) return 1;
    if (is_one(n)) return b;
    if (b.is(Kind::literal)) {
      if (n.is_integer && n.integer > 0 && n.integer < 64 && b->number.is_integer) {
        Number product = whole(1);
        for (int64_t k = 0; k < n.integer; ++k) product = times(product, b->number);
        return literal(product);
      }
      double value = std::pow(b->number.value(), n.value());
      // A root stays a root unless it is whole: 1 / sqrt(3) reads better than its digits.
      bool root = !n.is_integer;
      double whole_root = root ? std::pow(b->number.value(), std::abs(n.value())) : 0;
      if (b->number.is_integer && b->number.integer == 1) return 1;
      if (std::isfinite(value) &&
          (!root || !b->number.is_integer || whole_root == std::floor(whole_root)))
        return n.value() < 0 ? Expr(value) : literal(as_integer(real(value)));
    }
    if (b.is(Kind::power) && b.args()[1].is(Kind::literal)) {
      Number inner = b.args()[1]->number;
      // (x^2)^0.5 is |x|; every other nesting is the product of the exponents.
      if ((n.is_integer || !inner.is_integer)) return power(b.args()[0], literal(times(inner, n)));
    }
    if (b.is(Kind::multiply) && n.is_integer) {
      std::vector<Expr> parts;
      for (const Expr& f : b.args()) parts.push_back(power(f, literal(n)));
      return multiply(std::move(parts));
    }
    Type type = b.type() == Type::integer && n.is_integer && n.integer > 0
                    ? Type::integer
                    : std::max(b.type(), Type::f32);
    return node(Kind::power, type, {b, literal(n)});
  }
  return node(Kind::power, std::max({b.type(), e.type(), Type::f32}), {b, e});
}

Expr quotient(const Expr& a, const Expr& b) {
  ATTN_CHECK(a.type() == Type::integer && b.type() == Type::integer, "a quotient of reals");
  if (b.is_one()) return a;
  if (a.is_zero()) return 0;
  if (a.is(Kind::literal) && b.is(Kind::literal) && !b.is_zero())
    return floored(a->number.integer, b->number.integer);
  return node(Kind::quotient, Type::integer, {a, b});
}

Expr remainder(const Expr& a, const Expr& b) {
  ATTN_CHECK(a.type() == Type::integer && b.type() == Type::integer, "a remainder of reals");
  if (b.is_one() || a.is_zero()) return 0;
  if (a.is(Kind::literal) && b.is(Kind::literal) && !b.is_zero()) return a - b * quotient(a, b);
  return node(Kind::remainder, Type::integer, {a, b});
}

Expr select(const Expr& c, const Expr& a, const Expr& b) {
  ATTN_CHECK(c.type() == Type::boolean, "the condition of `if` is no truth value");
  if (c.is_true() || a == b) return a;
  if (c.is_false()) return b;
  if (a.type() == Type::boolean) return any_of({all_of({c, a}), all_of({negation(c), b})});
  if (a.is_zero()) return select(negation(c), b, 0);
  if (b.is_zero() && is_guarded(a)) return select(all_of({c, a.args()[0]}), a.args()[1], 0);
  return node(Kind::select, std::max(a.type(), b.type()), {c, a, b.is_zero() ? Expr(0) : b});
}

Expr call(const Operation& op, std::vector<Expr> args) {
  ATTN_CHECK(op.arity < 0 ? !args.empty() : static_cast<int>(args.size()) == op.arity,
             std::string("the number of arguments of ") + std::string(op.name));
  Type type = op.typing == Typing::integer  ? Type::integer
              : op.typing == Typing::truth  ? Type::boolean
              : op.typing == Typing::common ? widest(args)
                                            : std::max(widest(args), Type::f32);
  Expr result;
  if (op.identity && op.identity(args, result)) return result;
  if (op.value &&
      std::all_of(args.begin(), args.end(), [](const Expr& a) { return a.is(Kind::literal); })) {
    std::vector<double> x;
    for (const Expr& a : args) x.push_back(a->number.value());
    double y = op.value(x);
    if (std::isfinite(y)) {
      if (type == Type::boolean) return truth(y != 0);
      if (type == Type::integer) return Expr(static_cast<int64_t>(y));
      return Expr(y);
    }
  }
  return Build::make({.kind = Kind::call, .type = type, .operation = &op, .args = std::move(args)});
}

Expr negate(const Expr& a) { return multiply({-1, a}); }
Expr operator+(const Expr& a, const Expr& b) { return add({a, b}); }
Expr operator-(const Expr& a, const Expr& b) { return add({a, negate(b)}); }
Expr operator*(const Expr& a, const Expr& b) { return multiply({a, b}); }
Expr operator/(const Expr& a, const Expr& b) { return multiply({a, power(b, -1)}); }
Expr operator-(const Expr& a) { return negate(a); }

}  // namespace attn::ir
