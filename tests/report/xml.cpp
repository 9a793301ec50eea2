#include "tests/report/xml.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace attn::testing {
namespace {

class Xml {
 public:
  explicit Xml(const std::string& text) : text_(text) {}

  std::string problem() {
    if (starts("<!DOCTYPE html>")) at_ += 15;
    while (at_ < text_.size() && problem_.empty()) {
      if (text_[at_] == '<')
        tag();
      else if (text_[at_] == '&')
        entity();
      else
        character();
    }
    if (problem_.empty() && !open_.empty()) problem_ = "no end of <" + open_.back() + ">";
    return problem_;
  }

 private:
  bool starts(const std::string& head) const { return text_.compare(at_, head.size(), head) == 0; }
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what + " before: " + text_.substr(at_, 60);
  }

  std::string name() {
    std::string result;
    while (at_ < text_.size() && (isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '-' || text_[at_] == ':'))
      result += text_[at_++];
    if (result.empty()) fail("no name");
    return result;
  }
  void blanks() {
    while (at_ < text_.size() && isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  void character() {
    if (open_.empty() && !isspace(static_cast<unsigned char>(text_[at_]))) fail("text outside");
    if (text_[at_] == '>' && starts("]]>")) fail("a stray end");
    ++at_;
  }

  void entity() {
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;"})
      if (starts(known)) {
        at_ += std::string(known).size();
        return;
      }
    fail("an unknown entity");
    ++at_;
  }

  void tag() {
    ++at_;
    if (text_[at_] == '/') {
      ++at_;
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed) return fail("</" + closed + "> ends nothing");
      open_.pop_back();
      blanks();
      if (text_[at_] != '>') fail("no >");
      ++at_;
      return;
    }
    const std::string opened = name();
    if (open_.empty() && root_) fail("a second root");
    root_ = true;
    std::set<std::string> attributes;
    for (blanks(); problem_.empty() && text_[at_] != '>' && text_[at_] != '/'; blanks()) {
      if (!attributes.insert(name()).second) fail("an attribute twice");
      if (!starts("=\"")) return fail("an attribute without a quoted value");
      for (at_ += 2; at_ < text_.size() && text_[at_] != '"';) {
        if (text_[at_] == '<') return fail("< in an attribute");
        if (text_[at_] == '&')
          entity();
        else
          ++at_;
      }
      ++at_;
    }
    if (text_[at_] == '/')
      ++at_;
    else
      open_.push_back(opened);
    if (text_[at_] != '>') fail("no >");
    ++at_;
  }

  const std::string& text_;
  size_t at_ = 0;
  bool root_ = false;
  std::vector<std::string> open_;
  std::string problem_;
};

class Speech {
 public:
  explicit Speech(const std::string& page) : page_(page) {}

  std::string text() {
    while (at_ < page_.size()) {
      if (page_[at_] == '<')
        tag();
      else
        say(until("<"));
    }
    end_line();
    return said_;
  }

 private:
  // Everything before the next `end`, at which it stops.
  std::string until(const std::string& end) {
    const size_t stop = std::min(page_.find(end, at_), page_.size());
    const std::string result = page_.substr(at_, stop - at_);
    at_ = stop;
    return result;
  }

  static std::string attribute(const std::string& tag, const std::string& name) {
    const size_t found = tag.find(" " + name + "=\"");
    if (found == std::string::npos) return "";
    const size_t begin = found + name.size() + 3;
    return tag.substr(begin, tag.find('"', begin) - begin);
  }

  void tag() {
    const std::string tag = until(">");
    ++at_;
    const std::string name = tag.substr(1, tag.find_first_of(" /", 2) - 1);
    if (name == "style") until("</style>");
    if (name == "math") {
      until("</math>");
      say(attribute(tag, "alttext"));
    }
    if (name == "span") {
      if (attribute(tag, "aria-hidden") == "true") until("</span>");
      if (attribute(tag, "class") == "eq") end_line();
      say(" ");
    }
    static const std::set<std::string> kCells = {"td", "th"};
    static const std::set<std::string> kLines = {"tr", "p",    "div",     "li",    "h1", "h2", "h3",
                                                 "h4", "text", "summary", "title", "br", "g"};
    if (kCells.count(name)) say(line_.empty() ? "" : " | ");
    if (kLines.count(name) || kLines.count(name.substr(name[0] == '/'))) end_line();
    if (name == "g") say("(" + attribute(tag, "class") + ")");
  }

  void say(const std::string& text) {
    for (size_t k = 0; k < text.size(); ++k) {
      char c = text[k] == '\n' ? ' ' : text[k];
      if (c == '&')
        for (const auto& [entity, character] :
             {std::pair{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}})
          if (text.compare(k, std::string(entity).size(), entity) == 0) {
            c = character;
            k += std::string(entity).size() - 1;
            break;
          }
      if (c != ' ' || (!line_.empty() && line_.back() != ' ')) line_ += c;
    }
  }

  void end_line() {
    while (!line_.empty() && line_.back() == ' ') line_.pop_back();
    if (!line_.empty()) said_ += line_ + "\n";
    line_.clear();
  }

  const std::string& page_;
  size_t at_ = 0;
  std::string said_, line_;
};

}  // namespace

std::string xml_problem(const std::string& text) { return Xml(text).problem(); }

std::string spoken(const std::string& page) { return Speech(page).text(); }

}  // namespace attn::testing
