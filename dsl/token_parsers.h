// The primitive parsers and directives of the grammar. Included by parse.cpp only.
#pragma once

#include <boost/spirit/home/x3.hpp>
#include <string_view>
#include <utility>

#include "dsl/parse_state.h"
#include "dsl/precedence.h"
#include "dsl/statement_draft.h"

namespace attn::dsl::grammar {

namespace x3 = boost::spirit::x3;

struct StateTag {};

template <typename Context>
ParseState& state_of(const Context& context) {
  return x3::get<StateTag>(context);
}

inline Span span_of(const Token* first, const Token* end) {
  return cover(first->where, end[-1].where);
}

// Parsers that take one token. `Derived::match` says whether, and with what attribute; `wanted` is
// what a message lists, or "" for what would only lengthen it.
template <typename Derived, typename Attribute>
struct OneToken : x3::parser<Derived> {
  using attribute_type = Attribute;
  static constexpr bool has_attribute = true;
  std::string_view wanted;

  explicit constexpr OneToken(std::string_view text) : wanted(text) {}

  template <typename Iterator, typename Context, typename RuleContext, typename Target>
  bool parse(Iterator& first, const Iterator&, const Context& context, RuleContext&,
             Target& target) const {
    ParseState& state = state_of(context);
    Attribute value{};
    if (state.stopped) return false;
    if (!this->derived().match(*first, value)) {
      state.expect(first, wanted);
      return false;
    }
    if constexpr (std::is_same_v<Target, Attribute>) target = std::move(value);
    ++first;
    return true;
  }
};

struct KindParser : OneToken<KindParser, Token> {
  TokenKind kind;
  constexpr KindParser(TokenKind of, std::string_view text) : OneToken(text), kind(of) {}
  bool match(const Token& token, Token& value) const {
    if (token.kind != kind) return false;
    value = token;
    return true;
  }
};

// A word that is special only at its place.
struct WordParser : OneToken<WordParser, Token> {
  std::string_view word;
  constexpr WordParser(std::string_view of, std::string_view text) : OneToken(text), word(of) {}
  bool match(const Token& token, Token& value) const {
    if (token.kind != TokenKind::name || token.text != word) return false;
    value = token;
    return true;
  }
};

struct NameParser : OneToken<NameParser, Identifier> {
  using OneToken::OneToken;
  bool match(const Token& token, Identifier& value) const {
    if (token.kind != TokenKind::name) return false;
    value = {std::string(token.text), token.where};
    return true;
  }
};

// The name of a scalar function: `max` and `min` are also reductions.
struct CalleeParser : OneToken<CalleeParser, Identifier> {
  using OneToken::OneToken;
  bool match(const Token& token, Identifier& value) const {
    const bool both =
        token.kind == TokenKind::reduction_word && (token.text == "max" || token.text == "min");
    if (token.kind != TokenKind::name && !both) return false;
    value = {std::string(token.text), token.where};
    return true;
  }
};

struct InfixParser : OneToken<InfixParser, InfixSign> {
  using OneToken::OneToken;
  bool match(const Token& token, InfixSign& value) const {
    static constexpr std::pair<TokenKind, Op> kTable[] = {
        {TokenKind::or_word, Op::logical_or},
        {TokenKind::and_word, Op::logical_and},
        {TokenKind::less, Op::less},
        {TokenKind::less_equal, Op::less_equal},
        {TokenKind::greater, Op::greater},
        {TokenKind::greater_equal, Op::greater_equal},
        {TokenKind::equal_equal, Op::equal},
        {TokenKind::not_equal, Op::not_equal},
        {TokenKind::plus, Op::add},
        {TokenKind::minus, Op::subtract},
        {TokenKind::star, Op::multiply},
        {TokenKind::slash, Op::divide},
        {TokenKind::floor_slash, Op::floor_divide},
        {TokenKind::percent, Op::remainder},
    };
    for (const auto& [kind, op] : kTable) {
      if (kind != token.kind) continue;
      value = {op, token.where};
      return true;
    }
    return false;
  }
};

// A directive: `wrap<Kind>(parser, arguments…)`.
template <typename Subject>
struct Named : x3::unary_parser<Subject, Named<Subject>> {
  // Where the subject fails at its first token, the message wants `text` and not its parts.
  using base = x3::unary_parser<Subject, Named<Subject>>;
  static constexpr bool is_pass_through_unary = true;
  std::string_view text;
  constexpr Named(const Subject& named, std::string_view name) : base(named), text(name) {}

  template <typename Iterator, typename Context, typename RuleContext, typename Target>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RuleContext& rule,
             Target& target) const {
    ParseState& state = state_of(context);
    const Token* outer = std::exchange(state.hidden_at, first);
    const bool good = this->subject.parse(first, last, context, rule, target);
    state.hidden_at = outer;
    if (!good) state.expect(first, text);
    return good;
  }
};

