// Calls inside expressions: operations of the language, and functions, which are expanded.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/elaborate/statement.h"
#include "compiler/ops/table.h"
#include "dsl/spelling.h"

namespace attn::elaborate {
namespace {

constexpr size_t kDeepestExpansion = 100;

}  // namespace

std::string help_for_callee(const Unit& unit, const std::string& name) {
  if (std::string help = unit.library->help_for(name); !help.empty()) return help;
  if (const auto instead = dsl::instead_of_function(name)) return std::string(*instead);
  return suggestion(name, unit.callable_names());
}

bool Statement::check_callee(const dsl::Call& c, Span where, const Callable*& callable,
                             const ir::Operation*& op) {
  const std::string& name = c.callee.text;
  callable = lexical().unit->find(name);
  if (callable && callable->block) {
    Diagnostic& d = m_.error(where, fmt::format("block `{}` is called inside an expression", name));
    d.others.push_back({callable->where, "declared here"});
    d.help = fmt::format("give it a statement of its own, `r = {}(…)`, and read `r[…]` here", name);
    return false;
  }
  op = callable ? nullptr : ops::find(name);
  if (!callable && !op) {
    Diagnostic& d = m_.error(c.callee.where, fmt::format("there is no function `{}`", name));
    if (scope_.find(name) && functions_.empty())
      d.help = fmt::format("`{}` is a tensor: its subscripts stand in `[ ]`", name);
    else if (d.help = help_for_member(name); d.help.empty())
      d.help = help_for_callee(*lexical().unit, name);
    return false;
  }
  const bool any_number = op && op->arity < 0;
  const size_t wanted = callable     ? callable->function->parameters.size()
                        : any_number ? 1
                                     : static_cast<size_t>(op->arity);
  const size_t count = c.arguments.size();
  if (any_number ? count >= 1 : count == wanted) return true;
  Diagnostic& d =
      m_.error(where, fmt::format("`{}` takes {}{} argument{}, and here {} {}", name,
                                  any_number ? "at least " : "", wanted, wanted == 1 ? "" : "s",
                                  count == 1 ? "is" : "are", count));
  if (callable) d.others.push_back({callable->where, "declared here"});
  return false;
}

MaybeValue Statement::call(const dsl::Call& c, Span where) {
  const Callable* callable = nullptr;
  const ir::Operation* op = nullptr;
  if (!check_callee(c, where, callable, op)) return std::nullopt;
  std::vector<Value> arguments;
  std::vector<dsl::ExprPtr> sources;  // the text of each
  bool good = true;
  for (const dsl::Argument& a : c.arguments) {
    if (!a.name.text.empty()) {
      m_.error(a.name.where, fmt::format("the arguments of `{}` have no names", c.callee.text));
      return std::nullopt;
    }
    if (op && op->meaning == ir::Meaning::random && functions_.empty() && !leading_.empty() &&
        std::holds_alternative<dsl::Leading>(a.value->node)) {
      for (const ir::IndexId i : leading_.back())
        arguments.push_back({ir::index_value(i), Sort::position});
    } else if (MaybeValue v = expression(a.value)) {
      arguments.push_back(std::move(*v));
    } else {
      good = false;
    }
    sources.resize(arguments.size(), a.value);
  }
  if (!good) return std::nullopt;
  return callable ? expand(c, *callable, std::move(arguments))
                  : apply(sources, *op, std::move(arguments), where);
}

MaybeValue Statement::expand(const dsl::Call& c, const Callable& callable,
                             std::vector<Value> arguments) {
  auto open = std::find_if(functions_.begin(), functions_.end(),
                           [&](const Function* f) { return f->callable == &callable; });
  if (open != functions_.end()) {
    std::string chain;
    for (auto it = open; it != functions_.end(); ++it)
      chain += (*it)->callable->function->name.text + " calls ";
    Diagnostic& d = m_.error(c.callee.where, "a function may not call itself");
    d.primary.text = chain + callable.function->name.text;
    return std::nullopt;
  }
  if (functions_.size() >= kDeepestExpansion)
    throw LimitError(fmt::format("functions call each other more than {} deep", kDeepestExpansion));
  Function f{&callable, {}, {}};
  f.scope.unit = callable.home;
  for (size_t k = 0; k < arguments.size(); ++k)
    f.arguments.emplace(callable.function->parameters[k].text, std::move(arguments[k]));
  functions_.push_back(&f);
  m_.function_calls.push_back({&callable, c.callee.where});
  MaybeValue result = expression(callable.function->body);
  m_.function_calls.pop_back();
  functions_.pop_back();
  return result;
}

MaybeValue Statement::apply(const std::vector<dsl::ExprPtr>& sources, const ir::Operation& op,
                            std::vector<Value> arguments, Span where) {
  // What converts takes either kind of number, and a truth value as 1 or 0.
  const bool converts = op.meaning == ir::Meaning::to_real || op.meaning == ir::Meaning::to_integer;
  const bool counts = op.meaning == ir::Meaning::random;
  Sort sort = Sort::literal;
  for (size_t k = 0; k < arguments.size(); ++k) {
    Value& v = arguments[k];
    const Span at = sources[k]->where;
    if (converts && v.sort == Sort::truth) {
      const bool real = op.meaning == ir::Meaning::to_real;
      v = {ir::select(v.expr, 1, 0), real ? Sort::literal : Sort::integer};
    }
    if (!require_number(v, at)) return std::nullopt;
    if (counts) {
      if (v.expr.type() != ir::Type::integer) {
        m_.error(at, fmt::format("`{}` takes integers", op.name)).help =
            fmt::format("convert it: `int({})`", m_.source(at));
        return std::nullopt;
      }
    } else if (!converts && op.typing != ir::Typing::common) {
      v = as_real(std::move(v));
    }
    sort = std::max(sort, v.sort);
  }
  std::vector<ir::Expr> args;
  for (const Value& v : arguments)
    args.push_back(sort == Sort::real && !converts ? as_real(v).expr : v.expr);
  const ir::Expr result = ir::call(op, std::move(args));
  if (op.typing == ir::Typing::truth) return Value{result, Sort::truth};
  if (op.typing == ir::Typing::real) {
    // A function whose value is not finite for these constants (log(0)) can only be a mistake.
    if (result.is(ir::Kind::call) && !counts &&
        std::all_of(result.args().begin(), result.args().end(),
                    [](const ir::Expr& a) { return a.is(ir::Kind::literal); })) {
      m_.error(where, fmt::format("`{}` is not finite", m_.source(where)));
      return std::nullopt;
    }
    return Value{result, Sort::real};
  }
  if (op.meaning == ir::Meaning::to_integer)
    return Value{result, sort == Sort::position ? Sort::position : Sort::integer};
  return Value{result, sort};
}

}  // namespace attn::elaborate
