// Definitions at one block of an index, as a loop over the blocks computes them.
#pragma once

#include <map>

#include "compiler/plan/segments.h"

namespace attn::plan {

class Blocks {
 public:
  // The extent of the index is known, and a multiple of the block.
  Blocks(ir::Graph& g, ir::IndexId index, int64_t block);

  // Each step computes its own block of a dimension of `whole`, or reads it: that tensor.
  ir::TensorId add(ir::TensorId whole, size_t dimension);
  ir::TensorId add_given(ir::TensorId whole, size_t dimension);
  // What is read of `whole` is read of another tensor of a block.
  void read_in_place(ir::TensorId whole, ir::TensorId block) { parts_[whole] = block; }

  // `d` at a block of `index`, one of its own.
  ir::Definition at_block(ir::Definition d, ir::IndexId index) const;

  // The loop and its slices, without definitions.
  const Segment& segment() const { return segment_; }

 private:
  Slice part(ir::TensorId whole, size_t dimension) const;

  ir::Graph& g_;
  const ir::IndexId index_;
  const int64_t block_;
  Segment segment_;
  std::map<ir::TensorId, ir::TensorId> parts_;  // of wholes
};

// Whether `d` has an index in nothing but subscripts, always in the same one of a tensor: adds
// which one to `at`.
bool subscripts_alone(const ir::Definition& d, ir::IndexId index,
                      std::map<ir::TensorId, size_t>& at);

}  // namespace attn::plan
