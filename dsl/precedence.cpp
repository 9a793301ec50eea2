#include "dsl/precedence.h"

#include <map>
#include <utility>

#include "compiler/base/check.h"

namespace attn::dsl {
namespace {

class TreeBuilder {
 public:
  TreeBuilder(const std::vector<RowItem>& row, Diagnostics& diagnostics)
      : row_(row), diagnostics_(diagnostics) {}

  ExprPtr run() {
    ExprPtr tree = chain(Level::logical_or);
    ATTN_CHECK(at_ == row_.size(), "an expression was not read to its end");
    return tree;
  }

 private:
  template <typename T>
  const T* peek() const {
    return at_ < row_.size() ? std::get_if<T>(&row_[at_]) : nullptr;
  }

  ExprPtr chain(Level level) {
    ExprPtr first = operand_of(level);
    const auto goes_on = [&] {
      const InfixSign* sign = peek<InfixSign>();
      return sign != nullptr && level_of(sign->op) == level;
    };
    if (!goes_on()) return first;
    Chain result{level, {}, {}};
    Span where = whole(first);
    const auto* inner = std::get_if<Chain>(&first->node);
    if (inner != nullptr && inner->level == level && level != Level::comparison) {
      result = *inner;  // `(a + b) + c` is `a + b + c`
    } else {
      result.operands.push_back(std::move(first));
    }
    while (goes_on()) {
      result.ops.push_back(peek<InfixSign>()->op);
      ++at_;
      result.operands.push_back(operand_of(level));
      where = cover(where, whole(result.operands.back()));
    }
    return make(std::move(result), where);
  }

  // What stands between the operators of a level: the next tighter one.
  ExprPtr operand_of(Level level) {
    switch (level) {
      case Level::logical_or:
        return chain(Level::logical_and);
      case Level::logical_and:
        return negation();
      case Level::comparison:
        return chain(Level::additive);
      case Level::additive:
        return chain(Level::multiplicative);
      case Level::multiplicative:
        return prefixed();
    }
    return nullptr;
  }

  ExprPtr negation() {
    const PrefixSign* sign = peek<PrefixSign>();
    if (sign == nullptr || sign->op != UnaryOp::logical_not) return chain(Level::comparison);
    ++at_;
    ExprPtr operand = negation();
    const Span where = cover(sign->where, whole(operand));
    return make(Unary{UnaryOp::logical_not, std::move(operand)}, where);
  }

  ExprPtr prefixed() {
    if (const PrefixSign* sign = peek<PrefixSign>()) {
      ++at_;
      if (sign->op == UnaryOp::logical_not) {
        diagnostics_.error(sign->where, "`not` stands after a tighter operator").help =
            "put brackets around it: `(not ...)`";
      }
      ExprPtr operand = prefixed();
      const Span where = cover(sign->where, whole(operand));
      return make(Unary{sign->op, std::move(operand)}, where);
    }
    if (const ReductionHead* head = peek<ReductionHead>()) {
      ++at_;
      // A reduction covers the product that follows it.
      Reduction reduction = head->reduction;
      reduction.operand = chain(Level::multiplicative);
      const Span where = cover(head->where, whole(reduction.operand));
      return make(std::move(reduction), where);
    }
    return power();
  }

  ExprPtr power() {
    ExprPtr base;
    if (const Bracketed* bracketed = peek<Bracketed>()) {
      base = bracketed->inner;
      brackets_[base.get()] = bracketed->where;
    } else {
      const ExprPtr* operand = peek<ExprPtr>();
      ATTN_CHECK(operand != nullptr, "an operand was expected in a row");
      base = *operand;
    }
    ++at_;
    if (peek<PowerSign>() == nullptr) return base;
    ++at_;
    if (const ReductionHead* head = peek<ReductionHead>()) {
      diagnostics_.error(head->where, "a reduction as an exponent needs brackets").help =
          "write `x ^ (" + head->reduction.kind.text + "[...] ...)`";
    }
    ExprPtr exponent = prefixed();  // to the right: `a ^ b ^ c` is `a ^ (b ^ c)`
    const Span where = cover(whole(base), whole(exponent));
    return make(Power{std::move(base), std::move(exponent)}, where);
  }

  // With the brackets around it.
  Span whole(const ExprPtr& e) const {
    const auto it = brackets_.find(e.get());
    return it == brackets_.end() ? e->where : it->second;
  }

  const std::vector<RowItem>& row_;
  Diagnostics& diagnostics_;
  std::map<const Expr*, Span> brackets_;
  size_t at_ = 0;
};

}  // namespace

ExprPtr build_tree(const std::vector<RowItem>& row, Diagnostics& diagnostics) {
  return TreeBuilder(row, diagnostics).run();
}

}  // namespace attn::dsl
