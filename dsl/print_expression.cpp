#include "dsl/print_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compiler/base/check.h"

namespace attn::dsl {
namespace {

// How tightly an expression holds together: one that is looser than its place needs brackets.
enum Tightness { kWhole, kOr, kAnd, kNot, kComparison, kSum, kProduct, kPrefix, kPower, kPrimary };

Tightness tightness_of(Level level) {
  switch (level) {
    case Level::logical_or:
      return kOr;
    case Level::logical_and:
      return kAnd;
    case Level::comparison:
      return kComparison;
    case Level::additive:
      return kSum;
    case Level::multiplicative:
      return kProduct;
  }
  return kWhole;
}

bool is_minus(const Expr& expr) {
  const auto* unary = std::get_if<Unary>(&expr.node);
  return unary != nullptr && unary->op == UnaryOp::minus;
}

bool is_softmax(const Reduction& reduction) { return reduction.kind.text == "softmax"; }

// A reduction takes all of the product after it.
bool is_open_reduction(const Expr& expr) {
  const auto* reduction = std::get_if<Reduction>(&expr.node);
  return reduction != nullptr && !is_softmax(*reduction);
}

Tightness tightness_of(const Expr& expr) {
  if (std::holds_alternative<Conditional>(expr.node)) return kWhole;
  if (const auto* chain = std::get_if<Chain>(&expr.node)) return tightness_of(chain->level);
  if (const auto* unary = std::get_if<Unary>(&expr.node)) {
    return unary->op == UnaryOp::minus ? kPrefix : kNot;
  }
  if (is_open_reduction(expr)) return kPrefix;
  return std::holds_alternative<Power>(expr.node) ? kPower : kPrimary;
}

bool is_plain(const ExprPtr& expr) {
  return std::holds_alternative<Name>(expr->node) || std::holds_alternative<Number>(expr->node);
}

// Subscripts are broken after all else, `=` included, and lists of indices last.
constexpr int kSubscriptDepth = 60, kIndexDepth = 80;

std::string number_text(const Number& number) {
  if (!number.text.empty()) return number.text;
  if (number.is_integer()) {
    ATTN_CHECK(number.integer() >= 0, "a literal is not negative");
    return fmt::format("{}", number.integer());
  }
  const double value = number.real();
  ATTN_CHECK(std::isfinite(value) && !std::signbit(value), "a literal is finite and not negative");
  char buffer[32];
  std::string text(buffer, std::to_chars(buffer, std::end(buffer), value).ptr);
  // 1e-05 is 1e-5, 1e+20 is 1e20, and 1 is no real number.
  const size_t e = text.find('e');
  if (e == std::string::npos) return text.find('.') == std::string::npos ? text + ".0" : text;
  if (text[e + 1] == '+') text.erase(e + 1, 1);
  const size_t digits = e + (text[e + 1] == '-' ? 2 : 1);
  while (text[digits] == '0' && digits + 1 < text.size()) text.erase(digits, 1);
  return text;
}

class Writer {
 public:
  Writer(Layout& out, bool is_subscript) : out_(out), is_subscript_(is_subscript) {}

  void write(const ExprPtr& expr, Tightness at_least, int depth) {
    ATTN_CHECK(expr != nullptr, "an expression is missing in a tree to print");
    write(expr, tightness_of(*expr) < at_least, depth);
  }

 private:
  void write(const ExprPtr& expr, bool in_brackets, int depth) {
    if (in_brackets) out_.add("(");
    std::visit([&](const auto& node) { write_node(node, in_brackets ? depth + 1 : depth); },
               expr->node);
    if (in_brackets) out_.add(")");
  }

  void write_node(const Number& number, int) { out_.add(number_text(number)); }
  void write_node(const Boolean& boolean, int) { out_.add(boolean.value ? "true" : "false"); }
  void write_node(const Inside&, int) { out_.add("inside"); }
  void write_node(const Leading&, int) { out_.add("..."); }
  void write_node(const Name& name, int) { out_.add(name.text); }

  void write_node(const Access& access, int depth) {
    out_.add(access.tensor.text).add("[");
    const auto& all = access.subscripts;
    depth = std::max(depth, kSubscriptDepth);
    const bool plain = !access.leading && std::all_of(all.begin(), all.end(), is_plain);
    if (access.leading) out_.add("...");
    for (size_t i = 0; i < all.size(); ++i) {
      if (i > 0 || access.leading) out_.add(",").may_break(depth + 4, plain ? "" : " ");
      out_.append(layout_subscript(all[i], depth + 4));
    }
    out_.add("]");
  }

  void write_node(const Call& call, int depth) {
    out_.add(call.callee.text).add("(");
    out_.append(layout_arguments(call.arguments, depth + 1)).add(")");
  }

  void write_node(const Unary& unary, int depth) {
    if (unary.op == UnaryOp::minus) {
      out_.add("-");
      write(unary.operand, kPower, depth + 1);
    } else {
      out_.add("not ");
      write(unary.operand, kNot, depth + 1);
    }
  }

