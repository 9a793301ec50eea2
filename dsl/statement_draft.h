// What the grammar cannot say: the actions of the parser that judge a statement as a whole.
#pragma once

#include "dsl/ast.h"
#include "dsl/parse_state.h"

namespace attn::dsl {

// A definition or a block call, before it is known which.
struct StatementDraft {
  std::vector<Identifier> targets;
  bool tuple = false;
  bool leading = false;
  std::vector<Index> indices;
  std::vector<ExprPtr> subscripts;
  ExprPtr value;
  Identifier as, uses, weight_name;
  ExprPtr start;
  ExprPtr condition;
};

// Reports what cannot stand together (`as` without a call, brackets on the result of a block).
StatementNode finish(StatementDraft draft, ParseState& state);

// `inside` may stand in a condition alone or beside `and`. Called for each condition, so that
// report_insides finds those that stand elsewhere.
void allow_insides(const ExprPtr& condition, ParseState& state);
void report_insides(ParseState& state);

// H = 8 is an argument of a block call, which is a statement; not of a function in an expression.
void report_named_arguments(const ExprPtr& value, bool outermost, ParseState& state);

// The text between the quotes of a string; reports an empty one.
Identifier unquoted(const Token& string, ParseState& state);

void check_dtype(const Identifier& dtype, ParseState& state);

// The value of a number token that the lexer has accepted.
Number number_of(const Token& token);

}  // namespace attn::dsl
