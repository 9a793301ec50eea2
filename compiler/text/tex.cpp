// From the trees that the printer writes, so that TeX has the same order, divisions and conditions.
#include "compiler/text/tex.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/ops/table.h"
#include "compiler/text/text.h"
#include "compiler/text/writer.h"
#include "dsl/print.h"

namespace attn::text {
namespace {

using dsl::ExprPtr;
using dsl::Op;

// How tightly a text holds together.
enum Hold { kOr, kAnd, kComparison, kSum, kProduct, kSign, kAtom };

struct Piece {
  std::string text;
  Hold hold = kAtom;
  bool open = false;    // ends in a reduction, which would cover what follows
  bool raised = false;  // a name with a superscript
};

bool is_letters(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return isalpha(c); });
}

bool is_greek(std::string_view s) {
  constexpr std::string_view kLetters[] = {"alpha",   "beta",  "gamma", "delta", "epsilon", "zeta",
                                           "eta",     "theta", "iota",  "kappa", "lambda",  "mu",
                                           "nu",      "xi",    "pi",    "rho",   "sigma",   "tau",
                                           "upsilon", "phi",   "chi",   "psi",   "omega"};
  return std::find(std::begin(kLetters), std::end(kLetters), s) != std::end(kLetters);
}

std::string escaped(std::string_view s) {
  std::string result;
  for (char c : s) result += c == '_' ? std::string("\\_") : std::string(1, c);
  return result;
}

// One part of a name: `q`, `\gamma`, `\mathit{wq}`.
std::string letter(std::string_view part) {
  if (is_greek(part)) return fmt::format("\\{}", part);
  if (part.size() == 1) return std::string(part);
  return fmt::format("\\mathit{{{}}}", escaped(part));
}

std::string bracketed(const std::string& text) { return "\\left(" + text + "\\right)"; }

std::string at_least(const Piece& p, Hold wanted) {
  return p.hold < wanted ? bracketed(p.text) : p.text;
}

class Tex {
 public:
  explicit Tex(const ir::Graph& g) {
    for (const ir::Tensor& t : g.tensors) tensors_.insert(t.name);
  }

  TexLine line(const dsl::Definition& d) const {
    std::string left = name(d.target.text).text;
    std::string indices, conditions;
    for (const dsl::Index& i : d.indices) {
      indices += (indices.empty() ? "" : ",") + index(i.name.text);
      if (i.extent) add_range(conditions, i);
    }
    if (!indices.empty()) left += "_{" + indices + "}";
    if (d.condition) conditions += (conditions.empty() ? "" : ",\\ ") + listed(d.condition);
    return {left, piece(d.value).text, conditions, {}};
  }

  // What stands above the definitions of a recurrence.
  std::string line(const dsl::Scan& scan) const {
    const std::string first = "0", last = at_least(piece(scan.count), kSum) + " - 1";
    return fmt::format("  & \\text{{for }} {} = {}, \\ldots, {}\\text{{:}}", index(scan.index.text),
                       scan.down ? last : first, scan.down ? first : last);
  }

  // The letter of a name is its last part that looks like one; the others stand above it. What is
  // called like a cotangent of a tensor is written as a differential, a tangent with a dot.
  Piece name(const std::string& text) const {
    if (is_companion('t', text)) {
      Piece of = name(text.substr(1));
      of.text = fmt::format("\\dot{{{}}}", of.text);
      return of;
    }
    std::vector<std::string> parts(1);
    for (char c : text) {
      if (c == '.')
        parts.emplace_back();
      else
        parts.back() += c;
    }
    const bool differential = is_companion('d', text);
    if (differential) parts[0].erase(0, 1);
    size_t base = 0;
    int best = -1;
    for (size_t k = 0; k < parts.size(); ++k) {
      if (fitness(parts[k]) < best) continue;
      base = k;
      best = fitness(parts[k]);
    }
    std::string above;
    bool words = false;
    for (size_t k = 0; k < parts.size(); ++k) {
      if (k == base) continue;
      above += (above.empty() ? "" : ".") + escaped(parts[k]);
      words = words || is_letters(parts[k].substr(0, 1));
    }
    Piece result{letter(parts[base])};
    if (differential) result.text = "\\mathrm{d}" + result.text;
    if (!above.empty()) {
      result.text +=
          words ? fmt::format("^{{(\\mathrm{{{}}})}}", above) : fmt::format("^{{({})}}", above);
      result.raised = true;
    }
    return result;
  }

