#include "compiler/report/mathml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/base/check.h"

namespace attn::report {
namespace {

enum class Kind { atom, sign, limits };

struct Item {
  std::string xml;
  Kind kind = Kind::atom;
};

struct Word {
  std::string_view tex, xml;
  Kind kind = Kind::atom;
};

// Commands without arguments.
constexpr Word kWords[] = {
    {"alpha", "<mi>α</mi>"},
    {"beta", "<mi>β</mi>"},
    {"gamma", "<mi>γ</mi>"},
    {"delta", "<mi>δ</mi>"},
    {"epsilon", "<mi>ϵ</mi>"},
    {"zeta", "<mi>ζ</mi>"},
    {"eta", "<mi>η</mi>"},
    {"theta", "<mi>θ</mi>"},
    {"iota", "<mi>ι</mi>"},
    {"kappa", "<mi>κ</mi>"},
    {"lambda", "<mi>λ</mi>"},
    {"mu", "<mi>μ</mi>"},
    {"nu", "<mi>ν</mi>"},
    {"xi", "<mi>ξ</mi>"},
    {"pi", "<mi>π</mi>"},
    {"rho", "<mi>ρ</mi>"},
    {"sigma", "<mi>σ</mi>"},
    {"tau", "<mi>τ</mi>"},
    {"upsilon", "<mi>υ</mi>"},
    {"phi", "<mi>φ</mi>"},
    {"chi", "<mi>χ</mi>"},
    {"psi", "<mi>ψ</mi>"},
    {"omega", "<mi>ω</mi>"},
    {"partial", "<mi>∂</mi>"},
    {"sum", "<mo>∑</mo>", Kind::limits},
    {"prod", "<mo>∏</mo>", Kind::limits},
    {"cdot", "<mo>⋅</mo>", Kind::sign},
    {"le", "<mo>≤</mo>", Kind::sign},
    {"ge", "<mo>≥</mo>", Kind::sign},
    {"ne", "<mo>≠</mo>", Kind::sign},
    {"lor", "<mo>∨</mo>", Kind::sign},
    {"land", "<mo>∧</mo>", Kind::sign},
    {"lnot", "<mo>¬</mo>", Kind::sign},
    {"bmod", "<mo lspace=\"0.3em\" rspace=\"0.3em\">mod</mo>", Kind::sign},
    {",", "<mspace width=\"0.17em\"/>"},
    {" ", "<mspace width=\"0.3em\"/>"},
    {"quad", "<mspace width=\"1em\"/>"},
};

// Functions, written upright; those with limits take what stands below them.
constexpr std::string_view kFunctions[] = {"exp", "log", "tanh", "sin", "cos", "tan", "arctan"};
constexpr std::string_view kWithLimits[] = {"max", "min"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  explicit Reader(std::string_view tex) : tex_(tex) {}

  std::string all() {
    const std::string result = row();
    if (at_ != tex_.size()) fail("what is left over");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InternalError(fmt::format("a formula that is not ours, at {} in {}", what, tex_));
  }

  bool next_is(std::string_view text) const { return tex_.substr(at_, text.size()) == text; }

  void skip_blanks() {
    while (at_ < tex_.size() && tex_[at_] == ' ') ++at_;
  }

  void expect(std::string_view text) {
    skip_blanks();
    if (!next_is(text)) fail(fmt::format("{} ({} is wanted)", at_, text));
    at_ += text.size();
  }

  // Up to a closing brace, or one of the ends of an environment or a bracket.
  bool ended() const {
    if (at_ == tex_.size() || tex_[at_] == '}' || tex_[at_] == '&' || next_is("\\\\")) return true;
    return next_is("\\right") || next_is("\\end");
  }

  // Everything up to the end; as a row of its own also where it is one item.
  std::string row(bool wrapped = false) {
    std::vector<Item> items;
    for (skip_blanks(); !ended(); skip_blanks()) {
      if (tex_[at_] == '_' || tex_[at_] == '^' || tex_[at_] == '\'') {
        if (items.empty()) fail("a script of nothing");
        items.back() = scripted(items.back());
      } else {
        const bool first = items.empty() || items.back().kind == Kind::sign;
        items.push_back(item(first));
      }
    }
    std::string inside;
    for (const Item& i : items) inside += i.xml;
    if (items.size() == 1 && !wrapped) return inside;
    return fmt::format("<mrow>{}</mrow>", inside);
  }

  // A braced group, or one sign alone.
  std::string argument() {
    skip_blanks();
    if (at_ == tex_.size()) fail("the end");
    if (tex_[at_] != '{') return item(true).xml;
    ++at_;
    const std::string result = row();
    expect("}");
    return result.empty() ? "<mrow></mrow>" : result;
  }

  // The text of a braced group of letters.
  std::string word() {
    expect("{");
    std::string result;
    for (; at_ < tex_.size() && tex_[at_] != '}'; ++at_)
      if (tex_[at_] != '\\') result += tex_[at_];
    expect("}");
    return result;
  }

  Item scripted(const Item& base) {
    std::string below, above;
    for (skip_blanks(); at_ < tex_.size(); skip_blanks()) {
      if (tex_[at_] == '_' && below.empty()) {
        ++at_;
        below = argument();
      } else if (tex_[at_] == '^' && above.empty()) {
        ++at_;
        above = argument();
      } else if (tex_[at_] == '\'' && above.empty()) {
        while (at_ < tex_.size() && tex_[at_] == '\'') ++at_, above += "′";
        above = fmt::format("<mo>{}</mo>", above);
      } else {
        break;
      }
    }
    // A prime belongs to the letter: browsers set a raised one too small.
    if (above.starts_with("<mo>′") && base.xml.ends_with("</mi>")) {
      const std::string letter = base.xml.substr(base.xml.find('>') + 1);
      const std::string primes = above.substr(4, above.size() - 9);
      const std::string name =
          fmt::format("<mi class=\"w\">{}{}</mi>", letter.substr(0, letter.size() - 5), primes);
      return below.empty() ? Item{name} : Item{fmt::format("<msub>{}{}</msub>", name, below)};
    }
    const bool limits = base.kind == Kind::limits;
    if (above.empty())
      return {fmt::format("<{0}>{1}{2}</{0}>", limits ? "munder" : "msub", base.xml, below)};
    if (below.empty()) return {fmt::format("<msup>{}{}</msup>", base.xml, above)};
    return {fmt::format("<msubsup>{}{}{}</msubsup>", base.xml, below, above)};
  }

  // `first`: nothing stands before it that a sign could join.
  Item item(bool first) {
    const char c = tex_[at_];
    if (c == '\\') return command();
    if (c == '{') return {argument()};
    if (is_digit(c)) return number();
    ++at_;
    if (is_letter(c)) return {fmt::format("<mi>{}</mi>", c)};
    if (c == '-') return {first ? "<mo form=\"prefix\">−</mo>" : "<mo>−</mo>", Kind::sign};
    if (c == ',') return {"<mo separator=\"true\">,</mo>", Kind::sign};
    if (c == '(' || c == ')') return {fmt::format("<mo stretchy=\"false\">{}</mo>", c)};
    if (std::string_view("+=<>/.:").find(c) != std::string_view::npos)
      return {fmt::format("<mo>{}</mo>", escaped_xml(std::string_view(&c, 1))), Kind::sign};
    fail(fmt::format("`{}`", c));
  }

  Item number() {
    const size_t begin = at_;
    while (at_ < tex_.size() && (is_digit(tex_[at_]) || tex_[at_] == '.')) ++at_;
    return {fmt::format("<mn>{}</mn>", tex_.substr(begin, at_ - begin))};
  }

  std::string command_name() {
    ++at_;
    const size_t begin = at_;
    while (at_ < tex_.size() && is_letter(tex_[at_])) ++at_;
    if (at_ == begin && at_ < tex_.size()) ++at_;
    std::string name(tex_.substr(begin, at_ - begin));
    if (next_is("*")) {
      ++at_;
      name += '*';
    }
    return name;
  }

  static std::string upright(const std::string& text) {
    if (text.size() == 1) return fmt::format("<mi mathvariant=\"normal\">{}</mi>", text);
    return fmt::format("<mi>{}</mi>", escaped_xml(text));
  }

  static std::string function_with_limits(std::string_view text) {
    return fmt::format("<mo movablelimits=\"false\" rspace=\"0.17em\">{}</mo>", escaped_xml(text));
  }

  Item command() {
    const std::string name = command_name();
    for (const Word& w : kWords)
      if (w.tex == name) return {std::string(w.xml), w.kind};
    for (std::string_view f : kFunctions)
      if (f == name) return {fmt::format("<mi>{}</mi>", f)};
    for (std::string_view f : kWithLimits)
      if (f == name) return {function_with_limits(f), Kind::limits};
    if (name == "operatorname*") return {function_with_limits(word()), Kind::limits};
    if (name == "operatorname" || name == "mathrm") return {upright(word())};
    if (name == "mathit") return {fmt::format("<mi class=\"w\">{}</mi>", escaped_xml(word()))};
    if (name == "text") return {fmt::format("<mtext>{}</mtext>", escaped_xml(word()))};
    if (name == "_") return {"<mo>_</mo>"};
    if (name == "sqrt") return {fmt::format("<msqrt>{}</msqrt>", argument())};
    if (name == "dot")
      return {fmt::format("<mover accent=\"true\">{}<mo>˙</mo></mover>", argument())};
    if (name == "frac") {
      const std::string above = argument();
      return {fmt::format("<mfrac>{}{}</mfrac>", above, argument())};
    }
    if (name == "left") return bracketed();
    if (name == "begin") return cases();
    fail("\\" + name);
  }

  // ( ) | or a floor's corners, after \left or \right.
  std::string bracket() {
    if (tex_[at_] == '\\') {
      const std::string name = command_name();
      if (name == "lfloor") return "⌊";
      if (name == "rfloor") return "⌋";
      fail("\\" + name);
    }
    const char c = tex_[at_++];
    if (c != '(' && c != ')' && c != '|') fail("a bracket");
    return std::string(1, c);
  }

  Item bracketed() {
    const std::string open = bracket();
    const std::string inside = row(true);
    expect("\\right");
    // Only what is really high needs high brackets; fonts without the parts stretch them badly.
    bool high = false;
    for (const char* part : {"<mfrac", "<munder", "<mtable", "<mover"})
      high = high || inside.find(part) != std::string::npos;
    return {
        fmt::format("<mrow><mo form=\"prefix\" fence=\"true\"{0}>{1}</mo>{2}<mo "
                    "form=\"postfix\" fence=\"true\"{0}>{3}</mo></mrow>",
                    high ? "" : " stretchy=\"false\"", open, inside, bracket())};
  }

  Item cases() {
    if (word() != "cases") fail("\\begin");
    std::string rows, cells;
    for (;;) {
      cells += fmt::format("<mtd>{}</mtd>", row(true));
      if (next_is("&")) {
        ++at_;
        continue;
      }
      rows += fmt::format("<mtr>{}</mtr>", cells);
      cells.clear();
      if (!next_is("\\\\")) break;
      at_ += 2;
    }
    expect("\\end");
    if (word() != "cases") fail("\\end");
    return {
        fmt::format("<mrow><mo form=\"prefix\" fence=\"true\">{{</mo><mtable "
                    "columnalign=\"left\" class=\"cases\">{}</mtable></mrow>",
                    rows)};
  }

  std::string_view tex_;
  size_t at_ = 0;
};

}  // namespace

std::string escaped_xml(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
      result += ' ';  // no other control character may stand in XML
    } else {
      result += c;
    }
  }
  return result;
}

std::string mathml(std::string_view tex, std::string_view spoken) {
  return fmt::format("<math displaystyle=\"true\" alttext=\"{}\">{}</math>", escaped_xml(spoken),
                     Reader(tex).all());
}

}  // namespace attn::report
