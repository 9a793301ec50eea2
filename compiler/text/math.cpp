#include "compiler/text/math.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::text {
namespace {

using Kind = Math::Kind;

struct Symbol {
  std::string_view name, character;
};
constexpr Symbol kGreek[] = {{"alpha", "α"},   {"beta", "β"},  {"gamma", "γ"},  {"delta", "δ"},
                             {"epsilon", "ϵ"}, {"zeta", "ζ"},  {"eta", "η"},    {"theta", "θ"},
                             {"iota", "ι"},    {"kappa", "κ"}, {"lambda", "λ"}, {"mu", "μ"},
                             {"nu", "ν"},      {"xi", "ξ"},    {"pi", "π"},     {"rho", "ρ"},
                             {"sigma", "σ"},   {"tau", "τ"},   {"phi", "φ"},    {"chi", "χ"},
                             {"upsilon", "υ"}, {"omega", "ω"}, {"psi", "ψ"}};
// Reductions that TeX has a sign for; others are operators with limits.
constexpr Symbol kReductions[] = {{"sum", "∑"}, {"prod", "∏"}, {"max", "max"}, {"min", "min"}};

std::string escaped(std::string_view s) {
  std::string result;
  for (char c : s) result += c == '_' ? std::string("\\_") : std::string(1, c);
  return result;
}

Math leaf(Kind kind, std::string_view text, std::string_view tex) {
  return {kind, std::string(text), std::string(tex), {}};
}

Math fenced(std::string_view open, std::string_view open_tex, Math inside, std::string_view close,
            std::string_view close_tex) {
  return {
      Kind::fenced,
      {},
      {},
      {leaf(Kind::mark, open, open_tex), std::move(inside), leaf(Kind::mark, close, close_tex)}};
}

}  // namespace

Math letters(std::string_view name) {
  for (const Symbol& s : kGreek)
    if (s.name == name) return leaf(Kind::letter, s.character, fmt::format("\\{}", name));
  if (name.size() == 1) return leaf(Kind::letter, name, name);
  return leaf(Kind::word, name, fmt::format("\\mathit{{{}}}", escaped(name)));
}

Math upright(std::string_view name) {
  return leaf(Kind::upright, name, fmt::format("\\mathrm{{{}}}", escaped(name)));
}
Math operator_name(std::string_view name) {
  return leaf(Kind::upright, name, fmt::format("\\operatorname{{{}}}", escaped(name)));
}
Math number(std::string_view digits) { return leaf(Kind::number, digits, digits); }
Math sign(std::string_view character, std::string_view tex) {
  return leaf(Kind::sign, character == "-" ? "−" : character,
              fmt::format(" {} ", tex.empty() ? character : tex));
}
Math minus() { return leaf(Kind::prefix, "−", "-"); }
Math logical_not() { return leaf(Kind::prefix, "¬", "\\lnot "); }
Math mark(std::string_view bracket) { return leaf(Kind::mark, bracket, bracket); }
Math dots() { return leaf(Kind::upright, "…", "\\dots"); }
Math partial() { return leaf(Kind::letter, "∂", "\\partial "); }
Math such_that() {
  return row({leaf(Kind::space, "0.17em", "\\,"), leaf(Kind::sign, ":", ":"), wide_space()});
}
Math blank() { return leaf(Kind::space, "", " "); }
Math comma() { return leaf(Kind::comma, ",", ","); }
Math thin_space() { return leaf(Kind::space, "0.17em", "\\, "); }
Math wide_space() { return leaf(Kind::space, "0.3em", "\\ "); }

Math row(std::vector<Math> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  Math result;
  for (Math& p : parts) {
    if (p.kind == Kind::row)
      result.parts.insert(result.parts.end(), p.parts.begin(), p.parts.end());
    else
      result.parts.push_back(std::move(p));
  }
  return result;
}

Math joined(const std::vector<Math>& parts, const std::vector<Math>& separator) {
  std::vector<Math> all;
  for (const Math& p : parts) {
    if (!all.empty()) all.insert(all.end(), separator.begin(), separator.end());
    all.push_back(p);
  }
  return row(std::move(all));
}

Math fraction(Math top, Math bottom) {
  return {Kind::fraction, {}, {}, {std::move(top), std::move(bottom)}};
}
Math below(Math base, Math subscript) {
  return {Kind::below, {}, {}, {std::move(base), std::move(subscript)}};
}
Math above(Math base, Math superscript) {
  return {Kind::above, {}, {}, {std::move(base), std::move(superscript)}};
}
Math bracketed(Math inside) { return fenced("(", "\\left(", std::move(inside), ")", "\\right)"); }
Math floored(Math inside) {
  return fenced("⌊", "\\left\\lfloor ", std::move(inside), "⌋", " \\right\\rfloor");
}
Math dotted(Math base) { return {Kind::dotted, {}, {}, {std::move(base)}}; }