  static std::string index(const std::string& text) {
    const size_t digits = text.find_first_of("0123456789");
    if (digits != std::string::npos && is_letters(text.substr(0, digits)))
      return letter(text.substr(0, digits)) + "_{" + escaped(text.substr(digits)) + "}";
    return letter(text);
  }

  Piece piece(const ExprPtr& e) const {
    return std::visit([&](const auto& node) { return of(node); }, e->node);
  }

 private:
  // How well a part of a name stands for the whole: `q` does, `norm` might, `sum` says which `q`.
  static int fitness(const std::string& part) {
    if (part.empty() || !is_letters(part.substr(0, 1))) return 0;
    if (part.size() <= 2 || is_greek(part)) return 3;
    for (const char* which : {"sum", "lse", "part", "total", "ties"})
      if (part == which) return 1;
    return 2;
  }

  // `dy`, `dp.lse`, and `dx.1`, a part of `dx`.
  bool is_companion(char prefix, const std::string& text) const {
    if (text.size() < 2 || text[0] != prefix) return false;
    for (std::string of = text.substr(1);; of = of.substr(0, of.rfind('.'))) {
      if (tensors_.count(of)) return true;
      if (of.find('.') == std::string::npos) return false;
    }
  }

  // Conditions that all must hold.
  std::string listed(const ExprPtr& e) const {
    const auto* chain = std::get_if<dsl::Chain>(&e->node);
    if (!chain || chain->level != dsl::Level::logical_and) return piece(e).text;
    std::string result;
    for (const ExprPtr& c : chain->operands)
      result += (result.empty() ? "" : ",\\ ") + at_least(piece(c), kComparison);
    return result;
  }

  void add_range(std::string& conditions, const dsl::Index& i) const {
    if (!conditions.empty()) conditions += ",\\ ";
    conditions += fmt::format("0 \\le {} < {}", index(i.name.text), piece(i.extent).text);
  }

  static Piece of(const dsl::Number& n) {
    const std::string text = dsl::print(dsl::make(n));
    const size_t e = text.find('e');
    if (e == std::string::npos) return {text};
    const std::string power = fmt::format("10^{{{}}}", std::stoi(text.substr(e + 1)));
    if (text.substr(0, e) == "1") return {power, kProduct};
    return {text.substr(0, e) + " \\cdot " + power, kProduct};
  }
  static Piece of(const dsl::Boolean& b) {
    return {b.value ? "\\mathrm{true}" : "\\mathrm{false}"};
  }
  static Piece of(const dsl::Inside&) { return {"\\mathrm{inside}"}; }
  static Piece of(const dsl::Leading&) { return {"\\dots"}; }
  Piece of(const dsl::Name& n) const {
    if (tensors_.count(n.text)) return name(n.text);
    return {index(n.text)};
  }

  Piece of(const dsl::Access& a) const {
    Piece result = name(a.tensor.text);
    std::string subscripts;
    for (const ExprPtr& s : a.subscripts)
      subscripts += (subscripts.empty() ? "" : ",") + piece(s).text;
    result.text += "_{" + subscripts + "}";
    return result;
  }

  // By the operation's row: a name, or a text in which # stands for the arguments in turn.
  Piece of(const dsl::Call& c) const {
    const ir::Operation* row = ops::find(c.callee.text);
    std::string tex = row ? std::string(row->tex) : std::string();
    if (tex.empty()) tex = fmt::format("\\operatorname{{{}}}", escaped(c.callee.text));
    if (tex.find('#') == std::string::npos) {
      std::string arguments;
      for (const dsl::Argument& a : c.arguments)
        arguments += (arguments.empty() ? "" : ", ") + piece(a.value).text;
      return {tex + bracketed(arguments)};
    }
    std::string result;
    size_t next = 0;
    for (char x : tex)
      result += x == '#' ? piece(c.arguments.at(next++).value).text : std::string(1, x);
    return {result};
  }

