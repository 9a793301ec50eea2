// The words of a source text. All that concerns single bytes is settled here: encoding, numbers,
// names, strings, comments; the grammar works on tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/diagnostic.h"

namespace attn::dsl {

enum class TokenKind : uint8_t {
  name,
  number,
  string,
  reduction_word,  // sum max min mean prod argmax logsumexp softmax
  if_word,
  then_word,
  else_word,
  and_word,
  or_word,
  not_word,
  where_word,
  inside_word,
  true_word,
  false_word,
  left_paren,
  right_paren,
  left_bracket,
  right_bracket,
  left_brace,
  right_brace,
  comma,
  colon,
  assign,
  plus,
  minus,
  star,
  slash,
  floor_slash,
  percent,
  caret,
  less,
  less_equal,
  greater,
  greater_equal,
  equal_equal,
  not_equal,
  arrow,
  two_dots,
  three_dots,
  at_sign,
  prime,
  newline,    // before lines.h has decided
  separator,  // ends a statement: a newline or `;`
  bad,        // something that was reported already
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  Span where;
  std::string_view text;  // into the source
  bool goes_on = false;   // a newline stands before it that does not end a statement
};

struct Comment {
  Span where;
  bool own_line = false;  // nothing but blanks before it on its line
};

struct Tokens {
  std::vector<Token> tokens;  // the last one is `end`
  std::vector<Comment> comments;
};

// Reports what is no word of the language and goes on after it.
Tokens tokenize(const SourceMap& sources, int32_t file, Diagnostics& diagnostics);

bool is_reserved(std::string_view word);
// What a message calls it: "`sum`", "the number 3", "the end of the line".
std::string describe(const Token& token);
std::string_view spelling(TokenKind kind);

}  // namespace attn::dsl
