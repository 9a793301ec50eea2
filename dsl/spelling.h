// The table of the words and signs of the language, and of signs that other languages have.
#pragma once

#include <optional>
#include <string_view>

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

// The kind of a reserved word; of any other word, `name`.
TokenKind kind_of_word(std::string_view word);

// The longest sign that `text` begins with.
std::optional<Spelling> sign_at(std::string_view text);
std::optional<ForeignSign> foreign_sign_at(std::string_view text);

}  // namespace attn::dsl
