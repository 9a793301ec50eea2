// The loop of the glue around the kernels of one step of a recurrence.
#pragma once

#include <set>

#include "compiler/emit/model.h"

namespace attn::emit {

class LoopWriter {
 public:
  // `names`: of the views of tensors; pNAME is the data.
  LoopWriter(const plan::Function& f, const plan::Loop& loop,
             const std::vector<std::string>& names);

  // Opens the loop and lets the view of each slice show its step.
  std::string begin() const;
  std::string end() const;
  // A C expression inside the loop: whether a tensor has non-finite data.
  std::string scan(ir::TensorId t) const;

 private:
  bool writes(ir::TensorId t) const;
  const plan::Slice* slice_of_whole(ir::TensorId t) const;
  std::string scan_whole(ir::TensorId t) const;

  const plan::Function& f_;
  const ir::Graph& g_;
  const plan::Loop& loop_;
  const std::vector<std::string>& names_;
  std::string step_, count_;                  // C expressions
  std::set<ir::TensorId> written_, touched_;  // by its kernels
  std::set<ir::TensorId> scanned_before_;     // what stays as it is through the loop
};

// The same outside of loops.
std::string scan_of(const ir::Graph& g, ir::TensorId t, const std::string& name);

}  // namespace attn::emit
