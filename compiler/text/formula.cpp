// From the trees that the printer writes, so that formulas have the same order, divisions and
// conditions.
#include "compiler/text/formula.h"

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

// How tightly a formula holds together.
enum Hold { kOr, kAnd, kComparison, kSum, kProduct, kSign, kAtom };

struct Piece {
  Math math;
  Hold hold = kAtom;
  bool open = false;    // ends in a reduction, which would cover what follows
  bool raised = false;  // a name with a superscript
};

bool is_letters(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return isalpha(c); });
}

Math at_least(const Piece& p, Hold wanted) { return p.hold < wanted ? bracketed(p.math) : p.math; }

Math list(const std::vector<Math>& items) { return joined(items, {comma()}); }
Math all_of(const std::vector<Math>& conditions) {
  return joined(conditions, {comma(), wide_space()});
}

class Walker {
 public:
  explicit Walker(const ir::Graph& g) {
    for (const ir::Tensor& t : g.tensors) tensors_.insert(t.name);
  }

  Formula formula(const dsl::Definition& d) const {
    Math left = name(d.target.text).math;
    std::vector<Math> indices, conditions;
    for (const dsl::Index& i : d.indices) {
      indices.push_back(index(i.name.text));
      if (i.extent) conditions.push_back(range(i));
    }
    if (!indices.empty()) left = below(std::move(left), list(indices));
    if (d.condition) conditions.push_back(listed(d.condition));
    return {left, piece(d.value).math, all_of(conditions), {}};
  }

  // What stands above the definitions of a recurrence, in TeX.
  std::string line(const dsl::Scan& scan) const {
    const std::string first = "0", last = tex(at_least(piece(scan.count), kSum)) + " - 1";
    return fmt::format("  & \\text{{for }} {} = {}, \\ldots, {}\\text{{:}}",
                       tex(index(scan.index.text)), scan.down ? last : first,
                       scan.down ? first : last);
  }

