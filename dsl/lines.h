// Where statements end. A newline becomes a separator or nothing; brackets are matched on the way,
// so that a forgotten `)` costs one statement and not the rest of the file.
#pragma once

#include <vector>

#include "dsl/tokens.h"

namespace attn::dsl {

// A newline ends a statement unless `(` or `[` is open, the token before it cannot end one (an
// operator, `=`, `,`, `->`, `:`, then else where and or not), or the next line begins with then,
// else, where, and, or, from, as, using or `@`. Separators keep the place of their newline. Reports
// brackets without a partner, which become `bad`, and nesting past kMaxNesting (then nothing but
// the end is left).
std::vector<Token> separate_statements(std::vector<Token> tokens, Diagnostics& diagnostics);

}  // namespace attn::dsl