  Piece of(const dsl::Unary& u) const {
    const Piece operand = piece(u.operand);
    if (u.op == dsl::UnaryOp::logical_not) return {"\\lnot " + at_least(operand, kSign), kSign};
    return {"-" + at_least(operand, kProduct), kSign, operand.open};
  }

  Piece of(const dsl::Power& p) const {
    const Piece base = piece(p.base);
    const std::string text = base.raised ? bracketed(base.text) : at_least(base, kAtom);
    return {fmt::format("{}^{{{}}}", text, piece(p.exponent).text)};
  }

  Piece of(const dsl::Conditional& c) const {
    return {fmt::format("\\begin{{cases}} {} & {} \\\\ {} & \\text{{otherwise}} \\end{{cases}}",
                        piece(c.yes).text, piece(c.condition).text, piece(c.no).text)};
  }

  Piece of(const dsl::Reduction& r) const {
    std::string below, conditions;
    for (const dsl::Index& i : r.indices) {
      below += (below.empty() ? "" : ",") + index(i.name.text);
      if (i.extent) add_range(conditions, i);
    }
    if (r.condition) conditions += (conditions.empty() ? "" : ",\\ ") + listed(r.condition);
    if (!conditions.empty()) below += "\\,:\\ " + conditions;
    std::string sign = fmt::format("\\operatorname*{{{}}}", r.kind.text);
    for (const char* known : {"sum", "prod", "max", "min"})
      if (r.kind.text == known) sign = std::string("\\") + known;
    const Piece operand = piece(r.operand);
    return {fmt::format("{}_{{{}}} {}", sign, below, at_least(operand, kProduct)), kProduct, true};
  }

  Piece of(const dsl::Chain& c) const {
    if (c.level == dsl::Level::multiplicative) return product(c);
    const Hold hold = c.level == dsl::Level::additive      ? kSum
                      : c.level == dsl::Level::comparison  ? kComparison
                      : c.level == dsl::Level::logical_and ? kAnd
                                                           : kOr;
    Piece result{"", hold};
    for (size_t k = 0; k < c.operands.size(); ++k) {
      const Piece operand = piece(c.operands[k]);
      const bool last = k + 1 == c.operands.size();
      const bool sum = hold == kSum;
      const bool brackets = operand.hold <= hold || (k > 0 && sum && operand.hold == kSign) ||
                            (operand.open && !last);
      if (k > 0) result.text += fmt::format(" {} ", sign_of(c.ops[k - 1]));
      result.text += brackets ? bracketed(operand.text) : operand.text;
      if (last) result.open = operand.open && !brackets;
    }
    return result;
  }

  static std::string_view sign_of(Op op) {
    switch (op) {
      case Op::logical_or:
        return "\\lor";
      case Op::logical_and:
        return "\\land";
      case Op::less_equal:
        return "\\le";
      case Op::greater_equal:
        return "\\ge";
      case Op::equal:
        return "=";
      case Op::not_equal:
        return "\\ne";
      default:
        return dsl::spelling(op);
    }
  }

  // Factors over divisors; // and % take what stands before them.
  Piece product(const dsl::Chain& c) const {
    std::vector<Piece> above{piece(c.operands[0])}, below;
    for (size_t k = 0; k < c.ops.size(); ++k) {
      const Piece next = piece(c.operands[k + 1]);
      if (c.ops[k] == Op::multiply) {
        above.push_back(next);
      } else if (c.ops[k] == Op::divide) {
        below.push_back(next);
      } else {
        const std::string left = at_least(quotient(above, below), kProduct);
        const std::string right = at_least(next, kAtom);
        above = {c.ops[k] == Op::floor_divide
                     ? Piece{fmt::format("\\left\\lfloor {} / {} \\right\\rfloor", left, right)}
                     : Piece{fmt::format("{} \\bmod {}", left, right), kProduct}};
        below.clear();
      }
    }
    return quotient(above, below);
  }

