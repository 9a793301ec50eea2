// The one printer of the language, for `attnc fmt` and for every stage of the compiler.
// parse(print(tree)) equals the tree, provided that it is one the parser could have made (chains
// flat, literals not negative: see make_chain and make_number) and comments stand at statements.
#pragma once

#include <string>
#include <vector>

#include "dsl/ast.h"

namespace attn::dsl {

inline constexpr int kLineWidth = 100;

std::string print(const File& file);
// Statements at the margin, for an excerpt.
std::string print(const std::vector<Statement>& statements);
// One line, however long.
std::string print(const ExprPtr& expression);

}  // namespace attn::dsl
