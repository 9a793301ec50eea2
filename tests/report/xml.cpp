#include "tests/report/xml.h"

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

}  // namespace

std::string xml_problem(const std::string& text) { return Xml(text).problem(); }

}  // namespace attn::testing
