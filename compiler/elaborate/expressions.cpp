// Types and builds scalar expressions: names, operators, conditions, functions.
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>

#include "compiler/elaborate/statement.h"
#include "compiler/ops/table.h"
#include "dsl/comments.h"
#include "dsl/spelling.h"

namespace attn::elaborate {
namespace {

std::string_view noun(Sort s) {
  switch (s) {
    case Sort::truth:
      return "a truth value";
    case Sort::literal:
    case Sort::position:
      return "an integer";
    case Sort::integer:
      return "int";
    case Sort::real:
      return "real";
  }
  return "";
}

// A reduction in `e` that binds the index `name`, or null.
const dsl::Reduction* reduction_over(const dsl::ExprPtr& e, const std::string& name) {
  if (!e) return nullptr;
  if (const auto* r = std::get_if<dsl::Reduction>(&e->node); r && r->kind.text != "softmax")
    for (const dsl::Index& i : r->indices)
      if (i.name.text == name) return r;
  for (const dsl::ExprPtr& part : dsl::parts(*e))
    if (const dsl::Reduction* r = reduction_over(part, name)) return r;
  return nullptr;
}

}  // namespace

MaybeValue Statement::expression(const dsl::ExprPtr& e) {
  m_.count_step();
  const Span where = e->where;
  if (const auto* x = std::get_if<dsl::Number>(&e->node)) {
    if (x->is_integer()) return Value{ir::Expr(x->integer()), Sort::literal};
    return Value{ir::Expr(x->real()), Sort::real};
  }
  if (const auto* x = std::get_if<dsl::Boolean>(&e->node))
    return Value{ir::truth(x->value), Sort::truth};
  if (std::get_if<dsl::Inside>(&e->node)) {
    m_.error(where, "`inside` stands only after `where`, alone or beside `and`");
    return std::nullopt;
  }
  if (std::get_if<dsl::Leading>(&e->node)) {
    m_.error(where, "`...` stands for indices here, and only `uniform` takes any number of them");
    return std::nullopt;
  }
  if (const auto* x = std::get_if<dsl::Name>(&e->node)) return name(*x, where);
  if (const auto* x = std::get_if<dsl::Access>(&e->node)) return access(*x, where);
  if (const auto* x = std::get_if<dsl::Call>(&e->node)) return call(*x, where);
  if (const auto* x = std::get_if<dsl::Unary>(&e->node)) return unary(*x);
  if (const auto* x = std::get_if<dsl::Power>(&e->node)) return power(*x, where);
  if (const auto* x = std::get_if<dsl::Chain>(&e->node)) return chain(*x, where);
  if (const auto* x = std::get_if<dsl::Conditional>(&e->node)) return conditional(*x);
  return reduction(std::get<dsl::Reduction>(e->node), where);
}

MaybeValue Statement::name(const dsl::Name& n, Span where) {
  if (!functions_.empty()) {
    const Function& f = *functions_.back();
    if (auto it = f.arguments.find(n.text); it != f.arguments.end()) return it->second;
  } else {
    for (auto it = visible_.rbegin(); it != visible_.rend(); ++it)
      if (it->name == n.text) return Value{ir::index_value(it->id), Sort::position};
    Binding* b = scope_.find(n.text);
    if (b && !(m_.is_subscripted(*b) && m_.is_size_name(n.text, scope_))) {
      b->used = true;
      if (b->kind == Binding::Kind::poisoned) return std::nullopt;
      if (b->kind == Binding::Kind::scalar) return b->value;
      const ir::Tensor& t = m_.graph[b->tensor];
      if (t.extents.empty()) return read(b->tensor, {}, {});
      m_.report_without_subscripts(where, n.text, t);
      return std::nullopt;
    }
  }
  const Scope& scope = lexical();
  if (m_.is_size_name(n.text, scope)) {
    const auto p = m_.size_named(n.text, scope);
    if (!p) return std::nullopt;
    if (!scope.find_size(n.text) &&
        !m_.check_not_rebound(n.text, *scope.unit, scope_, where, !functions_.empty()))
      return std::nullopt;
    return Value{m_.number(*p), Sort::position};
  }
  unknown_name(n.text, where, false);
  return std::nullopt;
}

std::string Statement::help_for_member(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || !functions_.empty()) return {};
  const std::string tensor = name.substr(0, dot), member = name.substr(dot + 1);
  const Binding* b = scope_.find(tensor);
  if (!b || !m_.is_subscripted(*b)) return {};
  const auto instead = dsl::instead_of_function(member == "T" ? "transpose" : member);
  return instead ? std::string(*instead) : m_.one_element(tensor, m_.graph[b->tensor]);
}