  // The letter of a name is its last part that looks like one; the others stand above it. What is
  // called like a cotangent of a tensor is written as a differential, a tangent with a dot.
  Piece name(const std::string& text) const {
    if (is_companion('t', text)) {
      Piece of = name(text.substr(1));
      of.math = dotted(std::move(of.math));
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
    std::string others;
    bool words = false;
    for (size_t k = 0; k < parts.size(); ++k) {
      if (k == base) continue;
      others += (others.empty() ? "" : ".") + parts[k];
      words = words || is_letters(parts[k].substr(0, 1));
    }
    Piece result{letters(parts[base])};
    if (differential) result.math = row({upright("d"), result.math});
    if (!others.empty()) {
      const Math inside = words ? upright(others) : number(others);
      result.math = above(std::move(result.math), row({mark("("), inside, mark(")")}));
      result.raised = true;
    }
    return result;
  }

  static Math index(const std::string& text) {
    const size_t digits = text.find_first_of("0123456789");
    if (digits != std::string::npos && is_letters(text.substr(0, digits)))
      return below(letters(text.substr(0, digits)), number(text.substr(digits)));
    return letters(text);
  }

 private:
  // How well a part of a name stands for the whole: `q` does, `norm` might, `sum` says which `q`.
  static int fitness(const std::string& part) {
    if (part.empty() || !is_letters(part.substr(0, 1))) return 0;
    if (part.size() <= 2 || letters(part).kind == Math::Kind::letter) return 3;
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
  Math listed(const ExprPtr& e) const {
    const auto* chain = std::get_if<dsl::Chain>(&e->node);
    if (!chain || chain->level != dsl::Level::logical_and) return piece(e).math;
    std::vector<Math> result;
    for (const ExprPtr& c : chain->operands) result.push_back(at_least(piece(c), kComparison));
    return all_of(result);
  }

  Math range(const dsl::Index& i) const {
    return row(
        {number("0"), sign("≤", "\\le"), index(i.name.text), sign("<"), piece(i.extent).math});
  }

  Piece piece(const ExprPtr& e) const {
    return std::visit([&](const auto& node) { return of(node); }, e->node);
  }

  static Piece of(const dsl::Number& n) {
    const std::string text = dsl::print(dsl::make(n));
    const size_t e = text.find('e');
    if (e == std::string::npos) return {number(text)};
    const int exponent = std::stoi(text.substr(e + 1));
    Math power = number(std::to_string(std::abs(exponent)));
    if (exponent < 0) power = row({minus(), power});
    power = above(number("10"), std::move(power));
    if (text.substr(0, e) == "1") return {power, kProduct};
    return {row({number(text.substr(0, e)), sign("⋅", "\\cdot"), power}), kProduct};
  }
  static Piece of(const dsl::Boolean& b) { return {upright(b.value ? "true" : "false")}; }
  static Piece of(const dsl::Inside&) { return {upright("inside")}; }
  static Piece of(const dsl::Leading&) { return {dots()}; }
  Piece of(const dsl::Name& n) const {
    if (tensors_.count(n.text)) return name(n.text);
    return {index(n.text)};
  }

  Piece of(const dsl::Access& a) const {
    Piece result = name(a.tensor.text);
    std::vector<Math> subscripts;
    for (const ExprPtr& s : a.subscripts) subscripts.push_back(piece(s).math);
    result.math = below(std::move(result.math), list(subscripts));
    return result;
  }

  Piece of(const dsl::Call& c) const {
    std::vector<Math> arguments;
    for (const dsl::Argument& a : c.arguments) arguments.push_back(piece(a.value).math);
    const ir::Operation* row = ops::find(c.callee.text);
    return {row ? call(*row, arguments) : call(operator_name(c.callee.text), arguments)};
  }

  Piece of(const dsl::Unary& u) const {
    const Piece operand = piece(u.operand);
    if (u.op == dsl::UnaryOp::logical_not)
      return {row({logical_not(), at_least(operand, kSign)}), kSign};
    return {row({minus(), at_least(operand, kProduct)}), kSign, operand.open};
  }

  Piece of(const dsl::Power& p) const {
    const Piece base = piece(p.base);
    return {
        above(base.raised ? bracketed(base.math) : at_least(base, kAtom), piece(p.exponent).math)};
  }

  Piece of(const dsl::Conditional& c) const {
    return {cases(piece(c.yes).math, piece(c.condition).math, piece(c.no).math)};
  }

  Piece of(const dsl::Reduction& r) const {
    std::vector<Math> indices, conditions;
    for (const dsl::Index& i : r.indices) {
      indices.push_back(index(i.name.text));
      if (i.extent) conditions.push_back(range(i));
    }
    if (r.condition) conditions.push_back(listed(r.condition));
    Math over = list(indices);
    if (!conditions.empty()) over = row({over, such_that(), all_of(conditions)});
    const Piece operand = piece(r.operand);
    return {row({limits(r.kind.text, over), at_least(operand, kProduct)}), kProduct, true};
  }

  Piece of(const dsl::Chain& c) const {
    if (c.level == dsl::Level::multiplicative) return product(c);
    const Hold hold = c.level == dsl::Level::additive      ? kSum
                      : c.level == dsl::Level::comparison  ? kComparison
                      : c.level == dsl::Level::logical_and ? kAnd
                                                           : kOr;
    Piece result{{}, hold};
    std::vector<Math> parts;
    for (size_t k = 0; k < c.operands.size(); ++k) {
      const Piece operand = piece(c.operands[k]);
      const bool last = k + 1 == c.operands.size();
      const bool sum = hold == kSum;
      const bool brackets = operand.hold <= hold || (k > 0 && sum && operand.hold == kSign) ||
                            (operand.open && !last);
      if (k > 0) parts.push_back(sign_of(c.ops[k - 1]));
      parts.push_back(brackets ? bracketed(operand.math) : operand.math);
      if (last) result.open = operand.open && !brackets;
    }
    result.math = row(std::move(parts));
    return result;
  }

  static Math sign_of(Op op) {
    switch (op) {
      case Op::logical_or:
        return sign("∨", "\\lor");
      case Op::logical_and:
        return sign("∧", "\\land");
      case Op::less_equal:
        return sign("≤", "\\le");
      case Op::greater_equal:
        return sign("≥", "\\ge");
      case Op::equal:
        return sign("=");
      case Op::not_equal:
        return sign("≠", "\\ne");
      default:
        return sign(dsl::spelling(op));
    }
  }

  // Factors over divisors; // and % take what stands before them.
  Piece product(const dsl::Chain& c) const {
    std::vector<Piece> top{piece(c.operands[0])}, bottom;
    for (size_t k = 0; k < c.ops.size(); ++k) {
      const Piece next = piece(c.operands[k + 1]);
      if (c.ops[k] == Op::multiply) {
        top.push_back(next);
      } else if (c.ops[k] == Op::divide) {
        bottom.push_back(next);
      } else {
        const Math left = at_least(quotient(top, bottom), kProduct), right = at_least(next, kAtom);
        top = {c.ops[k] == Op::floor_divide
                   ? Piece{floored(row({left, sign("/"), right}))}
                   : Piece{row({left, sign("mod", "\\bmod"), right}), kProduct}};
        bottom.clear();
      }
    }
    return quotient(top, bottom);
  }

  static Piece quotient(const std::vector<Piece>& top, const std::vector<Piece>& bottom) {
    Piece factors = times(top);
    if (bottom.empty()) return factors;
    const Math divisor = times(bottom).math;
    if (!factors.open) return {fraction(factors.math, divisor), kProduct};
    // A factor before the sum, rather than a sum on a bar.
    const bool negative = take_minus(factors.math);
    std::vector<Math> parts{fraction(number("1"), divisor), blank(), factors.math};
    if (negative) parts.insert(parts.begin(), minus());
    return {row(std::move(parts)), negative ? kSign : kProduct, true};
  }

  static Piece times(const std::vector<Piece>& factors) {
    if (factors.size() == 1) return factors[0];
    Piece result{{}, kProduct};
    std::vector<Math> parts;
    for (size_t k = 0; k < factors.size(); ++k) {
      const Piece& f = factors[k];
      const bool last = k + 1 == factors.size();
      const bool brackets = f.hold < kProduct || (k > 0 && f.hold == kSign) || (f.open && !last);
      const Math factor = brackets ? bracketed(f.math) : f.math;
      const bool digits = first_part(factor).kind == Math::Kind::number;
      if (k > 0) parts.push_back(digits ? sign("⋅", "\\cdot") : thin_space());
      parts.push_back(factor);
      if (k == 0 && f.hold == kSign) result.hold = kSign;
      if (last) result.open = f.open && !brackets;
    }
    result.math = row(std::move(parts));
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

std::string aligned(const Formula& f) {
  const std::string condition = f.condition.empty() ? "" : " && " + tex(f.condition);
  return fmt::format("  {} &= {}{}", tex(f.left), tex(f.right), condition);
}

}  // namespace

std::string to_tex(const ir::Graph& g, const ir::Graph* given, const std::string& what) {
  const dsl::File file = to_tree(g);
  const Walker walker(g);
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
        add(aligned(walker.formula(*d)));
      const auto* scan = std::get_if<dsl::Scan>(&s.node);
      if (!scan || is_known(std::get<dsl::Definition>(scan->body[0].node))) continue;
      add(walker.line(*scan));
      for (const dsl::Statement& step : scan->body)
        add(aligned(walker.formula(std::get<dsl::Definition>(step.node))));
    }
  }
  return fmt::format("% {}{}\n\\begin{{align*}}\n{}\n\\end{{align*}}\n", given ? what + " of " : "",
                     g.name, lines);
}

std::vector<Formula> formulas(const ir::Graph& g, const std::vector<size_t>& which) {
  const Walker walker(g);
  std::vector<Formula> result;
  for (const dsl::Definition& d : trees_of(g, which)) {
    result.push_back(walker.formula(d));
    result.back().text = on_one_line(d);
  }
  return result;
}

std::vector<Math> tensor_names(const ir::Graph& g) {
  const Walker walker(g);
  std::vector<Math> result;
  for (const ir::Tensor& t : g.tensors) result.push_back(walker.name(t.name).math);
  return result;
}

Math index_name(const std::string& name) { return Walker::index(name); }

}  // namespace attn::text
