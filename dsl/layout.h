// Text with places where a line may be broken. A place has a depth, the number of brackets and
// operators around it: the outermost places are taken first, and as few of them as will do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn::dsl {

class Layout {
 public:
  // Appends text that stays in one piece.
  Layout& add(std::string_view text);
  // A place for a line break; if the line is not broken there, `flat` stands there.
  Layout& may_break(int depth, std::string_view flat);
  Layout& append(const Layout& more);

  std::string flat() const;
  size_t width() const;
  bool empty() const { return pieces_.empty(); }
  // Lines of at most `limit` columns where that is possible. The first begins at column `start`
  // (its indentation is not part of the text), the others are indented by `indent`.
  std::vector<std::string> lines(size_t start, size_t indent, size_t limit) const;

 private:
  struct Piece {
    std::string text;
    int depth = -1;    // of the break before this piece; -1: none
    std::string flat;  // instead of the break
  };
  struct Filler;
  std::vector<Piece> pieces_;
};

}  // namespace attn::dsl
