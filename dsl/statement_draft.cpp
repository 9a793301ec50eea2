#include "dsl/statement_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/base/check.h"
#include "dsl/spelling.h"

namespace attn::dsl {
namespace {

int insides_beside_and(const Expr& condition) {
  if (std::holds_alternative<Inside>(condition.node)) return 1;
  const auto* chain = std::get_if<Chain>(&condition.node);
  if (chain == nullptr || chain->level != Level::logical_and) return 0;
  int found = 0;
  for (const ExprPtr& operand : chain->operands) found += insides_beside_and(*operand);
  return found;
}

template <typename Visit>
void for_each_child(const Expr& expr, Visit visit) {
  struct Children {
    Visit& visit;
    void one(const ExprPtr& child) {
      if (child != nullptr) visit(*child);
    }
    void all(const std::vector<ExprPtr>& children) {
      for (const ExprPtr& child : children) one(child);
    }
    void operator()(const Number&) {}
    void operator()(const Boolean&) {}
    void operator()(const Inside&) {}
    void operator()(const Leading&) {}
    void operator()(const Name&) {}
    void operator()(const Access& node) { all(node.subscripts); }
    void operator()(const Call& node) {
      for (const Argument& argument : node.arguments) one(argument.value);
    }
    void operator()(const Unary& node) { one(node.operand); }
    void operator()(const Power& node) { one(node.base), one(node.exponent); }
    void operator()(const Chain& node) { all(node.operands); }
    void operator()(const Conditional& node) { one(node.condition), one(node.yes), one(node.no); }
    void operator()(const Reduction& node) {
      for (const Index& index : node.indices) one(index.extent);
      one(node.condition), one(node.operand);
    }
  };
  std::visit(Children{visit}, expr.node);
}

void report_named_arguments_in(const Expr& expr, bool outermost, Diagnostics& diagnostics) {
  if (const auto* call = std::get_if<Call>(&expr.node); call != nullptr && !outermost) {
    for (const Argument& argument : call->arguments) {
      if (argument.name.text.empty()) continue;
      diagnostics
          .error(argument.name.where,
                 fmt::format("`{} = ...` inside an expression", argument.name.text))
          .help =
          "only the call of a block names arguments, and it is a statement of its own: "
          "`a = f(x, H = 8)`; equality is written `==`";
    }
  }
  for_each_child(expr,
                 [&](const Expr& child) { report_named_arguments_in(child, false, diagnostics); });
}

}  // namespace

StatementNode finish(StatementDraft draft, ParseState& state) {
  report_insides(state);
  const bool named = state.has_named_argument;
  report_named_arguments(draft.value, true, state);
  if (draft.start != nullptr) {
    state.has_named_argument = named;
    report_named_arguments(draft.start, false, state);
  }
  const auto* call = std::get_if<Call>(&draft.value->node);
  const bool names_argument =
      call != nullptr && std::any_of(call->arguments.begin(), call->arguments.end(),
                                     [](const Argument& a) { return !a.name.text.empty(); });
  const Identifier* said[] = {&draft.as, &draft.uses, &draft.weight_name};
  const auto word = std::find_if(std::begin(said), std::end(said),
                                 [](const Identifier* name) { return !name->text.empty(); });
  if (!draft.tuple && !names_argument && word == std::end(said)) {
    return Definition{std::move(draft.targets.front()),
                      draft.leading,
                      std::move(draft.indices),
                      std::move(draft.subscripts),
                      std::move(draft.value),
                      std::move(draft.condition),
                      std::move(draft.start)};
  }
  Diagnostics& diagnostics = state.diagnostics;
  if (call == nullptr) {
    constexpr const char* kWords[] = {"`as`", "`using`", "`@`"};
    constexpr const char* kForms[] = {"`y = f(x) as name`", "`y = f(x) using name`",
                                      "`y = f(x) as name @ \"weights\"`"};
    const auto which = word - std::begin(said);
    Diagnostic& d =
        draft.tuple ? diagnostics.error(draft.value->where,
                                        "several names on the left need the call of a block")
                    : diagnostics.error(
                          (*word)->where,
                          fmt::format("{} needs the call of a block on its left", kWords[which]));
    d.help = fmt::format("write {}", draft.tuple ? "`(y, p) = f(x)`" : kForms[which]);
    return BlockCall{std::move(draft.targets), {}, {}, std::move(draft.as), {}, {}};
  }
  if (draft.leading || !draft.indices.empty() || !draft.subscripts.empty()) {
    diagnostics
        .error(draft.targets.front().where, "the result of a block is named without brackets")
        .help = fmt::format("write `{} = {}(...)`", draft.targets.front().text, call->callee.text);
  }
  if (draft.condition != nullptr) {
    diagnostics.error(draft.condition->where, "the call of a block has no condition").help =
        "put the condition on the definition that reads the result";
  }
  if (draft.start != nullptr) {
    diagnostics.error(draft.start->where, "the call of a block has no start").help =
        "put `from` on the definition that is read one step back";
  }
  if (!draft.uses.text.empty() && !draft.weight_name.text.empty()) {
    diagnostics
        .error(draft.weight_name.where, "parameters of another call have names in weight files")
        .help = fmt::format("put `@` on the call that is named `{}`", draft.uses.text);
  }
  return BlockCall{std::move(draft.targets), call->callee,          call->arguments,
                   std::move(draft.as),      std::move(draft.uses), std::move(draft.weight_name)};
}

void allow_insides(const ExprPtr& condition, ParseState& state) {
  const Span where = condition->where;
  const auto first = std::find_if(state.insides.begin(), state.insides.end(), [&](Span inside) {
    return inside.begin >= where.begin && inside.end <= where.end;
  });
  const auto within = state.insides.end() - first;
  if (within > insides_beside_and(*condition)) {
    state.diagnostics.error(*first, "`inside` stands within a larger condition").help =
        "it stands alone, or beside `and`: `where inside and j <= i`";
  }
  state.insides.erase(first, state.insides.end());
}

void report_insides(ParseState& state) {
  for (Span where : state.insides) {
    state.diagnostics.error(where, "`inside` is no condition of its own").help =
        "it stands after `where`: `sum[k: 3 where inside] x[i + k - 1]`";
  }
  state.insides.clear();
}

void report_named_arguments(const ExprPtr& value, bool outermost, ParseState& state) {
  if (state.has_named_argument) report_named_arguments_in(*value, outermost, state.diagnostics);
  state.has_named_argument = false;
}

Identifier unquoted(const Token& string, ParseState& state) {
  Identifier name{std::string(string.text.substr(1, string.text.size() - 2)), string.where};
  if (name.text.empty()) {
    state.diagnostics.error(string.where, "a name in a weight file has at least one character");
  }
  return name;
}

void check_dtype(const Identifier& dtype, ParseState& state) {
  static const std::vector<std::string> known = {"f32", "f16", "bf16", "f64", "int", "bool"};
  if (std::find(known.begin(), known.end(), dtype.text) != known.end()) return;
  Diagnostic& diagnostic =
      state.diagnostics.error(dtype.where, fmt::format("there is no type `{}`", dtype.text));
  const std::string meant = is_narrow_type(dtype.text) ? "" : nearest(dtype.text, known);
  if (const auto name = type_called(dtype.text))
    diagnostic.help = fmt::format("here that type is `{}`", *name);
  else if (is_wide_type(dtype.text))
    diagnostic.help = "integers are `int`, which has 32 bits; there is no wider type of them";
  else
    diagnostic.help = meant.empty() ? "the types are f32, f16, bf16, f64, int and bool"
                                    : fmt::format("did you mean `{}`?", meant);
}

Number number_of(const Token& token) {
  const char *first = token.text.data(), *last = first + token.text.size();
  if (token.text.find_first_of(".eE") == std::string_view::npos) {
    int64_t value = 0;
    ATTN_CHECK(std::from_chars(first, last, value).ptr == last, "the lexer let a number pass");
    return {value, std::string(token.text)};
  }
  double value = 0;  // stays 0 for a number that is too small, which the lexer has warned of
  std::from_chars(first, last, value);
  return {value, std::string(token.text)};
}

}  // namespace attn::dsl
