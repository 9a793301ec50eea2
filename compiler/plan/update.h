// The plan of a model's update: kernels over the elements of one tensor, called for each parameter
// in turn.
#pragma once

#include "compiler/ir/step.h"
#include "compiler/plan/plan.h"

namespace attn::plan {

struct UpdatePlan {
  ir::Step step;
  std::vector<Plan> updates, norms;  // of the graphs of `step`, in order
};

// `model` begins the names of kernels. An update is one kernel, which may write its results over
// what it reads.
UpdatePlan plan_update(const std::string& model, const ir::Step& step, const Costs& costs,
                       Diagnostics& diagnostics);

// The printed plan, as of a model.
std::string to_string(const UpdatePlan& plan, const Schedule& schedule = nullptr);

// Those that there are.
std::vector<const Function*> functions(const UpdatePlan& plan);

}  // namespace attn::plan
