// The table of the words and signs of the language, and of signs that other languages have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/tokens.h"

namespace attn::dsl {

struct Spelling {
  std::string_view text;
  TokenKind kind;
};

// A sign that is not of the language; `instead` says what to write, or is empty.
struct ForeignSign {
  std::string_view text, instead;
};

// A word that other languages have; `instead` says what to write here.
struct ForeignWord {
  std::string_view text, instead;
};

// Of a declaration or a statement that begins with `word`; nothing where it is no such word.
std::optional<std::string_view> instead_of_statement(std::string_view word);
// Of a call `word(…)`.
std::optional<std::string_view> instead_of_function(std::string_view word);
// Of a name in an expression, however its letters are written.
std::optional<std::string_view> instead_of_name(std::string_view word);
// The type of this language that another language calls `word`.
std::optional<std::string_view> type_called(std::string_view word);
// The reduction of this language that another language calls `word`.
std::optional<std::string_view> reduction_called(std::string_view word);
// Whether it is a type of 4, 8 or 16 bits elsewhere, as `int8`, of which there is none here.
bool is_narrow_type(std::string_view word);
// Whether it is a type of integers of more than 32 bits elsewhere, as `int64`.
bool is_wide_type(std::string_view word);

// sum, max, …
std::vector<std::string> reduction_words();

// The kind of a reserved word; of any other word, `name`.
TokenKind kind_of_word(std::string_view word);

// The longest sign that `text` begins with.
std::optional<Spelling> sign_at(std::string_view text);
std::optional<ForeignSign> foreign_sign_at(std::string_view text);

}  // namespace attn::dsl
