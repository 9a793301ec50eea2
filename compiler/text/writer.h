// Writes the parts of a graph as trees of the language. What the normal form of an expression has
// lost is brought back here: subtraction, division, roots, comparisons with two sides, chains, and
// an order of operands that a reader expects. The graph's own order is left alone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "dsl/ast.h"

namespace attn::text {

// What all definitions of a graph share.
struct Context {
  explicit Context(const ir::Graph& graph);
  const ir::Graph& g;
  std::unordered_set<std::string_view> taken;  // names that an index may not carry
  std::vector<bool> derived;                   // per tensor: made from a cotangent or tangent
};

// One addend of a sum, by its absolute value.
struct Term {
  bool negative = false;
  ir::Expr value;
};

// The step of a recurrence has one name in all its definitions.
struct Step {
  ir::IndexId index;  // of one of them
  std::string name;
};

class Writer {
 public:
  // Names the indices that the definition binds; `d` may be null for an excerpt, whose indices are
  // named as they occur.
  Writer(const Context& context, const ir::Definition* d, const Step& step = {});

  std::string name(ir::IndexId index) const;
  dsl::ExprPtr expression(const ir::Expr& e) const;
  // Joined by `and`; null where there is no condition.
  dsl::ExprPtr conditions(const ir::Conditions& c) const;
  dsl::ExprPtr size(const ir::Poly& p) const;
  // e times a product of divisors, perhaps with a minus.
  dsl::ExprPtr scale(dsl::ExprPtr e, const ir::Expr& by) const;

 private:
  // What decides where an operand stands; see order.cpp.
  struct Place {
    int rank = 0;
    std::vector<int> positions;
    int kind = 0;
    bool forward = true;
    auto operator<=>(const Place&) const = default;
  };
  Place place(const ir::Expr& factor) const;
  int position(ir::IndexId index) const;
  bool names_an_index(const Term& t) const;
  void sort_factors(std::vector<ir::Expr>& factors) const;
  void sort_terms(std::vector<Term>& terms, bool integer) const;

  dsl::ExprPtr product(const ir::Expr& e) const;
  dsl::ExprPtr power(const ir::Expr& base, double exponent) const;
  dsl::ExprPtr call(const ir::Expr& e) const;
  dsl::ExprPtr read(const ir::Expr& e) const;
  dsl::ExprPtr sum(std::vector<Term> terms, bool integer) const;
  dsl::ExprPtr monomial(const ir::Monomial& m, ir::Rational coefficient) const;

  dsl::ExprPtr condition(const ir::Expr& c) const;
  dsl::ExprPtr at_least_zero(const ir::Expr& e) const;
  dsl::ExprPtr zero(const ir::Expr& e, dsl::Op op) const;
  dsl::ExprPtr between(const ir::Expr& low, const ir::Expr& high) const;

  const Context& context_;
  const ir::Definition* d_;
  std::map<ir::IndexId, std::string> names_;
  std::map<ir::IndexId, int> positions_;
};

// The addends of an expression, sizes one monomial at a time.
std::vector<Term> terms_of(const ir::Expr& e);

// Definitions of the graph by their numbers, as to_tree writes them.
std::vector<dsl::Definition> trees_of(const ir::Graph& g, const std::vector<size_t>& which);

// A chain of one level; a first operand of the same level is merged into it.
dsl::ExprPtr chain(std::vector<dsl::ExprPtr> operands, std::vector<dsl::Op> ops);

}  // namespace attn::text