  void write_node(const Power& power, int depth) {
    write(power.base, kPrimary, depth + 1);
    out_.add("^");
    const bool bare = is_minus(*power.exponent);
    write(power.exponent, bare ? kPrefix : kPower, depth + 1);
  }

  void write_node(const Chain& chain, int depth) {
    ATTN_CHECK(chain.operands.size() >= 2 && chain.ops.size() + 1 == chain.operands.size(),
               "a chain has one operator between two operands");
    const bool is_product = chain.level == Level::multiplicative;
    const bool tight = is_product && is_tight_product(chain);
    const bool was_in_sum = std::exchange(in_sum_, chain.level == Level::additive);
    const auto at_least = static_cast<Tightness>(tightness_of(chain.level) + 1);
    for (size_t i = 0; i < chain.operands.size(); ++i) {
      if (i > 0) write_operator(chain.ops[i - 1], tight, depth);
      const Expr& operand = *chain.operands[i];
      const bool is_last = i + 1 == chain.operands.size();
      write(chain.operands[i],
            tightness_of(operand) < at_least ||
                (is_product && !is_last && is_open_reduction(operand)),
            depth + 1);
    }
    in_sum_ = was_in_sum;
  }

  // `h*E + e` in a subscript.
  bool is_tight_product(const Chain& chain) const {
    return is_subscript_ && in_sum_ &&
           std::all_of(chain.ops.begin(), chain.ops.end(),
                       [](Op op) { return op == Op::multiply; }) &&
           std::all_of(chain.operands.begin(), chain.operands.end(), is_plain);
  }

  // A line goes on after an operator, or before `and` and `or`.
  void write_operator(Op op, bool tight, int depth) {
    if (tight) {
      out_.add(spelling(op));
    } else if (level_of(op) <= Level::logical_and) {
      out_.may_break(depth, " ").add(spelling(op)).add(" ");
    } else {
      out_.add(" ").add(spelling(op)).may_break(depth, " ");
    }
  }

  void write_node(const Conditional& conditional, int depth) {
    out_.add("if ");
    write(conditional.condition, kOr, depth + 1);
    out_.may_break(depth, " ").add("then ");
    write(conditional.yes, kOr, depth + 1);
    out_.may_break(depth, " ").add("else ");
    write(conditional.no, kWhole, depth + 1);
  }

  void write_node(const Reduction& reduction, int depth) {
    out_.add(reduction.kind.text).add("[");
    out_.append(layout_indices(reduction.leading, reduction.indices, depth + 3));
    if (reduction.condition != nullptr) {
      out_.add(" where ").append(layout_expression(reduction.condition, depth + 3));
    }
    out_.add("] ");
    if (is_softmax(reduction)) {
      write(reduction.operand, true, depth);
      return;
    }
    // `sum[e] (-a * b)` parses without the brackets too, and reads better with them.
    const auto* chain = std::get_if<Chain>(&reduction.operand->node);
    const bool begins_with_minus =
        is_minus(*reduction.operand) || (chain != nullptr && is_minus(*chain->operands.front()));
    write(reduction.operand, begins_with_minus || tightness_of(*reduction.operand) < kProduct,
          depth + 1);
  }

  Layout& out_;
  bool is_subscript_;
  bool in_sum_ = false;
};

}  // namespace

Layout layout_expression(const ExprPtr& expression, int depth) {
  Layout layout;
  Writer(layout, false).write(expression, kWhole, depth);
  return layout;
}

Layout layout_subscript(const ExprPtr& expression, int depth) {
  Layout layout;
  Writer(layout, true).write(expression, kWhole, depth);
  return layout;
}

Layout layout_arguments(const std::vector<Argument>& arguments, int depth) {
  Layout layout;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) layout.add(",").may_break(depth, " ");
    if (!arguments[i].name.text.empty()) layout.add(arguments[i].name.text).add(" = ");
    layout.append(layout_expression(arguments[i].value, depth + 1));
  }
  return layout;
}

Layout layout_indices(bool leading, const std::vector<Index>& indices, int depth) {
  Layout layout;
  depth = std::max(depth, kIndexDepth);
  const bool plain = !leading && std::all_of(indices.begin(), indices.end(),
                                             [](const Index& i) { return i.extent == nullptr; });
  if (leading) layout.add("...");
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i > 0 || leading) layout.add(",").may_break(depth, plain ? "" : " ");
    layout.add(indices[i].name.text);
    if (indices[i].extent == nullptr) continue;
    layout.add(": ").append(layout_subscript(indices[i].extent, depth + 1));
  }
  return layout;
}

Layout layout_extents(bool leading, const std::vector<ExprPtr>& extents, int depth) {
  Layout layout;
  if (leading) layout.add("...");
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i > 0 || leading) layout.add(",").may_break(depth, " ");
    layout.append(layout_subscript(extents[i], depth + 1));
  }
  return layout;
}

}  // namespace attn::dsl
