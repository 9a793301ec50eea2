// Constructors of conditions, in normal form: integer comparisons are `e >= 0`, `e == 0`, `e != 0`;
// `not` goes inwards; `and` is a sorted set; a set that holds a condition and its negation is
// false.
#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/ir/build.h"

namespace attn::ir {
namespace {

Expr node(Kind kind, std::vector<Expr> args) {
  return Build::make({.kind = kind, .type = Type::boolean, .args = std::move(args)});
}

bool whole(const Expr& a, const Expr& b) {
  return a.type() == Type::integer && b.type() == Type::integer;
}

// Of e and -e the one that comes first, so that e == 0 has one form.
Expr one_sign(const Expr& e) {
  Expr minus = negate(e);
  return minus < e ? minus : e;
}

}  // namespace

Expr truth(bool value) {
  return Build::make({.kind = Kind::literal, .type = Type::boolean, .number = {true, value, 0}});
}

Expr at_least_zero(const Expr& a) {
  if (a.is(Kind::literal)) return truth(a->number.value() >= 0);
  if (a.is(Kind::size))
    if (auto c = a->size.constant()) return truth(sign(*c) >= 0);
  return node(Kind::at_least_zero, {a});
}

Expr is_zero(const Expr& a) {
  if (a.is(Kind::literal)) return truth(a->number.value() == 0);
  return node(Kind::is_zero, {one_sign(a)});
}

Expr not_zero(const Expr& a) {
  if (a.is(Kind::literal)) return truth(a->number.value() != 0);
  return node(Kind::not_zero, {one_sign(a)});
}

Expr less(const Expr& a, const Expr& b) {
  if (whole(a, b)) return at_least_zero(b - a - 1);
  if (a.is(Kind::literal) && b.is(Kind::literal))
    return truth(a->number.value() < b->number.value());
  if (a == b) return truth(false);
  return node(Kind::less, {a, b});
}

Expr at_most(const Expr& a, const Expr& b) {
  if (whole(a, b)) return at_least_zero(b - a);
  if (a.is(Kind::literal) && b.is(Kind::literal))
    return truth(a->number.value() <= b->number.value());
  return node(Kind::at_most, {a, b});
}

Expr equal(const Expr& a, const Expr& b) {
  if (a.type() == Type::boolean || b.type() == Type::boolean) {
    ATTN_CHECK(a.type() == b.type(), "a truth value is compared with a number");
    return all_of({any_of({negation(a), b}), any_of({a, negation(b)})});
  }
  if (whole(a, b)) return is_zero(a - b);
  if (a.is(Kind::literal) && b.is(Kind::literal))
    return truth(a->number.value() == b->number.value());
  return b < a ? node(Kind::equal, {b, a}) : node(Kind::equal, {a, b});
}

Conditions conjuncts(const Expr& condition) {
  ATTN_CHECK(condition.type() == Type::boolean, "a condition is no truth value");
  if (condition.is_true()) return {};
  if (condition.is(Kind::both)) return {condition.args().begin(), condition.args().end()};
  return {condition};
}

Expr all_of(const Conditions& conditions) {
  return all_of(std::vector<Expr>(conditions.begin(), conditions.end()));
}

Expr all_of(std::initializer_list<Expr> conditions) {
  return all_of(std::vector<Expr>(conditions));
}

Expr all_of(std::vector<Expr> conditions) {
  Conditions set;
  for (const Expr& c : conditions) set.merge(conjuncts(c));
  for (const Expr& c : set)
    if (c.is_false() || set.count(negation(c))) return truth(false);
  if (set.empty()) return truth(true);
  if (set.size() == 1) return *set.begin();
  return node(Kind::both, {set.begin(), set.end()});
}

Expr any_of(std::vector<Expr> conditions) {
  for (Expr& c : conditions) c = negation(c);
  return negation(all_of(std::move(conditions)));
}

Expr negation(const Expr& c) {
  switch (c.kind()) {
    case Kind::literal:
      return truth(!c.is_true());
    case Kind::negation:
      return c.args()[0];
    case Kind::at_least_zero:
      return at_least_zero(negate(c.args()[0]) - 1);
    case Kind::is_zero:
      return not_zero(c.args()[0]);
    case Kind::not_zero:
      return is_zero(c.args()[0]);
    case Kind::both: {
      Conditions parts;
      for (const Expr& x : c.args()) {
        Expr n = negation(x);
        if (n.is(Kind::either))
          parts.insert(n.args().begin(), n.args().end());
        else
          parts.insert(n);
      }
      return node(Kind::either, {parts.begin(), parts.end()});
    }
    case Kind::either: {
      std::vector<Expr> parts;
      for (const Expr& x : c.args()) parts.push_back(negation(x));
      return all_of(std::move(parts));
    }
    default:
      ATTN_CHECK(c.type() == Type::boolean, "`not` of something that is no truth value");
      return node(Kind::negation, {c});
  }
}

Expr where(const Conditions& conditions, const Expr& value) {
  return select(all_of(conditions), value, 0);
}

}  // namespace attn::ir
