#include "dsl/ast.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/check.h"

namespace attn::dsl {

Level level_of(Op op) {
  if (op == Op::logical_or) return Level::logical_or;
  if (op == Op::logical_and) return Level::logical_and;
  if (op <= Op::not_equal) return Level::comparison;
  return op <= Op::subtract ? Level::additive : Level::multiplicative;
}

std::string_view spelling(Op op) {
  // In the order of the enumeration.
  constexpr std::string_view kSpellings[] = {
      "or", "and", "<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "//", "%"};
  return kSpellings[static_cast<size_t>(op)];
}

ExprPtr make_number(int64_t value, Span where) {
  if (value >= 0) return make(Number{value, ""}, where);
  // The magnitude of the least integer has no literal.
  ATTN_CHECK(value != INT64_MIN, "the least integer has no literal");
  return make(Unary{UnaryOp::minus, make(Number{-value, ""}, where)}, where);
}

ExprPtr make_number(double value, Span where) {
  ATTN_CHECK(std::isfinite(value), "a literal is finite");
  if (!std::signbit(value)) return make(Number{value, ""}, where);
  return make(Unary{UnaryOp::minus, make(Number{-value, ""}, where)}, where);
}

ExprPtr make_chain(Op op, std::vector<ExprPtr> operands, Span where) {
  ATTN_CHECK(!operands.empty(), "a chain has operands");
  if (operands.size() == 1) return operands.front();
  const Level level = level_of(op);
  Chain chain{level, {}, {}};
  // A first operand of the same level is spliced, as the parser does.
  const auto* first = std::get_if<Chain>(&operands.front()->node);
  if (first != nullptr && first->level == level && level != Level::comparison) {
    chain = *first;
  } else {
    chain.operands.push_back(operands.front());
  }
  for (size_t i = 1; i < operands.size(); ++i) {
    chain.operands.push_back(std::move(operands[i]));
    chain.ops.push_back(op);
  }
  return make(std::move(chain), where);
}

std::string documentation(const Comments& comments) {
  const auto is_doc = [](const std::string& line) { return line.rfind("##", 0) == 0; };
  auto first = comments.above.end();
  while (first != comments.above.begin() && is_doc(*std::prev(first))) --first;
  std::string text;
  for (auto line = first; line != comments.above.end(); ++line) {
    const bool has_blank = line->size() > 2 && (*line)[2] == ' ';
    if (line != first) text += '\n';
    text += line->substr(has_blank ? 3 : 2);
  }
  return text;
}

namespace {

// One overload for each kind of node. Members of a class see each other, whatever their order.
struct Same {
  static bool same(const Identifier& a, const Identifier& b) { return a.text == b.text; }

  template <typename T>
  static bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const T& x, const T& y) { return same(x, y); });
  }

