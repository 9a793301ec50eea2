// Which tensors are unmaterialised: too large to be stored, because nothing that the caller stores
// is as large, or better not stored because of how they are read (tile_reads.h). The planner keeps
// them inside kernels; re-bracketing goes to some length not to read them.
#pragma once

#include <map>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::solve {

class Unmaterialised {
 public:
  explicit Unmaterialised(const ir::Graph& g);

  bool operator()(ir::TensorId t) const {
    return static_cast<size_t>(t.value) < unmaterialised_.size() && unmaterialised_[t.value];
  }
  // Whether no input or output of the model bounds a tensor of these extents.
  bool is_unbounded(const ir::Graph& g, const std::vector<ir::Poly>& extents) const;
  // For tensors that a pass makes.
  void set(ir::TensorId t, bool unmaterialised);

 private:
  // Run-time sizes and their powers in the leading term of a tensor's size; sizes that occur in a
  // parameter count as constants.
  using Growth = std::map<ir::SizeId, int>;
  Growth growth(const ir::Graph& g, const std::vector<ir::Poly>& extents) const;
  void add_growth(const ir::Graph& g, const ir::Poly& extent, Growth& result) const;
  bool is_unbounded(const Growth& of, const std::vector<Growth>& bounds) const;
  void find_bounds(const ir::Graph& g);
  void classify(const ir::Graph& g);

  std::set<ir::SizeId> constants_;
  std::vector<Growth> bounds_;
  std::vector<bool> unmaterialised_;
};

// The sweep over unmaterialised tensors in which each tensor is complete: 0 for inputs and for what
// `saved` marks; an unmaterialised tensor, or one that reads no unmaterialised one, has the largest
// of what it reads; any other reader of an unmaterialised tensor that plus 1. A kernel needs as
// many sweeps as the largest number in it.
std::vector<int> sweep_numbers(const ir::Graph& g, const Unmaterialised& unmaterialised,
                               const std::vector<bool>& saved);
// The number of one definition, from those of what it reads.
int sweep_number(const ir::Definition& d, const Unmaterialised& unmaterialised,
                 const std::vector<int>& numbers);

// What the forward pass can have saved: tensors that depend on no cotangent. By tensor; nothing is
// marked in a graph without cotangents.
std::vector<bool> independent_of_cotangents(const ir::Graph& g);

}  // namespace attn::solve
