// Finds one expression inside another up to the names of indices, the order of `+` and `*`, and
// what is left over of a product or sum.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/expr.h"

namespace attn::simplify {

// What the variables (indices of the pattern) stand for.
class Bindings {
 public:
  const ir::Expr* find(ir::IndexId i) const;
  void push(ir::IndexId i, const ir::Expr& value) { values_.emplace_back(i, value); }
  void shrink(size_t size) { values_.erase(values_.begin() + size, values_.end()); }
  size_t size() const { return values_.size(); }
  std::map<ir::IndexId, ir::Expr> map() const { return {values_.begin(), values_.end()}; }

 private:
  std::vector<std::pair<ir::IndexId, ir::Expr>> values_;
};

class Matcher {
 public:
  // Returns true to stop the search.
  using Found = std::function<bool(const Bindings&)>;
  using FoundSome = std::function<bool(const Bindings&, const std::vector<ir::Expr>& left_over)>;

  // `variables` are the indices of patterns that may stand for any integer expression; every other
  // index stands for itself.
  explicit Matcher(std::vector<ir::IndexId> variables);

  // Calls `found` for the ways in which `pattern` is `e`; true when one was accepted.
  bool match(const ir::Expr& pattern, const ir::Expr& e, const Found& found);
  // Every pattern finds an element of its own; the other elements are left over.
  bool match_some(const std::vector<ir::Expr>& patterns, const std::vector<ir::Expr>& elements,
                  const FoundSome& found);
  // The same, going on from bindings that hold already.
  bool match_more(const Bindings& start, const std::vector<ir::Expr>& patterns,
                  const std::vector<ir::Expr>& elements, const FoundSome& found);

 private:
  using Next = std::function<bool()>;
  bool one(const ir::Expr& p, const ir::Expr& e, const Next& next);
  bool sequence(const std::vector<ir::Expr>& p, const std::vector<ir::Expr>& e, size_t k,
                const Next& next);
  bool subset(const std::vector<ir::Expr>& p, const std::vector<ir::Expr>& e, size_t k,
              std::vector<bool>& used, const Next& next);
  bool is_variable(ir::IndexId i) const;

  std::vector<ir::IndexId> variables_;  // sorted
  Bindings bindings_;
  int steps_ = 0;
};

}  // namespace attn::simplify
