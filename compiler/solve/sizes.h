// What is known about the run-time sizes at a point: lower bounds, and polynomials that are at
// least 0. Decides the signs of polynomials; the last step of every proof about subscripts.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::solve {

class SizeFacts {
 public:
  explicit SizeFacts(const ir::Graph& g);

  // The extent is at least 1: a point lies in it. `extent` is expanded.
  void nonempty(const ir::Poly& extent);
  // Whether p (expanded) is at least 0 for all sizes that the facts allow; false means "not
  // proved".
  bool nonnegative(const ir::Poly& p) const { return nonnegative(p, 3); }

 private:
  void bound_quotient(ir::SizeId id, const ir::Poly& a, const ir::Poly& b);
  bool nonnegative(const ir::Poly& p, int depth) const;
  bool at_least_zero_when_shifted(const ir::Poly& p) const;
  bool multiplier(const ir::Monomial& m) const;

  std::vector<std::optional<int64_t>> lower_;  // by size; nothing: unbounded below
  struct Fact {
    ir::Poly poly;     // at least 0
    ir::SizeId about;  // a quotient: of interest only where that occurs or is not 0
  };
  std::vector<Fact> facts_;
  bool is_relevant(const Fact& f, const ir::Poly& p) const;
  bool is_positive_quotient(const Fact& f) const;
  bool is_of_several(const Fact& f) const;
};

}  // namespace attn::solve
