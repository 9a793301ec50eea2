// The arguments of a model as callers see them.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/model.h"

namespace attn::emit {

using namespace ir;

std::string c_type(Storage s) {
  constexpr const char* kNames[] = {"BOOL", "I32", "F16", "BF16", "F32", "F64"};
  return kNames[static_cast<size_t>(s)];
}

std::string c_start(Initialiser::Kind kind) {
  constexpr const char* kNames[] = {"AUTOMATIC", "ZEROS",   "ONES",   "CONSTANT",
                                    "NORMAL",    "UNIFORM", "XAVIER", "ORTHOGONAL"};
  return kNames[static_cast<size_t>(kind)];
}

std::string c_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "NAN";
}

std::string shape_text(const Graph& g, const Tensor& t) {
  std::string text(name_of(t.storage));
  text += "[";
  for (size_t k = 0; k < t.extents.size(); ++k)
    text += (k ? ", " : "") + plan::poly_text(g, t.extents[k]);
  return text + "]";
}

Start start_of(const Graph& g, TensorId parameter) {
  const Tensor& t = g[parameter];
  using Kind = Initialiser::Kind;
  Start start{.kind = t.init.kind, .a = t.init.a, .b = t.init.b};
  if (start.kind == Kind::automatic)
    start.kind = t.extents.size() <= 1 ? Kind::zeros : Kind::xavier;
  for (const Definition& d : g.definitions) {
    if (!reads(d, parameter)) continue;
    for (const Expr& e : read_sites(d.body))
      for (size_t k = 0; e->tensor == parameter && k < e.args().size(); ++k)
        for (IndexId i : d.reduced)
          if (uses(e.args()[k], i)) start.fan_in |= uint64_t{1} << k;
    break;
  }
  return start;
}

namespace {

// Whether a function of the plan takes or gives a derivative by this tensor, or of it.
bool is_derived(const plan::Plan& plan, TensorId t) {
  const Graph& g = plan.forward_graph;
  if (!is_real(arithmetic_type(g[t].storage))) return false;
  for (const auto* f : {&plan.backward, &plan.jvp, &plan.hvp}) {
    if (!*f) continue;
    if (!is_argument(g[t].role)) return true;
    for (const Output& o : (*f)->graph.outputs)
      if ((*f)->graph[o.tensor].companion_of == t) return true;
    for (const Tensor& other : (*f)->graph.tensors)
      if (other.role == Role::tangent && other.companion_of == t) return true;
  }
  return false;
}

}  // namespace

Interface interface_of(const plan::Plan& plan) {
  const Graph& g = plan.forward_graph;
  Interface result{.model = identifier(plan.model), .sizes = run_time_sizes(g)};
  auto add = [&](std::vector<Argument>& group, TensorId t, const std::string& name) {
    Argument a{.tensor = t, .name = name};
    a.differentiable = is_derived(plan, t);
    group.push_back(a);
  };
  for (TensorId t : g.tensor_ids()) {
    if (g[t].role == Role::parameter) add(result.params, t, g[t].name);
    if (g[t].role == Role::input) add(result.inputs, t, g[t].name);
  }
  for (Argument& a : result.inputs) a.is_state = g.update_of(a.tensor) != nullptr;
  std::ranges::stable_partition(result.inputs, [](const Argument& a) { return !a.is_state; });
  for (const Output& o : g.outputs)
    if (!o.updates.valid()) add(result.outputs, o.tensor, o.name);
  for (auto* group : {&result.params, &result.inputs, &result.outputs}) {
    std::vector<std::string> names;
    for (const Argument& a : *group) names.push_back(a.name);
    names = identifiers(names);
    for (size_t k = 0; k < group->size(); ++k) (*group)[k].field = names[k];
  }
  for (const plan::Function& f : plan.probes)
    result.probes.push_back("probe_" + f.graph.outputs.at(0).name);
  result.probes = identifiers(result.probes);
  return result;
}

}  // namespace attn::emit
