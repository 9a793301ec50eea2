#include "compiler/report/mathml.h"

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace attn::report {
namespace {

using text::Math;
using Kind = Math::Kind;

std::string element(const Math& m);

// As one element, a row of its own also where it is one part.
std::string wrapped(const Math& m) {
  const std::string inside = element(m);
  return m.kind == Kind::row ? inside : fmt::format("<mrow>{}</mrow>", inside);
}

// Only what is really high needs high brackets; fonts without the parts stretch them badly.
std::string fenced(const Math& m) {
  const std::string inside = wrapped(m.parts[1]);
  bool high = false;
  for (const char* part : {"<mfrac", "<munder", "<mtable", "<mover"})
    high = high || inside.find(part) != std::string::npos;
  return fmt::format(
      "<mrow><mo form=\"prefix\" fence=\"true\"{0}>{1}</mo>{2}<mo form=\"postfix\" "
      "fence=\"true\"{0}>{3}</mo></mrow>",
      high ? "" : " stretchy=\"false\"", m.parts[0].text, inside, m.parts[2].text);
}

// A base with both scripts is one element, whichever was put on first.
std::string scripted(const Math& m) {
  const Math& base = m.parts[0];
  const std::string script = element(m.parts[1]);
  const bool below = m.kind == Kind::below;
  if (base.kind != (below ? Kind::above : Kind::below))
    return fmt::format("<{0}>{1}{2}</{0}>", below ? "msub" : "msup", element(base), script);
  const std::string other = element(base.parts[1]);
  return fmt::format("<msubsup>{}{}{}</msubsup>", element(base.parts[0]), below ? script : other,
                     below ? other : script);
}

std::string limits(const Math& m) {
  const Math& name = m.parts[0];
  const bool is_sign = name.text == "∑" || name.text == "∏";
  return fmt::format("<munder><mo{}>{}</mo>{}</munder>",
                     is_sign ? "" : " movablelimits=\"false\" rspace=\"0.17em\"", name.text,
                     element(m.parts[1]));
}

std::string cases(const Math& m) {
  return fmt::format(
      "<mrow><mo form=\"prefix\" fence=\"true\">{{</mo><mtable columnalign=\"left\" "
      "class=\"cases\"><mtr><mtd>{}</mtd><mtd>{}</mtd></mtr><mtr><mtd>{}</mtd><mtd><mtext>otherwise"
      "</mtext></mtd></mtr></mtable></mrow>",
      wrapped(m.parts[0]), wrapped(m.parts[1]), wrapped(m.parts[2]));
}

std::string element(const Math& m) {
  const std::string text = escaped_xml(m.text);
  switch (m.kind) {
    case Kind::letter:
      return fmt::format("<mi>{}</mi>", text);
    case Kind::word:
      return fmt::format("<mi class=\"w\">{}</mi>", text);
    case Kind::upright:
      return fmt::format("<mi{}>{}</mi>", text.size() == 1 ? " mathvariant=\"normal\"" : "", text);
    case Kind::number:
      return fmt::format("<mn>{}</mn>", text);
    case Kind::sign:
      return m.text == "mod" ? "<mo lspace=\"0.3em\" rspace=\"0.3em\">mod</mo>"
                             : fmt::format("<mo>{}</mo>", text);
    case Kind::prefix:
      return fmt::format("<mo form=\"prefix\">{}</mo>", text);
    case Kind::comma:
      return fmt::format("<mo separator=\"true\">{}</mo>", text);
    case Kind::space:
      return m.text.empty() ? "" : fmt::format("<mspace width=\"{}\"/>", text);
    case Kind::mark:
      return fmt::format("<mo stretchy=\"false\">{}</mo>", text);
    case Kind::row: {
      std::string inside;
      for (const Math& part : m.parts) inside += element(part);
      return fmt::format("<mrow>{}</mrow>", inside);
    }
    case Kind::fraction:
      return fmt::format("<mfrac>{}{}</mfrac>", element(m.parts[0]), element(m.parts[1]));
    case Kind::root:
      return fmt::format("<msqrt>{}</msqrt>", element(m.parts[0]));
    case Kind::fenced:
      return fenced(m);
    case Kind::below:
    case Kind::above:
      return scripted(m);
    case Kind::limits:
      return limits(m);
    case Kind::dotted:
      return fmt::format("<mover accent=\"true\">{}<mo>˙</mo></mover>", element(m.parts[0]));
    case Kind::cases:
      return cases(m);
  }
  throw InternalError("a part of a formula of unknown kind");
}

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

std::string mathml(const text::Math& formula, std::string_view spoken) {
  return fmt::format("<math displaystyle=\"true\" alttext=\"{}\">{}</math>",
                     escaped_xml(spoken.empty() ? text::spoken(formula) : spoken),
                     element(formula));
}

}  // namespace attn::report