  static Piece quotient(const std::vector<Piece>& above, const std::vector<Piece>& below) {
    const Piece top = times(above);
    if (below.empty()) return top;
    const std::string divisor = times(below).text;
    if (!top.open) return {fmt::format("\\frac{{{}}}{{{}}}", top.text, divisor), kProduct};
    // A factor before the sum, rather than a sum on a bar.
    const bool negative = top.text[0] == '-';
    return {fmt::format("{}\\frac{{1}}{{{}}} {}", negative ? "-" : "", divisor,
                        top.text.substr(negative ? 1 : 0)),
            negative ? kSign : kProduct, true};
  }

  static Piece times(const std::vector<Piece>& factors) {
    if (factors.size() == 1) return factors[0];
    Piece result{"", kProduct};
    for (size_t k = 0; k < factors.size(); ++k) {
      const Piece& f = factors[k];
      const bool last = k + 1 == factors.size();
      const bool brackets = f.hold < kProduct || (k > 0 && f.hold == kSign) || (f.open && !last);
      const std::string text = brackets ? bracketed(f.text) : f.text;
      if (k > 0) result.text += isdigit(static_cast<unsigned char>(text[0])) ? " \\cdot " : "\\, ";
      result.text += text;
      if (k == 0 && f.hold == kSign) result.hold = kSign;
      if (last) result.open = f.open && !brackets;
    }
    return result;
  }

  std::set<std::string, std::less<>> tensors_;
};

std::string on_one_line(const dsl::Definition& d) {
  std::string result;
  for (char c : dsl::print(std::vector<dsl::Statement>{{d, {}, {}}})) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) result += c;
    if (blank && !result.empty() && result.back() != ' ') result += ' ';
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::string aligned(const TexLine& line) {
  const std::string condition = line.condition.empty() ? "" : " && " + line.condition;
  return fmt::format("  {} &= {}{}", line.left, line.right, condition);
}

}  // namespace

std::string to_tex(const ir::Graph& g, const ir::Graph* given, const std::string& what) {
  const dsl::File file = to_tree(g);
  const Tex tex(g);
  std::string lines;
  auto add = [&](const std::string& line) { lines += (lines.empty() ? "" : " \\\\\n") + line; };
  auto is_known = [&](const dsl::Definition& d) {
    const auto known = given ? given->find(d.target.text) : std::nullopt;
    return known && given->definition_of(*known);
  };
  for (const dsl::Item& item : file.items) {
    const auto* block = std::get_if<dsl::Block>(&item.node);
    if (!block) continue;
    for (const dsl::Statement& s : block->body) {
      if (const auto* d = std::get_if<dsl::Definition>(&s.node); d && !is_known(*d))
        add(aligned(tex.line(*d)));
      const auto* scan = std::get_if<dsl::Scan>(&s.node);
      if (!scan || is_known(std::get<dsl::Definition>(scan->body[0].node))) continue;
      add(tex.line(*scan));
      for (const dsl::Statement& step : scan->body)
        add(aligned(tex.line(std::get<dsl::Definition>(step.node))));
    }
  }
  return fmt::format("% {}{}\n\\begin{{align*}}\n{}\n\\end{{align*}}\n", given ? what + " of " : "",
                     g.name, lines);
}

std::vector<TexLine> tex_lines(const ir::Graph& g, const std::vector<size_t>& which) {
  const Tex tex(g);
  std::vector<TexLine> result;
  for (const dsl::Definition& d : trees_of(g, which)) {
    result.push_back(tex.line(d));
    result.back().text = on_one_line(d);
  }
  return result;
}

std::vector<std::string> tex_names(const ir::Graph& g) {
  const Tex tex(g);
  std::vector<std::string> result;
  for (const ir::Tensor& t : g.tensors) result.push_back(tex.name(t.name).text);
  return result;
}

std::string tex_index(const std::string& name) { return Tex::index(name); }

}  // namespace attn::text