void Statement::unknown_name(const std::string& name, Span where, bool subscripted) {
  if (!functions_.empty()) {
    Diagnostic& d = m_.error(where, fmt::format("a function cannot see `{}`", name));
    std::vector<std::string> candidates = m_.size_names(lexical());
    for (const auto& [argument, value] : functions_.back()->arguments)
      candidates.push_back(argument);
    d.help = suggestion(name, candidates);
    if (d.help.empty()) d.help = "a `fn` sees its arguments, the sizes of its file and functions";
    dsl::add_help_for_comment(m_.sources, where, d);
    return;
  }
  if (scope_.stacks && scope_.stacks->by_name.count(name)) {
    m_.error(where, fmt::format("`{}` is there after the `repeat`, when all rounds are", name))
        .help = "give what a round computes a name of its own, and read that";
    return;
  }
  // Finding the cause takes time that grows with the file; so many errors are not shown.
  constexpr int kMostExplained = 200;
  if (m_.error_count() >= kMostExplained) {
    m_.error(where, fmt::format("there is no `{}` here", name));
  } else if (!report_order(m_, scope_, definition_, name, where)) {
    std::vector<std::string> candidates = scope_.tensor_names();
    if (!subscripted) {
      for (const Visible& v : visible_) candidates.push_back(v.name);
      for (std::string& s : m_.size_names(scope_)) candidates.push_back(std::move(s));
    }
    const dsl::Reduction* binder = subscripted ? nullptr : reduction_over(definition_.value, name);
    const bool is_index = binder || (in_subscript_ > 0 && !subscripted);
    // An index is by custom called like its size: `t` is no slip of `T`.
    if (is_index)
      std::erase_if(candidates, [&](const std::string& c) {
        return c.size() == name.size() && strcasecmp(c.c_str(), name.c_str()) == 0;
      });
    const std::string meant = binder ? "" : suggestion(name, candidates);
    if (is_index && meant.empty()) {
      report_unbound(name, where, binder);
    } else {
      Diagnostic& d = m_.error(where, fmt::format("there is no `{}` here", name));
      const std::string of_member = help_for_member(name);
      d.help = meant;
      if (!of_member.empty())
        d.help = of_member;
      else if (lexical().unit->find(name))
        d.help = fmt::format("`{}` is called by a statement of its own: `r = {}(…)`", name, name);
      else if (const auto instead = dsl::instead_of_name(name); instead && !subscripted)
        d.help = *instead;
      else if (subscripted)
        d.help += fmt::format("{}declare it, as in `param {}: […]`, or define it above",
                              meant.empty() ? "" : " Or ", name);
      dsl::add_help_for_comment(m_.sources, where, d);
    }
  }
  // One error a name is enough.
  scope_.names[name] = {.kind = Binding::Kind::poisoned, .where = where};
}

// An index that nothing binds where it stands; `binder` binds it elsewhere in the definition.
void Statement::report_unbound(const std::string& name, Span where, const dsl::Reduction* binder) {
  if (!binder) {
    m_.error(where, fmt::format("index `{}` is neither on the left nor summed", name)).help =
        fmt::format("write `sum[{0}]` before the product, or `{0}` on the left: no sum is implied",
                    name);
    return;
  }
  const std::string& word = binder->kind.text;
  Diagnostic& d = m_.error(where, fmt::format("index `{}` is not bound here", name));
  d.others.push_back({binder->kind.where, fmt::format("this `{}` ends before", word)});
  const dsl::ExprPtr& condition = definition_.condition;
  const bool in_condition = condition && cover(condition->where, where) == condition->where;
  d.help = in_condition
               ? fmt::format("put the condition into its brackets: `{}[{} where {}{}]`", word, name,
                             binder->condition ? "… and " : "", m_.source(condition->where))
               : fmt::format("put brackets around all that it covers: `{}[{}] (…)`", word, name);
}

bool Statement::require_number(const Value& v, Span where) {
  if (v.sort != Sort::truth) return true;
  m_.error(where, "a truth value where a number is needed").help =
      fmt::format("write `if {} then 1 else 0`", m_.source(where));
  return false;
}

