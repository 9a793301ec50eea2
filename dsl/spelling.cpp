// How every word and sign of the language is written.
#include "dsl/spelling.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::dsl {
namespace {

constexpr Spelling kWords[] = {
    {"sum", TokenKind::reduction_word},
    {"max", TokenKind::reduction_word},
    {"min", TokenKind::reduction_word},
    {"mean", TokenKind::reduction_word},
    {"prod", TokenKind::reduction_word},
    {"argmax", TokenKind::reduction_word},
    {"softmax", TokenKind::reduction_word},
    {"logsumexp", TokenKind::reduction_word},
    {"if", TokenKind::if_word},
    {"then", TokenKind::then_word},
    {"else", TokenKind::else_word},
    {"and", TokenKind::and_word},
    {"or", TokenKind::or_word},
    {"not", TokenKind::not_word},
    {"where", TokenKind::where_word},
    {"inside", TokenKind::inside_word},
    {"true", TokenKind::true_word},
    {"false", TokenKind::false_word},
};

// Longer signs stand before their beginnings.
constexpr Spelling kSigns[] = {
    {"...", TokenKind::three_dots}, {"..", TokenKind::two_dots},
    {"->", TokenKind::arrow},       {"//", TokenKind::floor_slash},
    {"<=", TokenKind::less_equal},  {">=", TokenKind::greater_equal},
    {"==", TokenKind::equal_equal}, {"!=", TokenKind::not_equal},
    {"(", TokenKind::left_paren},   {")", TokenKind::right_paren},
    {"[", TokenKind::left_bracket}, {"]", TokenKind::right_bracket},
    {"{", TokenKind::left_brace},   {"}", TokenKind::right_brace},
    {",", TokenKind::comma},        {":", TokenKind::colon},
    {";", TokenKind::separator},    {"=", TokenKind::assign},
    {"+", TokenKind::plus},         {"-", TokenKind::minus},
    {"*", TokenKind::star},         {"/", TokenKind::slash},
    {"%", TokenKind::percent},      {"^", TokenKind::caret},
    {"<", TokenKind::less},         {">", TokenKind::greater},
    {"@", TokenKind::at_sign},      {"'", TokenKind::prime},
};

// Signs of other languages, and what to write here.
constexpr ForeignSign kForeignSigns[] = {
    {"&&", "write `and`"},
    {"||", "write `or`"},
    {"&", "write `and`"},
    {"|", "write `or`"},
    {"!", "write `not`"},
    {"?", "write `if c then a else b`"},
    {"$", {}},
    {"\\", "a line goes on by itself after an operator"},
    {"`", {}},
    {"~", {}},
};

template <typename Entry, size_t count>
std::optional<Entry> beginning_of(std::string_view text, const Entry (&entries)[count]) {
  for (const Entry& entry : entries)
    if (text.starts_with(entry.text)) return entry;
  return std::nullopt;
}

}  // namespace

TokenKind kind_of_word(std::string_view word) {
  for (const Spelling& entry : kWords)
    if (entry.text == word) return entry.kind;
  return TokenKind::name;
}

std::optional<Spelling> sign_at(std::string_view text) { return beginning_of(text, kSigns); }

std::optional<ForeignSign> foreign_sign_at(std::string_view text) {
  return beginning_of(text, kForeignSigns);
}

bool is_reserved(std::string_view word) { return kind_of_word(word) != TokenKind::name; }

std::string_view spelling(TokenKind kind) {
  for (const Spelling& entry : kSigns) {
    if (entry.kind == kind) return entry.text;
  }
  for (const Spelling& entry : kWords) {
    if (entry.kind == kind) return entry.text;
  }
  return "";
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::newline:
      return "the end of the line";
    case TokenKind::separator:
      return token.text == ";" ? "`;`" : "the end of the line";
    case TokenKind::end:
      return "the end of the file";
    default: {
      const bool is_long = token.text.size() > 40;
      return fmt::format("`{}{}`", token.text.substr(0, is_long ? 37 : 40), is_long ? "..." : "");
    }
  }
}

}  // namespace attn::dsl
