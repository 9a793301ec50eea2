// Questions about definitions and their reads that several passes ask.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::simplify {

// The indices when all subscripts are distinct plain indices; else nothing.
std::optional<std::vector<ir::IndexId>> plain_subscripts(const ir::Expr& read);

// From the free indices of a definition to the subscripts of a read of its target.
std::map<ir::IndexId, ir::Expr> subscript_map(const ir::Definition& d, const ir::Expr& read);

// Whether an equality ties a reduced index: a value is added at a computed position. Such a sum has
// far fewer points than its indices say.
bool scatters(const ir::Definition& d);

// Free and reduced indices together.
std::set<ir::IndexId> domain(const ir::Definition& d);

// The conditions under which e can be computed in a definition of its own over its indices: those
// of `known` that speak of no other index. Nothing where the others could be what keeps a read of e
// in range.
std::optional<ir::Conditions> conditions_alone(const ir::Graph& g, const ir::Expr& e,
                                               const ir::Conditions& known);

// The definitions of a graph by target; null for inputs. Valid while the graph's list stands.
class ByTarget {
 public:
  explicit ByTarget(size_t tensors) : by_target_(tensors, nullptr) {}
  explicit ByTarget(const ir::Graph& g);
  void add(const ir::Definition* d);
  const ir::Definition* find(ir::TensorId t) const {
    return static_cast<size_t>(t.value) < by_target_.size() ? by_target_[t.value] : nullptr;
  }

 private:
  std::vector<const ir::Definition*> by_target_;
};

// Tensors that a pass may not remove, replace or guard: the outputs, and what recurrences read one
// step back. Indexed by tensor.
std::vector<bool> fixed_tensors(const ir::Graph& g);

// Whether an interior tensor holds exactly the values of its body: storage in 16 bits rounds.
bool stores_exactly(const ir::Graph& g, ir::TensorId t);

// Whether `a` holds under what is known, by membership or by proof.
bool holds(const ir::Graph& g, const ir::Conditions& known, const ir::Conditions& a);

// Whether 0 <= value < extent under what is known.
bool in_range(const ir::Graph& g, const ir::Conditions& known, const ir::Expr& value,
              const ir::Poly& extent);

// The body of a new definition under `guard`: what keeps a read of it, or of the guard, in range
// and is not known there joins the guard, or chooses the read where the read is inside a choice.
// Where a definition loses indices or conditions it loses what they said, as n == 1 says that there
// is an element 1.
ir::Expr in_range_under(const ir::Graph& g, ir::Conditions& guard, const ir::Expr& body);

}  // namespace attn::simplify
