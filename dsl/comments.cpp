#include "dsl/comments.h"

#include <string>

#include "dsl/spelling.h"

namespace attn::dsl {
namespace {

using Lines = std::vector<std::string>;

class Attacher {
 public:
  Attacher(const std::vector<Comment>& comments, std::string_view text)
      : comments_(comments), text_(text) {}

  template <typename Element>
  void visit(std::vector<Element>& elements, uint32_t end) {
    for (size_t i = 0; i < elements.size(); ++i) {
      const bool is_last = i + 1 == elements.size();
      is_first_ = i == 0;
      visit(elements[i], is_last ? end : elements[i + 1].where.begin);
    }
    is_first_ = elements.empty();
  }

  // What stands before `end` and belongs to nothing.
  void take_last(uint32_t end, Lines& lines) {
    take_above(end, lines);
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
  }

 private:
  // `limit`: where the next statement begins, or the list ends.
  template <typename Element>
  void visit(Element& element, uint32_t limit) {
    take_above(element.where.begin, element.comments.above);
    std::visit([&](auto& node) { visit_node(node, element, limit); }, element.node);
  }

  template <typename Node, typename Element>
  void visit_node(Node&, Element& element, uint32_t limit) {
    take_within(element.where.end, element.comments.above);
    take_beside(limit, element.comments);
  }
  void visit_node(Block& block, Item& item, uint32_t limit) { braced(block, item, limit); }
  void visit_node(Update& update, Item& item, uint32_t limit) { braced(update, item, limit); }
  void visit_node(Repeat& repeat, Statement& statement, uint32_t limit) {
    braced(repeat, statement, limit);
  }
  void visit_node(Scan& scan, Statement& statement, uint32_t limit) {
    braced(scan, statement, limit);
  }

  template <typename Node, typename Element>
  void braced(Node& node, Element& element, uint32_t limit) {
    take_within(node.braces.begin + 1, element.comments.above);
    const uint32_t close = node.braces.end > 0 ? node.braces.end - 1 : node.braces.end;
    take_beside(node.body.empty() ? close : node.body.front().where.begin, element.comments);
    visit(node.body, close);
    take_last(close, node.last_comments);
    previous_ = node.braces.end;
    if (element.comments.beside.empty()) take_beside(limit, element.comments);
  }

  bool comment_before(uint32_t end) const {
    return next_ < comments_.size() && comments_[next_].where.begin < end;
  }

  std::string take() {
    const Span where = comments_[next_++].where;
    previous_ = where.end;
    std::string_view text = text_.substr(where.begin, where.end - where.begin);
    while (text.back() == ' ' || text.back() == '\t') text.remove_suffix(1);
    return std::string(text);
  }

  int newlines_before(uint32_t end) const {
    int count = 0;
    for (uint32_t i = previous_; i < end; ++i) {
      const bool is_pair = text_[i] == '\r' && i + 1 < end && text_[i + 1] == '\n';
      if (text_[i] == '\n' || (text_[i] == '\r' && !is_pair)) ++count;
    }
    return count;
  }

  // A blank line, except at the beginning of a list.
  void take_blank(uint32_t end, Lines& lines) {
    const bool is_beginning = is_first_ && lines.empty();
    if (newlines_before(end) > 1 && !is_beginning) lines.emplace_back();
  }

  void take_above(uint32_t end, Lines& lines) {
    while (comment_before(end)) {
      take_blank(comments_[next_].where.begin, lines);
      lines.push_back(take());
    }
    take_blank(end, lines);
    previous_ = end;
  }

  void take_within(uint32_t end, Lines& lines) {
    while (comment_before(end)) lines.push_back(take());
    previous_ = end;
  }

  void take_beside(uint32_t limit, Comments& comments) {
    if (!comment_before(limit)) return;
    if (newlines_before(comments_[next_].where.begin) == 0) comments.beside = take();
  }

  const std::vector<Comment>& comments_;
  std::string_view text_;
  size_t next_ = 0;
  uint32_t previous_ = 0;  // where what was last seen ends
  bool is_first_ = true;
};

}  // namespace

void attach_comments(File& file, const std::vector<Comment>& comments, std::string_view text) {
  Attacher attacher(comments, text);
  const uint32_t end = static_cast<uint32_t>(text.size());
  attacher.visit(file.items, end);
  attacher.take_last(end, file.last_comments);
  for (size_t i = 1; i < file.items.size(); ++i) {
    Lines& above = file.items[i].comments.above;
    const bool has_blank = !above.empty() && above.front().empty();
    if (set_off(file.items[i - 1], file.items[i]) && !has_blank) above.emplace(above.begin());
  }
}

std::string_view help_for_comment(const SourceMap& sources, Span place) {
  const auto [number, column] = sources.position(place.file, place.begin);
  const std::string_view line = sources.line(place.file, number);
  bool in_string = false, in_comment = false;
  int open = 0;  // brackets since the `//`
  for (size_t i = 0; i < line.size() && (in_string || line[i] != '#'); ++i) {
    if (line[i] == '"') in_string = !in_string;
    if (in_string) continue;
    if (line[i] == '(' || line[i] == '[') ++open;
    if (line[i] == ')' || line[i] == ']') --open;
    // A bracket around the `//` ends: that was a division.
    if (open < 0) in_comment = false;
    if (in_comment || i >= static_cast<size_t>(column) || !line.substr(i).starts_with("//"))
      continue;
    in_comment = true;
    open = 0;
  }
  return in_comment ? *instead_of_statement("//") : "";
}

void add_help_for_comment(const SourceMap& sources, Span where, Diagnostic& d) {
  const std::string_view help = help_for_comment(sources, where);
  if (!help.empty()) d.help += (d.help.empty() ? "" : "; ") + std::string(help);
}

}  // namespace attn::dsl
