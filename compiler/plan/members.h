// What is computed at each step of a recurrence: its own definitions, and those that Rolling has
// right before and right after it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/recurrence.h"
#include "compiler/plan/rolling.h"

namespace attn::plan {

struct Members {
  size_t first = 0;  // the place of the first of them in the graph's list, in which they follow
  // Of each: which of its free indices is the step. None of a sum over the steps.
  std::vector<std::optional<size_t>> dimension;
  std::vector<ir::IndexId> step;  // of each: the index that is the step

  size_t end() const { return first + dimension.size(); }
};
Members members_of(const ir::Graph& g, const ir::Recurrence& r, const Rolling& rolling);

// The number of steps.
ir::Poly steps_of(const ir::Graph& g, const ir::Recurrence& r);

// Takes the recurrences of a graph in turn, each where it stands then: `visit` may move others.
void each_recurrence(ir::Graph& g, const std::function<void(const ir::Recurrence&)>& visit);

// Puts some of what stands after a recurrence before it, and some right after it; where it is then.
ir::Recurrence reorder(ir::Graph& g, const ir::Recurrence& r, const std::set<ir::TensorId>& before,
                       const std::set<ir::TensorId>& joined);

}  // namespace attn::plan