// Gives the subject's attribute its place.
template <typename Subject>
struct Placed : x3::unary_parser<Subject, Placed<Subject>> {
  using x3::unary_parser<Subject, Placed<Subject>>::unary_parser;
  static constexpr bool is_pass_through_unary = true;

  template <typename Iterator, typename Context, typename RuleContext, typename Target>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RuleContext& rule,
             Target& target) const {
    const Token* start = first;
    if (!this->subject.parse(first, last, context, rule, target)) return false;
    target.where = span_of(start, first);
    return true;
  }
};

// Makes an expression of the subject's attribute.
template <typename Subject>
struct NodeOf : x3::unary_parser<Subject, NodeOf<Subject>> {
  using x3::unary_parser<Subject, NodeOf<Subject>>::unary_parser;
  using attribute_type = ExprPtr;
  static constexpr bool has_attribute = true;

  template <typename Iterator, typename Context, typename RuleContext, typename Target>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RuleContext& rule,
             Target& target) const {
    const Token* start = first;
    typename x3::traits::attribute_of<Subject, Context>::type value{};
    if (!this->subject.parse(first, last, context, rule, value)) return false;
    if constexpr (std::is_same_v<Target, ExprPtr>) {
      target = make(std::move(value), span_of(start, first));
    }
    return true;
  }
};

// One level of nesting.
template <typename Subject>
struct Nested : x3::unary_parser<Subject, Nested<Subject>> {
  using x3::unary_parser<Subject, Nested<Subject>>::unary_parser;
  static constexpr bool is_pass_through_unary = true;

  template <typename Iterator, typename Context, typename RuleContext, typename Target>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RuleContext& rule,
             Target& target) const {
    ParseState& state = state_of(context);
    const int outer = state.depth, outer_base = state.base_depth;
    const bool entered = state.enter(first);
    state.base_depth = state.depth;
    const bool good = entered && this->subject.parse(first, last, context, rule, target);
    state.depth = outer;
    state.base_depth = outer_base;
    return good;
  }
};

// The separator or closing brace that ends the statement at `at`, or its first `{`.
inline const Token* end_of_statement(const Token* at, bool stop_at_brace = false) {
  int braces = 0;
  for (; at->kind != TokenKind::end; ++at) {
    if (at->kind == TokenKind::left_brace && stop_at_brace) break;
    if (at->kind == TokenKind::left_brace) ++braces;
    if (at->kind == TokenKind::right_brace && --braces < 0) break;
    // A `{` on the next line belongs to this statement, although it should not stand there.
    const bool brace_follows =
        at->kind == TokenKind::separator && at[1].kind == TokenKind::left_brace;
    if (at->kind == TokenKind::separator && braces == 0 && !brace_follows) break;
  }
  return at;
}

// Takes a statement that cannot be read, to its end (to_brace: to its `{`), and reports it.
struct Recovery : x3::parser<Recovery> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  bool to_brace;
  explicit constexpr Recovery(bool stop_at_brace) : to_brace(stop_at_brace) {}

  template <typename Iterator, typename Context, typename RuleContext, typename Target>
  bool parse(Iterator& first, const Iterator&, const Context& context, RuleContext&,
             Target&) const {
    ParseState& state = state_of(context);
    const Token* at = end_of_statement(first, to_brace);
    if (at == first || (to_brace && at->kind != TokenKind::left_brace)) return false;
    state.report(first, at, to_brace ? "a declaration" : "a statement");
    state.insides.clear();
    state.has_named_argument = false;
    first = at;
    return true;
  }
};

template <typename Parser>
constexpr auto named(std::string_view text, const Parser& parser) {
  return Named<Parser>(parser, text);
}
template <typename Parser>
constexpr auto placed(const Parser& parser) {
  return Placed<Parser>(parser);
}
template <typename Parser>
constexpr auto node(const Parser& parser) {
  return NodeOf<Parser>(parser);
}
template <typename Parser>
constexpr auto nested(const Parser& parser) {
  return Nested<Parser>(parser);
}

// Semantic actions: put the attribute into a member of the rule's value.
template <typename Member>
auto set(Member member) {
  return [member](auto& context) { x3::_val(context).*member = std::move(x3::_attr(context)); };
}
template <typename Member>
auto push(Member member) {
  return [member](auto& context) {
    (x3::_val(context).*member).push_back(std::move(x3::_attr(context)));
  };
}
template <typename Member>
auto flag(Member member) {
  return [member](auto& context) { x3::_val(context).*member = true; };
}
inline const auto itself = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };

}  // namespace attn::dsl::grammar
