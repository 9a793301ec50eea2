// What the rules of expressions do with what they have read. Included by parse.cpp alone.
#pragma once

#include "dsl/statement_draft.h"
#include "dsl/token_parsers.h"

namespace attn::dsl::grammar {

using Row = std::vector<RowItem>;

const auto add_item = [](auto& context) {
  x3::_val(context).emplace_back(std::move(x3::_attr(context)));
};
// Prefix signs and powers nest without brackets; a loose operator ends such a run.
template <typename Make>
auto add_nesting(Make make_item) {
  return [make_item](auto& context) {
    const Token& token = x3::_attr(context);
    x3::_val(context).emplace_back(make_item(token));
    if (!state_of(context).enter(&token)) x3::_pass(context) = false;
  };
}
const auto add_reduction = [](auto& context) {
  const Reduction& head = x3::_attr(context);
  x3::_val(context).emplace_back(ReductionHead{head, head.kind.where});
  const Token token{TokenKind::reduction_word, head.kind.where, {}};
  if (!state_of(context).enter(&token)) x3::_pass(context) = false;
};
const auto add_infix = [](auto& context) {
  const InfixSign& sign = x3::_attr(context);
  ParseState& state = state_of(context);
  if (level_of(sign.op) != Level::multiplicative) state.depth = state.base_depth;
  x3::_val(context).emplace_back(sign);
};
const auto build_row = [](auto& context) {
  Row& items = x3::_attr(context);
  // An operator without operand was read before the row ended; the statement fails after it.
  while (!std::holds_alternative<ExprPtr>(items.back()) &&
         !std::holds_alternative<Bracketed>(items.back()))
    items.pop_back();
  x3::_val(context) = build_tree(items, state_of(context).diagnostics);
};

const auto read_number = [](auto& context) {
  const Token& token = x3::_attr(context);
  x3::_val(context) = make(number_of(token), token.where);
};
const auto read_boolean = [](auto& context) {
  const Token& token = x3::_attr(context);
  x3::_val(context) = make(Boolean{token.kind == TokenKind::true_word}, token.where);
};
const auto read_inside = [](auto& context) {
  const Token& token = x3::_attr(context);
  state_of(context).insides.push_back(token.where);
  x3::_val(context) = make(Inside{}, token.where);
};
const auto read_name = [](auto& context) {
  const Identifier& identifier = x3::_attr(context);
  x3::_val(context) = make(Name{identifier.text}, identifier.where);
};
const auto read_leading = [](auto& context) {
  x3::_val(context).value = make(Leading{}, x3::_attr(context).where);
};
const auto read_argument_name = [](auto& context) {
  x3::_val(context).name = x3::_attr(context);
  state_of(context).has_named_argument = true;
};
const auto read_word = [](auto& context) {
  const Token& token = x3::_attr(context);
  x3::_val(context).kind = {std::string(token.text), token.where};
};
const auto is_softmax = [](auto& context) {
  x3::_pass(context) = x3::_attr(context).text == "softmax";
};
const auto is_no_softmax = [](auto& context) {
  x3::_pass(context) = x3::_attr(context).text != "softmax";
};
const auto settle_insides = [](auto& context) {
  allow_insides(x3::_attr(context), state_of(context));
  x3::_val(context) = x3::_attr(context);
};

}  // namespace attn::dsl::grammar
