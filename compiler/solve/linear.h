// The unknowns of a point (indices, and whole terms such as e // c or data), what is known of them,
// and the search for a proof that a linear form of them is at least 0.
#pragma once

#include <span>
#include <vector>

#include "compiler/solve/linear_form.h"
#include "compiler/solve/sizes.h"

namespace attn::solve {

struct Range;

// What is known at a point, and proofs from it. Cheap to make; used for one or a few queries.
class System {
 public:
  explicit System(const ir::Graph& g) : g_(g), sizes_(g) {}

  // An expression of type integer. New unknowns bring what their definition says about them.
  Linear linear(const ir::Expr& e);
  // Adds what a condition on sizes alone says about the signs of sizes, for good.
  void assume_of_sizes(const ir::Expr& condition);
  // Adds a condition that holds. `release` forgets everything assumed since the mark.
  void assume(const ir::Expr& condition);
  struct Mark {
    size_t facts, known, choices;
  };
  Mark mark() const { return {facts_.size(), known_.size(), choices_.size()}; }
  void release(Mark m);

  bool proves(const ir::Expr& condition);
  bool nonnegative(const Linear& goal);
  const SizeFacts& sizes() const { return sizes_; }

 private:
  // min, max, abs and select take one of two values: where `when` >= 0, `value`.
  struct Case {
    std::vector<Linear> when;
    Linear value;
  };
  struct Unknown {
    ir::Expr term;
    std::vector<Case> cases;
  };
  int unknown(const ir::Expr& term, bool& fresh);
  Linear of_call(const ir::Expr& e);
  Linear of_product(const ir::Expr& e);
  Linear of_division(const ir::Expr& e, bool remainder);
  void bound_read(const ir::Expr& e, int id);
  ir::Expr seen_through(const ir::Expr& read) const;
  bool fits(const Range& range) const;
  bool proves_directly(const ir::Expr& condition);
  bool proves_by_choice(const ir::Expr& condition, size_t first);
  bool by_cases(const Linear& goal, int depth);
  bool eliminate(const Linear& goal, int depth, uint64_t used = 0);
  bool eliminate_with(const Linear& goal, const Linear& fact, const ir::Poly& a, int depth,
                      uint64_t used);

  const ir::Graph& g_;
  SizeFacts sizes_;
  std::vector<Unknown> unknowns_;
  std::vector<Linear> definitions_;             // what holds for the unknowns by what they are
  std::vector<Linear> facts_;                   // what was assumed
  std::vector<ir::Expr> known_;                 // the conditions assumed, as written
  std::vector<std::vector<ir::Expr>> choices_;  // the first disjunctions that were assumed
  int budget_ = 0;
  int seen_through_ = 0;  // definitions around the term that is being made linear
};

}  // namespace attn::solve
