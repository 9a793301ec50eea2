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

constexpr std::string_view kFormula =
    "write the formula of one element: `y[i, j] = sum[k] x[i, k] * w[k, j]`";
constexpr std::string_view kMoved =
    "a formula says what one element is, and its indices what moves where: `y[j, i] = x[i, j]`, "
    "`y[b, t, d] = x[b, t, d // E, d % E]`";
constexpr std::string_view kMask =
    "a mask is a condition: `softmax[j where j <= i] (…)`, and what it hides counts for nothing";
constexpr std::string_view kUse =
    "other files are named by `use`: `use std.norm`, `use \"mine.attn\"`";

constexpr ForeignWord kForeignStatements[] = {
    {"//", "a comment begins with `#`"},
    {"/", "a comment begins with `#`"},
    {"import", kUse},
    {"from", kUse},
    {"using", kUse},
    {"include", kUse},
    {"def", "a function of scalars is `fn f(a) = …`, one of tensors `block f(x: [T]) -> y { … }`"},
    {"func", "a function of scalars is `fn f(a) = …`, one of tensors `block f(x: [T]) -> y { … }`"},
    {"function",
     "a function of scalars is `fn f(a) = …`, one of tensors `block f(x: [T]) -> y { … }`"},
    {"class", "parts of a model are blocks: `block f(x: [T]) -> y { … }`"},
    {"dim", "a size is declared by `size D = 64`, or by `size T` where each call says it"},
    {"let", "a definition has no word before it: `y[i] = …`"},
    {"var", "a definition has no word before it: `y[i] = …`"},
    {"const", "a definition has no word before it: `y[i] = …`; a size is `size D = 64`"},
    {"auto", "a definition has no word before it: `y[i] = …`"},
    {"for", "indices take the place of loops: `y[i] = …` defines all elements"},
    {"while", "steps that need each other are a `scan t: T { … }`"},
    {"return", "results are named after `->`: `model f(x: [T]) -> y { y[i] = … }`"},
    {"output", "results are named after `->`: `model f(x: [T]) -> y { y[i] = … }`"},
    {"input", "inputs stand in brackets: `model f(x: [T]) -> y { … }`"},
};

constexpr ForeignWord kForeignFunctions[] = {
    {"einsum", kFormula},
    {"matmul", kFormula},
    {"dot", kFormula},
    {"mm", kFormula},
    {"bmm", kFormula},
    {"tensordot", kFormula},
    {"transpose", kMoved},
    {"permute", kMoved},
    {"reshape", kMoved},
    {"view", kMoved},
    {"rearrange", kMoved},
    {"flatten", kMoved},
    {"masked_fill", kMask},
    {"where", kMask},
    {"concat", "an element comes from one or the other: `if i < T then x[i] else y[i - T]`"},
    {"cat", "an element comes from one or the other: `if i < T then x[i] else y[i - T]`"},
    {"fabs", "write `abs(x)`"},
    {"square", "a power is `x^2`"},
    {"sqr", "a power is `x^2`, and the root `sqrt(x)`"},
    {"ln", "write `log(x)`"},
    {"round", "write `floor(x + 0.5)`"},
};

// In small letters: other languages write them in several ways.
constexpr ForeignWord kForeignNames[] = {
    {"inf", kMask},
    {"infinity", kMask},
    {"pi", "write 3.14159265358979"},
    {"none", "there are no missing values"},
    {"true", "write `true`"},
    {"false", "write `false`"},
};

constexpr ForeignWord kForeignTypes[] = {
    {"float", "f32"},   {"float32", "f32"}, {"single", "f32"},  {"double", "f64"},
    {"float64", "f64"}, {"half", "f16"},    {"float16", "f16"}, {"bfloat16", "bf16"},
    {"int32", "int"},   {"i32", "int"},     {"index", "int"},   {"boolean", "bool"},
};

constexpr ForeignWord kForeignReductions[] = {
    {"average", "mean"}, {"avg", "mean"},      {"add", "sum"},        {"total", "sum"},
    {"product", "prod"}, {"maximum", "max"},   {"amax", "max"},       {"minimum", "min"},
    {"amin", "min"},     {"lse", "logsumexp"}, {"arg_max", "argmax"},
};

// Types that have nothing like them here.
constexpr std::string_view kNarrowTypes[] = {"int8", "uint8", "i8",  "u8",    "byte", "char",
                                             "int4", "uint4", "fp8", "int16", "i16",  "short"};

constexpr std::string_view kWideTypes[] = {"int64", "i64", "long", "uint64", "u64", "int128"};

template <size_t count>
std::optional<std::string_view> instead_in(std::string_view word,
                                           const ForeignWord (&words)[count]) {
  for (const ForeignWord& entry : words)
    if (entry.text == word) return entry.instead;
  return std::nullopt;
}

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

std::vector<std::string> reduction_words() {
  std::vector<std::string> words;
  for (const Spelling& entry : kWords)
    if (entry.kind == TokenKind::reduction_word) words.emplace_back(entry.text);
  return words;
}

std::optional<std::string_view> instead_of_statement(std::string_view word) {
  return instead_in(word, kForeignStatements);
}
std::optional<std::string_view> instead_of_function(std::string_view word) {
  return instead_in(word, kForeignFunctions);
}
std::optional<std::string_view> instead_of_name(std::string_view word) {
  std::string small(word);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  return instead_in(small, kForeignNames);
}
std::optional<std::string_view> type_called(std::string_view word) {
  return instead_in(word, kForeignTypes);
}
std::optional<std::string_view> reduction_called(std::string_view word) {
  return instead_in(word, kForeignReductions);
}

bool is_narrow_type(std::string_view word) {
  return std::find(std::begin(kNarrowTypes), std::end(kNarrowTypes), word) !=
         std::end(kNarrowTypes);
}

bool is_wide_type(std::string_view word) {
  return std::find(std::begin(kWideTypes), std::end(kWideTypes), word) != std::end(kWideTypes);
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
