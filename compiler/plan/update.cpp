#include "compiler/plan/update.h"

#include <fmt/format.h>

#include "compiler/plan/function.h"
#include "compiler/plan/kernels.h"
#include "compiler/plan/scalars.h"
#include "compiler/plan/verify.h"

namespace attn::plan {
namespace {

using namespace ir;

// Rows and columns are the extents of the parameter; every definition is over both, or the rows.
Kernel update_kernel(Graph& g) {
  RowForm form;
  TensorId parameter;
  for (size_t k = 0; k < g.tensors.size(); ++k)
    if (g.tensors[k].role == Role::parameter) parameter = {static_cast<int32_t>(k)};
  const std::vector<Poly> extents = g[parameter].extents;
  const IndexId row = g.new_index("row", extents[0]), column = g.new_index("column", extents[1]);
  form.rows = {row};
  form.columns = {column};
  form.in_place = true;
  for (const Definition& d : g.definitions) {
    Definition own = d;
    std::map<IndexId, Expr> values;
    for (size_t k = 0; k < d.free.size(); ++k) {
      own.free[k] = k == 0 ? row : column;
      values.emplace(d.free[k], index_value(own.free[k]));
    }
    own.body = substitute(d.body, values);
    own.guard = substitute(d.guard, values);
    form.definitions.push_back(std::move(own));
  }
  return {.form = std::move(form), .definitions = g.definitions};
}

Plan plan_update(const std::string& name, const Update& update) {
  Plan plan{.model = name, .forward_graph = gather_scalars(update.graph)};
  plan.forward = {.kind = FunctionKind::update, .name = "forward", .graph = plan.forward_graph};
  Function& f = plan.forward;
  Kernel kernel = update_kernel(f.graph);
  place_arguments(f, f.graph);
  finish_kernel(name, f, f.graph, kernel, {});
  f.kernels.push_back(std::move(kernel));
  verify(f);
  return plan;
}

}  // namespace

UpdatePlan plan_update(const std::string& model, const Step& step, const Costs& costs,
                       Diagnostics& diagnostics) {
  UpdatePlan plan{.step = step};
  for (const Update& u : step.updates)
    plan.updates.push_back(plan_update(fmt::format("{}_step_{}", model, name_of(u.storage)), u));
  for (const SquaredNorm& n : step.norms) {
    Graph g = n.graph;
    g.name = fmt::format("{}_norm_{}", model, name_of(n.storage));
    plan.norms.push_back(make_plan(g, nullptr, costs, diagnostics));
  }
  return plan;
}

std::string to_string(const UpdatePlan& plan) {
  std::string text;
  for (const auto* list : {&plan.norms, &plan.updates})
    for (const Plan& p : *list) text += to_string(p);
  return text;
}

std::vector<const Function*> functions(const UpdatePlan& plan) {
  std::vector<const Function*> result;
  for (const auto* list : {&plan.norms, &plan.updates})
    for (const Plan& p : *list) result.push_back(&p.forward);
  return result;
}

}  // namespace attn::plan
