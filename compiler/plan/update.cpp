#include "compiler/plan/update.h"

#include <fmt/format.h>

#include "compiler/plan/function.h"
#include "compiler/plan/kernels.h"
#include "compiler/plan/verify.h"

namespace attn::plan {
namespace {

using namespace ir;

// An update whose scalars are definitions over the rows, and whose elements have the type of its
// states. Scalars are f64, and would make every element so. What is the same for all elements, `1 -
// beta1^step`, is computed once a row and stored as the states are; what is left is in their type.
class Gatherer {
 public:
  explicit Gatherer(const Graph& g) : g_(g) {
    for (const Tensor& t : g_.tensors)
      if (t.role == Role::parameter) element_ = gradient_storage(t.storage);
    for (Tensor& t : g_.tensors)
      if (t.role == Role::interior && !t.extents.empty() && t.storage == Storage::f64)
        t.storage = element_;
  }

  Graph run() {
    const std::vector<Definition> definitions = std::move(g_.definitions);
    g_.definitions.clear();
    for (Definition d : definitions) {
      map_exprs(d, [&](const Expr& e) { return inlined(e); });
      if (d.free.empty()) {
        // A scalar is part of what reads it, in full precision.
        scalars_.emplace(d.target, where(d.guard, d.body));
        continue;
      }
      row_ = d.free[0];
      map_exprs(d, [&](const Expr& e) { return gathered(e); });
      g_.definitions.push_back(normal_form(std::move(d)));
    }
    return std::move(g_);
  }

 private:
  Expr inlined(const Expr& e) const {
    return rewrite(e, [&](const Expr& x) {
      if (!x.is(Kind::read)) return x;
      auto it = scalars_.find(x->tensor);
      if (it != scalars_.end()) return it->second;
      return g_.read(x->tensor, x.args());
    });
  }

  // Made of scalar arguments and numbers, with at least one of the first.
  bool is_scalar(const Expr& e) const {
    const std::set<TensorId> read = tensors(e);
    return !read.empty() && indices(e).empty();
  }

  Expr gathered(const Expr& e) {
    if (is_real(e.type()) && is_scalar(e)) return row_value(e);
    if (e.args().empty() || e.is(Kind::read)) return e;
    std::vector<Expr> same, args;
    const bool splits = e.is(Kind::multiply) || e.is(Kind::add);
    bool any = false;
    for (const Expr& a : e.args()) {
      const bool scalar = is_scalar(a);
      any = any || scalar;
      if (splits && (scalar || a.is(Kind::literal)))
        same.push_back(a);
      else
        args.push_back(gathered(a));
    }
    if (any && splits)
      args.push_back(row_value(e.is(Kind::multiply) ? multiply(same) : add(same)));
    else
      args.insert(args.end(), same.begin(), same.end());
    return rebuild(e, std::move(args));
  }

  // The value at the present row.
  Expr row_value(const Expr& e) {
    auto it = rows_.find(e);
    if (it == rows_.end()) {
      Tensor t{.name = fmt::format("scalar.{}", rows_.size() + 1)};
      t.extents = {g_[row_].extent};
      t.storage = element_;
      Definition d{.target = g_.new_tensor(t), .body = e};
      d.free = {g_.new_index(g_[row_].name, g_[row_].extent)};
      it = rows_.emplace(e, d.target).first;
      g_.definitions.push_back(normal_form(std::move(d)));
    }
    return g_.read(it->second, {index_value(row_)});
  }

  Graph g_;
  Storage element_ = Storage::f32;
  IndexId row_;
  std::map<TensorId, Expr> scalars_;
  std::map<Expr, TensorId> rows_;
};

// Rows and columns are the extents of the parameter; every definition is over both, or the rows.
Kernel update_kernel(Graph& g) {
  RowForm form;
  TensorId parameter;
  for (TensorId t : g.tensor_ids())
    if (g[t].role == Role::parameter) parameter = t;
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
    substitute(own, values);
    form.definitions.push_back(std::move(own));
  }
  return {.form = std::move(form), .definitions = g.definitions};
}

Plan plan_update(const std::string& name, const Update& update) {
  Plan plan{.model = name, .forward_graph = Gatherer(update.graph).run()};
  plan.forward = {.kind = FunctionKind::update, .name = "forward", .graph = plan.forward_graph};
  Function& f = plan.forward;
  Kernel kernel = update_kernel(f.graph);
  place_arguments(f, f.graph);
  finish_kernel(name, f, f.graph, Uses(f.graph), kernel, {});
  f.kernels.push_back(std::move(kernel));
  verify(f.graph, f.kernels);
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

std::string to_string(const UpdatePlan& plan, const Schedule& schedule) {
  std::string text;
  for (const auto* list : {&plan.norms, &plan.updates})
    for (const Plan& p : *list) text += to_string(p, schedule);
  return text;
}

std::vector<const Function*> functions(const UpdatePlan& plan) {
  std::vector<const Function*> result;
  for (const auto* list : {&plan.norms, &plan.updates})
    for (const Plan& p : *list) result.push_back(&p.forward);
  return result;
}

}  // namespace attn::plan