Value Statement::as_real(Value v) {
  if (v.sort == Sort::integer) v = {ir::call(*ops::find("float"), {v.expr}), Sort::real};
  return v;
}

bool Statement::make_real(Value& v, Span where) {
  if (!require_number(v, where)) return false;
  v = as_real(std::move(v));
  return true;
}

std::optional<Sort> Statement::together(Value& a, Span at_a, Value& b, Span at_b) {
  if (!require_number(a, at_a) || !require_number(b, at_b)) return std::nullopt;
  const Sort sort = std::max(a.sort, b.sort);
  if (sort == Sort::real) a = as_real(std::move(a)), b = as_real(std::move(b));
  return sort;
}

MaybeValue Statement::unary(const dsl::Unary& u) {
  if (u.op == dsl::UnaryOp::logical_not) {
    const auto c = truth(u.operand, "`not`");
    if (!c) return std::nullopt;
    return Value{ir::negation(*c), Sort::truth};
  }
  const MaybeValue v = expression(u.operand);
  if (!v || !require_number(*v, u.operand->where)) return std::nullopt;
  return Value{ir::negate(v->expr), v->sort};
}

MaybeValue Statement::power(const dsl::Power& p, Span where) {
  const MaybeValue base = expression(p.base), exponent = expression(p.exponent);
  if (!base || !exponent) return std::nullopt;
  if (!require_number(*base, p.base->where) || !require_number(*exponent, p.exponent->where))
    return std::nullopt;
  const bool counted = exponent->expr.is(ir::Kind::literal) &&
                       exponent->expr.type() == ir::Type::integer &&
                       exponent->expr->number.integer >= 0;
  if (base->expr.is_zero() && exponent->expr.is(ir::Kind::literal) &&
      exponent->expr->number.value() < 0) {
    m_.error(where, "a power of 0 that is infinite");
    return std::nullopt;
  }
  if (counted && base->sort != Sort::real)
    return Value{ir::power(base->expr, exponent->expr), base->sort};
  return Value{ir::power(as_real(*base).expr, as_real(*exponent).expr), Sort::real};
}

MaybeValue Statement::chain(const dsl::Chain& c, Span) {
  switch (c.level) {
    case dsl::Level::logical_or:
    case dsl::Level::logical_and:
      return logic(c);
    case dsl::Level::comparison:
      return comparison(c);
    default:
      return arithmetic(c);
  }
}

std::optional<ir::Expr> Statement::truth(const dsl::ExprPtr& e, std::string_view of) {
  const MaybeValue v = expression(e);
  if (!v) return std::nullopt;
  if (v->sort == Sort::truth) return v->expr;
  Diagnostic& d = m_.error(e->where, fmt::format("{} needs a truth value", of));
  d.primary.text = fmt::format("this is {}", noun(v->sort));
  d.help = fmt::format("compare it: `{} != 0`", m_.source(e->where));
  return std::nullopt;
}

// What stands left in `and` (or, negated, in `or`) holds where the right is evaluated.
MaybeValue Statement::logic(const dsl::Chain& c) {
  const bool is_and = c.level == dsl::Level::logical_and;
  const ir::Conditions saved = path_;
  std::vector<ir::Expr> terms;
  bool good = true;
  for (const dsl::ExprPtr& operand : c.operands) {
    const auto t = truth(operand, is_and ? "`and`" : "`or`");
    if (!t) {
      good = false;
      continue;
    }
    terms.push_back(*t);
    path_.merge(ir::conjuncts(is_and ? *t : ir::negation(*t)));
  }
  path_ = saved;
  if (!good) return std::nullopt;
  return Value{is_and ? ir::all_of(terms) : ir::any_of(terms), Sort::truth};
}