Math limits(std::string_view reduction, Math over) {
  Math name = leaf(Kind::upright, reduction, fmt::format("\\operatorname*{{{}}}", reduction));
  for (const Symbol& s : kReductions)
    if (s.name == reduction)
      name = leaf(Kind::upright, s.character, fmt::format("\\{}", reduction));
  return {Kind::limits, {}, {}, {std::move(name), std::move(over)}};
}

Math cases(Math value, Math condition, Math otherwise) {
  return {Kind::cases, {}, {}, {std::move(value), std::move(condition), std::move(otherwise)}};
}

// They belong to the letter: browsers set raised ones too small.
Math primes(Math base, size_t count) {
  if (!base.parts.empty()) {
    base.parts[0] = primes(std::move(base.parts[0]), count);
    return base;
  }
  for (; count > 0; --count) {
    base.kind = Kind::word;
    base.text += "′";
    base.tex += "'";
  }
  return base;
}

Math call(Math function, const std::vector<Math>& arguments) {
  return row({std::move(function), bracketed(joined(arguments, {leaf(Kind::comma, ",", ", ")}))});
}

Math call(const ir::Operation& operation, const std::vector<Math>& arguments) {
  const ir::Notation& n = operation.notation;
  switch (n.shape) {
    case ir::Notation::Shape::root:
      return {Kind::root, {}, {}, arguments};
    case ir::Notation::Shape::bars:
      return fenced("|", "\\left|", joined(arguments, {comma()}), "|", "\\right|");
    case ir::Notation::Shape::floor:
      return floored(joined(arguments, {comma()}));
    case ir::Notation::Shape::call:
      break;
  }
  Math name = operator_name(operation.name);
  if (!n.symbol.empty()) name.text = n.symbol;
  if (!n.tex.empty()) name.tex = n.tex;
  return call(std::move(name), arguments);
}

const Math& first_part(const Math& m) {
  const bool inside = m.kind == Kind::row || m.kind == Kind::below || m.kind == Kind::above;
  return inside && !m.parts.empty() ? first_part(m.parts[0]) : m;
}

bool take_minus(Math& m) {
  if (m.kind != Kind::row || m.parts.empty() || m.parts[0] != minus()) return false;
  m.parts.erase(m.parts.begin());
  m = row(std::move(m.parts));
  return true;
}

std::string tex(const Math& m) {
  std::vector<std::string> p;
  for (const Math& part : m.parts) p.push_back(tex(part));
  switch (m.kind) {
    case Kind::row:
    case Kind::fenced:
      return fmt::format("{}", fmt::join(p, ""));
    case Kind::fraction:
      return fmt::format("\\frac{{{}}}{{{}}}", p[0], p[1]);
    case Kind::root:
      return fmt::format("\\sqrt{{{}}}", p[0]);
    case Kind::below:
      return fmt::format("{}_{{{}}}", p[0], p[1]);
    case Kind::above:
      return fmt::format("{}^{{{}}}", p[0], p[1]);
    case Kind::limits:
      return fmt::format("{}_{{{}}} ", p[0], p[1]);
    case Kind::dotted:
      return fmt::format("\\dot{{{}}}", p[0]);
    case Kind::cases:
      return fmt::format("\\begin{{cases}} {} & {} \\\\ {} & \\text{{otherwise}} \\end{{cases}}",
                         p[0], p[1], p[2]);
    default:
      return m.tex;
  }
}

std::string spoken(const Math& m) {
  std::vector<std::string> p;
  for (const Math& part : m.parts) p.push_back(spoken(part));
  // In brackets where it would fall apart beside a slash.
  auto held = [&](size_t k) {
    const std::vector<Math>& inner = m.parts[k].parts;
    const bool loose = m.parts[k].kind == Kind::row &&
                       std::any_of(inner.begin(), inner.end(), [](const Math& part) {
                         return part.kind == Kind::sign || part.kind == Kind::space;
                       });
    return loose ? "(" + p[k] + ")" : p[k];
  };
  switch (m.kind) {
    case Kind::row:
    case Kind::fenced:
      return fmt::format("{}", fmt::join(p, ""));
    case Kind::fraction:
      return held(0) + "/" + held(1);
    case Kind::root:
      return fmt::format("√({})", p[0]);
    case Kind::below:
      return fmt::format("{}[{}]", p[0], p[1]);
    case Kind::above:
      return p[0] + "^" + held(1);
    case Kind::limits:
      return fmt::format("{}[{}] ", p[0], p[1]);
    case Kind::dotted:
      return p[0] + " dot";
    case Kind::cases:
      return fmt::format("({} if {}, {} otherwise)", p[0], p[1], p[2]);
    case Kind::sign:
      return fmt::format(" {} ", m.text);
    case Kind::space:
      return " ";
    default:
      return m.text;
  }
}

}  // namespace attn::text
