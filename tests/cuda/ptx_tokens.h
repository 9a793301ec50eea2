// Words and signs of a text of PTX, with their lines.
#pragma once

#include <string>
#include <vector>

namespace ptx {

struct Token {
  std::string text;
  int line = 0;
};
// Comments are left out. One that says `implicit-def: %r1`, which LLVM leaves where any value will
// do, becomes the statement `implicit-def %r1;`.
std::vector<Token> tokens_of(const std::string& text);

}  // namespace ptx
