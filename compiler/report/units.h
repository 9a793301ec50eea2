// The definitions of a graph as its user wrote them: each with the helpers that elaboration cut out
// of it (`p.lse` of a softmax p, `q.sum` of a sum with a bias).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::report {

struct Unit {
  ir::TensorId target;
  std::vector<const ir::Definition*> definitions;  // helpers first, in order; its own last
};

class Units {
 public:
  // Refers to the graph.
  explicit Units(const ir::Graph& g);
  const std::vector<Unit>& all() const { return units_; }
  // The target of the unit that a tensor's definition belongs to; itself where it has none.
  ir::TensorId of(ir::TensorId t) const;

 private:
  std::vector<Unit> units_;
  std::map<ir::TensorId, ir::TensorId> owner_;
};

// The block that a tensor of this name belongs to, "layers.0.attn" for "layers.0.attn.q.sum", and
// "" for none. `letter`: of a
// derivative's names, which stands before the whole; else 0.
std::string block_of(const ir::Graph& g, const std::string& name, char letter = 0);

// A copy in which tensors of the block, and their derivatives, have their names without its name,
// where that leaves all names different.
ir::Graph relative_to(const std::string& block, const ir::Graph& g);

}  // namespace attn::report
