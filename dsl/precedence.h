// Operators and operands in a row, to a tree. The grammar only collects the row: that keeps it
// small, and a bracket costs one level of recursion instead of one for each level of precedence.
#pragma once

#include <variant>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "dsl/ast.h"

namespace attn::dsl {

struct PrefixSign {
  UnaryOp op = UnaryOp::minus;
  Span where;
};
// `sum[j where c]`, without its operand.
struct ReductionHead {
  Reduction reduction;
  Span where;
};
struct InfixSign {
  Op op = Op::add;
  Span where;
};
struct PowerSign {
  Span where;
};

// `(a + b)`: what it belongs to begins or ends with the bracket.
struct Bracketed {
  ExprPtr inner;
  Span where;
};

using RowItem = std::variant<ExprPtr, Bracketed, PrefixSign, ReductionHead, InfixSign, PowerSign>;

// The row has the form  prefix* operand (infix prefix* operand)*.  Reports what stands where its
// precedence forbids it (`a + not b`), and still returns a tree.
ExprPtr build_tree(const std::vector<RowItem>& row, Diagnostics& diagnostics);

}  // namespace attn::dsl
