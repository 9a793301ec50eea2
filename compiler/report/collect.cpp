// From what the phases hand over to what the report says.
#include <fmt/format.h>

#include <numeric>

#include "compiler/report/chain.h"
#include "compiler/report/counts.h"
#include "compiler/report/drawing.h"
#include "compiler/report/history.h"
#include "compiler/report/units.h"

namespace attn::report {
namespace {

std::vector<Section> sections(const ir::Graph& g) {
  std::vector<size_t> all(g.definitions.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<Section> result;
  for (Formula& f : formulas(g, all)) {
    const std::string block = block_of(g, f.name);
    if (result.empty() || result.back().title != block) result.push_back({block, {}});
    result.back().formulas.push_back(std::move(f));
  }
  return result;
}

std::string declared(const ir::Graph& g, const std::string& name, const ir::Tensor& t) {
  const std::string type = t.storage == ir::Storage::f32 ? "" : std::string(ir::name_of(t.storage));
  const std::string extents = shape(g, t);
  const std::string all = type + extents;
  return fmt::format("{}: {}", name, all.empty() ? ir::name_of(t.storage) : all);
}

// Inputs and parameters by which the gradient derives.
std::vector<ir::TensorId> derived_by(const ir::Graph& written, const Derived& gradient) {
  std::vector<ir::TensorId> result;
  for (size_t k = 0; k < written.tensors.size(); ++k) {
    const ir::TensorId t{static_cast<int32_t>(k)};
    if (!ir::is_argument(written[t].role)) continue;
    for (const ir::Output& o : gradient.graph->outputs)
      if ((*gradient.graph)[o.tensor].companion_of == t) result.push_back(t);
  }
  return result;
}

const FunctionReport* function_of(const ModelReport& r, plan::FunctionKind kind) {
  for (const FunctionReport& f : r.functions)
    if (f.kind == kind) return &f;
  return nullptr;
}

bool has_scalar(const ir::Graph& g) {
  for (const ir::Output& o : g.outputs)
    if (g[o.tensor].extents.empty()) return true;
  return false;
}

}  // namespace

ModelReport collect(const Subject& s) {
  const ir::Graph& g = *s.written;
  ModelReport r{.name = s.name, .doc = s.doc};
  r.sizes = sizes(g, s.sizes);
  for (const ir::Tensor& t : g.tensors)
    if (t.role == ir::Role::input) r.inputs.push_back(declared(g, t.name, t));
  for (const ir::Output& o : g.outputs)
    r.outputs.push_back((o.probe ? "probe " : "") + declared(g, o.name, g[o.tensor]));
  r.sections = sections(g);
  const ir::Graph counted = with_sizes(g, s.sizes);
  r.parameters = parameters(counted);
  r.parameter_count = count(counted, parameter_count(g));
  for (const plan::Function* f : plan::functions(*s.plan))
    r.functions.push_back(function_report(*f, s.sizes));
  // Derivatives are of the outputs that every caller gets.
  const ir::Graph forward = ir::without_probes(g);
  bool of_f = false;
  for (const Derived& d : s.derived) {
    if (d.kind == plan::FunctionKind::backward) {
      r.chains = chains(forward, derived_by(g, d));
      of_f = !has_scalar(forward);
    }
    Derivative made = history(d, s.plan->forward_graph);
    made.drawing = draw_derivative(d.kind, *d.graph, s.plan->forward_graph, function_of(r, d.kind));
    r.derivatives.push_back(std::move(made));
  }
  r.drawing = draw_model(forward, r.functions.at(0), of_f);
  return r;
}

}  // namespace attn::report