  static bool same(const Number& a, const Number& b) { return a.value == b.value; }
  static bool same(const Boolean& a, const Boolean& b) { return a.value == b.value; }
  static bool same(const Inside&, const Inside&) { return true; }
  static bool same(const Leading&, const Leading&) { return true; }
  static bool same(const Name& a, const Name& b) { return a.text == b.text; }
  static bool same(const Access& a, const Access& b) {
    return same(a.tensor, b.tensor) && a.leading == b.leading && same(a.subscripts, b.subscripts);
  }
  static bool same(const Argument& a, const Argument& b) {
    return same(a.name, b.name) && same(a.value, b.value);
  }
  static bool same(const Call& a, const Call& b) {
    return same(a.callee, b.callee) && same(a.arguments, b.arguments);
  }
  static bool same(const Unary& a, const Unary& b) {
    return a.op == b.op && same(a.operand, b.operand);
  }
  static bool same(const Power& a, const Power& b) {
    return same(a.base, b.base) && same(a.exponent, b.exponent);
  }
  static bool same(const Chain& a, const Chain& b) {
    return a.level == b.level && a.ops == b.ops && same(a.operands, b.operands);
  }
  static bool same(const Conditional& a, const Conditional& b) {
    return same(a.condition, b.condition) && same(a.yes, b.yes) && same(a.no, b.no);
  }
  static bool same(const Index& a, const Index& b) {
    return same(a.name, b.name) && same(a.extent, b.extent);
  }
  static bool same(const Reduction& a, const Reduction& b) {
    return same(a.kind, b.kind) && a.leading == b.leading && same(a.indices, b.indices) &&
           same(a.condition, b.condition) && same(a.operand, b.operand);
  }
  static bool same(const Type& a, const Type& b) {
    return same(a.dtype, b.dtype) && a.bracketed == b.bracketed && a.leading == b.leading &&
           same(a.extents, b.extents);
  }
  static bool same(const Size& a, const Size& b) {
    return same(a.name, b.name) && same(a.value, b.value) && a.ranged == b.ranged &&
           same(a.low, b.low) && same(a.high, b.high);
  }
  static bool same(const SizeStatement& a, const SizeStatement& b) {
    return same(a.sizes, b.sizes);
  }
  static bool same(const Param& a, const Param& b) {
    return same(a.name, b.name) && same(a.type, b.type) && same(a.initialiser, b.initialiser) &&
           same(a.weight_name, b.weight_name);
  }
  static bool same(const ParamStatement& a, const ParamStatement& b) {
    return same(a.params, b.params);
  }
  static bool same(const State& a, const State& b) {
    return same(a.name, b.name) && a.typed == b.typed && same(a.type, b.type) &&
           same(a.value, b.value);
  }
  static bool same(const StateStatement& a, const StateStatement& b) {
    return same(a.states, b.states);
  }
  static bool same(const Definition& a, const Definition& b) {
    return same(a.target, b.target) && a.leading == b.leading && same(a.indices, b.indices) &&
           same(a.subscripts, b.subscripts) && same(a.value, b.value) && same(a.condition, b.condition) && same(a.start, b.start);
  }
  static bool same(const BlockCall& a, const BlockCall& b) {
    return same(a.results, b.results) && same(a.callee, b.callee) &&
           same(a.arguments, b.arguments) && same(a.as, b.as) && same(a.uses, b.uses) &&
           same(a.weight_name, b.weight_name);
  }
  static bool same(const Comments& a, const Comments& b) {
    return a.above == b.above && a.beside == b.beside;
  }
  static bool same(const Repeat& a, const Repeat& b) {
    return same(a.index, b.index) && same(a.count, b.count) && same(a.as, b.as) &&
           same(a.weight_name, b.weight_name) && same(a.body, b.body) &&
           a.last_comments == b.last_comments;
  }
  static bool same(const Scan& a, const Scan& b) {
    return same(a.index, b.index) && same(a.count, b.count) && a.down == b.down &&
           same(a.body, b.body) && a.last_comments == b.last_comments;
  }
  static bool same(const Use& a, const Use& b) { return a.path == b.path && a.quoted == b.quoted; }
  static bool same(const Function& a, const Function& b) {
    return same(a.name, b.name) && same(a.parameters, b.parameters) && same(a.body, b.body);
  }
  static bool same(const Input& a, const Input& b) {
    return same(a.name, b.name) && same(a.type, b.type);
  }
  static bool same(const Output& a, const Output& b) {
    return same(a.name, b.name) && same(a.type, b.type) && a.probe == b.probe;
  }
  static bool same(const Block& a, const Block& b) {
    return a.kind == b.kind && same(a.name, b.name) && same(a.inputs, b.inputs) &&
           same(a.sizes, b.sizes) && same(a.outputs, b.outputs) && same(a.update, b.update) &&
           same(a.body, b.body) && a.last_comments == b.last_comments;
  }
  static bool same(const UpdateArgument& a, const UpdateArgument& b) {
    return same(a.name, b.name) && same(a.value, b.value);
  }
  static bool same(const Update& a, const Update& b) {
    return same(a.name, b.name) && same(a.arguments, b.arguments) && same(a.body, b.body) &&
           a.last_comments == b.last_comments;
  }

  template <typename... Kinds>
  static bool same(const std::variant<Kinds...>& a, const std::variant<Kinds...>& b) {
    if (a.index() != b.index()) return false;
    return std::visit(
        [&](const auto& x) { return same(x, std::get<std::decay_t<decltype(x)>>(b)); }, a);
  }

  static bool same(const ExprPtr& a, const ExprPtr& b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a == b || same(a->node, b->node);
  }
  static bool same(const Statement& a, const Statement& b) {
    return same(a.node, b.node) && same(a.comments, b.comments);
  }
  static bool same(const Item& a, const Item& b) {
    return same(a.node, b.node) && same(a.comments, b.comments);
  }
};

}  // namespace

bool equal(const ExprPtr& a, const ExprPtr& b) { return Same::same(a, b); }
bool equal(const Statement& a, const Statement& b) { return Same::same(a, b); }
bool equal(const File& a, const File& b) {
  return Same::same(a.items, b.items) && a.last_comments == b.last_comments;
}

std::vector<ExprPtr> parts(const Expr& e) {
  std::vector<ExprPtr> out;
  if (const auto* x = std::get_if<Access>(&e.node)) out = x->subscripts;
  if (const auto* x = std::get_if<Call>(&e.node))
    for (const Argument& a : x->arguments) out.push_back(a.value);
  if (const auto* x = std::get_if<Unary>(&e.node)) out = {x->operand};
  if (const auto* x = std::get_if<Power>(&e.node)) out = {x->base, x->exponent};
  if (const auto* x = std::get_if<Chain>(&e.node)) out = x->operands;
  if (const auto* x = std::get_if<Conditional>(&e.node)) out = {x->condition, x->yes, x->no};
  if (const auto* x = std::get_if<Reduction>(&e.node)) {
    if (x->condition) out.push_back(x->condition);
    out.push_back(x->operand);
  }
  return out;
}

bool mentions(const Expr& e, const std::string& name) {
  if (const auto* n = std::get_if<Name>(&e.node)) return n->text == name;
  for (const ExprPtr& p : parts(e))
    if (mentions(*p, name)) return true;
  return false;
}

}  // namespace attn::dsl