MaybeValue Statement::comparison(const dsl::Chain& c) {
  std::vector<MaybeValue> values;
  for (const dsl::ExprPtr& operand : c.operands) values.push_back(expression(operand));
  std::vector<ir::Expr> terms;
  for (size_t k = 0; k < c.ops.size(); ++k) {
    MaybeValue a = values[k], b = values[k + 1];
    if (!a || !b) return std::nullopt;
    const bool equality = c.ops[k] == dsl::Op::equal || c.ops[k] == dsl::Op::not_equal;
    if (!(equality && a->sort == Sort::truth && b->sort == Sort::truth) &&
        !together(*a, c.operands[k]->where, *b, c.operands[k + 1]->where))
      return std::nullopt;
    const ir::Expr &x = a->expr, &y = b->expr;
    switch (c.ops[k]) {
      case dsl::Op::less:
        terms.push_back(ir::less(x, y));
        break;
      case dsl::Op::less_equal:
        terms.push_back(ir::at_most(x, y));
        break;
      case dsl::Op::greater:
        terms.push_back(ir::less(y, x));
        break;
      case dsl::Op::greater_equal:
        terms.push_back(ir::at_most(y, x));
        break;
      case dsl::Op::equal:
        terms.push_back(ir::equal(x, y));
        break;
      default:
        terms.push_back(ir::negation(ir::equal(x, y)));
        break;
    }
  }
  return Value{ir::all_of(terms), Sort::truth};
}

MaybeValue Statement::arithmetic(const dsl::Chain& c) {
  MaybeValue sum = expression(c.operands[0]);
  for (size_t k = 0; k < c.ops.size(); ++k) {
    const MaybeValue next = expression(c.operands[k + 1]);
    // After an error the others are looked at for errors of their own.
    sum = sum && next ? operate(c.ops[k], *sum, c.operands[k], *next, c.operands[k + 1])
                      : std::nullopt;
  }
  return sum;
}

MaybeValue Statement::operate(dsl::Op op, Value a, const dsl::ExprPtr& at_a, Value b,
                              const dsl::ExprPtr& at_b) {
  const auto sort = together(a, at_a->where, b, at_b->where);
  if (!sort) return std::nullopt;
  switch (op) {
    case dsl::Op::add:
      return Value{a.expr + b.expr, *sort};
    case dsl::Op::subtract:
      return Value{a.expr - b.expr, *sort};
    case dsl::Op::multiply:
      return Value{a.expr * b.expr, *sort};
    case dsl::Op::divide:
      if (b.expr.is_zero()) {
        m_.error(at_b->where, "division by 0");
        return std::nullopt;
      }
      return Value{as_real(a).expr / as_real(b).expr, Sort::real};
    default:
      return whole_division(op, a, b, *at_b);
  }
}

MaybeValue Statement::whole_division(dsl::Op op, const Value& a, const Value& b,
                                     const dsl::Expr& divisor) {
  const std::string_view word = dsl::spelling(op);
  if (a.expr.type() != ir::Type::integer || b.expr.type() != ir::Type::integer) {
    m_.error(divisor.where, fmt::format("`{}` divides integers", word)).help =
        op == dsl::Op::floor_divide ? "`/` divides real numbers; `floor` rounds down"
                                    : "write `a - b * floor(a / b)` for real numbers";
    return std::nullopt;
  }
  const auto y = ir::as_size(b.expr);
  if (y && m_.graph.known(*y) == 0) {
    m_.error(divisor.where, fmt::format("`{}` by 0", word));
    return std::nullopt;
  }
  const Sort sort = std::max(a.sort, b.sort);
  // Quotients of sizes are sizes, so that they are equal to the extents written so.
  if (const auto x = ir::as_size(a.expr); x && y) {
    const auto q = m_.quotient(*x, *y);
    if (op == dsl::Op::floor_divide) return Value{ir::size_value(*q), sort};
    return Value{ir::size_value(*x - *q * *y), sort};
  }
  return Value{
      op == dsl::Op::floor_divide ? ir::quotient(a.expr, b.expr) : ir::remainder(a.expr, b.expr),
      sort};
}

MaybeValue Statement::conditional(const dsl::Conditional& c) {
  const auto condition = truth(c.condition, "`if`");
  const ir::Conditions saved = path_;
  if (condition) path_.merge(ir::conjuncts(*condition));
  MaybeValue yes = expression(c.yes);
  path_ = saved;
  if (condition) path_.merge(ir::conjuncts(ir::negation(*condition)));
  MaybeValue no = expression(c.no);
  path_ = saved;
  if (!condition || !yes || !no) return std::nullopt;
  if (yes->sort == Sort::truth && no->sort == Sort::truth)
    return Value{ir::select(*condition, yes->expr, no->expr), Sort::truth};
  const auto sort = together(*yes, c.yes->where, *no, c.no->where);
  if (!sort) return std::nullopt;
  return Value{ir::select(*condition, yes->expr, no->expr), *sort};
}

}  // namespace attn::elaborate
