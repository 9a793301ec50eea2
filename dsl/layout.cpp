#include "dsl/layout.h"

#include <algorithm>
#include <climits>

namespace attn::dsl {

Layout& Layout::add(std::string_view text) {
  if (pieces_.empty()) pieces_.emplace_back();
  pieces_.back().text += text;
  return *this;
}

Layout& Layout::may_break(int depth, std::string_view flat) {
  pieces_.push_back({"", depth, std::string(flat)});
  return *this;
}

Layout& Layout::append(const Layout& more) {
  for (const Piece& piece : more.pieces_) {
    if (piece.depth < 0) {
      add(piece.text);
    } else {
      pieces_.push_back(piece);
    }
  }
  return *this;
}

std::string Layout::flat() const {
  std::string text;
  for (const Piece& piece : pieces_) text += piece.flat + piece.text;
  return text;
}

size_t Layout::width() const {
  size_t width = 0;
  for (const Piece& piece : pieces_) width += piece.flat.size() + piece.text.size();
  return width;
}

struct Layout::Filler {
  const std::vector<Piece>& pieces;
  size_t indent, limit;
  std::vector<std::string> lines;
  size_t column;

  // Puts pieces [first, last) after what stands on the last line.
  void fill(size_t first, size_t last) {
    size_t width = 0;
    int depth = INT_MAX;
    for (size_t i = first; i < last; ++i) {
      width += pieces[i].text.size() + (i > first ? pieces[i].flat.size() : 0);
      if (i > first) depth = std::min(depth, pieces[i].depth);
    }
    if (column + width <= limit || depth == INT_MAX) {
      for (size_t i = first; i < last; ++i)
        write((i > first ? pieces[i].flat : "") + pieces[i].text);
      return;
    }
    // Segments between the outermost breaks: each goes on the line while it fits.
    for (size_t begin = first; begin < last;) {
      size_t end = begin + 1, segment = pieces[begin].text.size();
      while (end < last && pieces[end].depth != depth) {
        segment += pieces[end].flat.size() + pieces[end].text.size();
        ++end;
      }
      if (begin > first) {
        if (column + pieces[begin].flat.size() + segment <= limit) {
          write(pieces[begin].flat);
        } else {
          lines.emplace_back();
          column = indent;
        }
      }
      fill(begin, end);
      begin = end;
    }
  }

  void write(const std::string& text) {
    lines.back() += text;
    column += text.size();
  }
};

std::vector<std::string> Layout::lines(size_t start, size_t indent, size_t limit) const {
  Filler filler{pieces_, indent, limit, {""}, start};
  filler.fill(0, pieces_.size());
  for (size_t i = 1; i < filler.lines.size(); ++i) filler.lines[i].insert(0, indent, ' ');
  return std::move(filler.lines);
}

}  // namespace attn::dsl
