// What the form of a kernel computes, as a graph for the evaluator.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/plan/plan.h"

namespace attn::testing {

// The kernel reads its inputs and writes its outputs, of tensors that the function gives it; sizes
// have these values. `form`: that of the kernel, or one that stands for it.
ir::Graph form_graph(const plan::Function& f, const plan::Kernel& k, const plan::Form& form,
                     const std::vector<int64_t>& sizes);

}  // namespace attn::testing
