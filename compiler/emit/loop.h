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

 private:
  const plan::Function& f_;
  const ir::Graph& g_;
  const plan::Loop& loop_;
  const std::vector<std::string>& names_;
  std::string step_, count_;        // C expressions
  std::set<ir::TensorId> touched_;  // by its kernels
};

}  // namespace attn::emit
