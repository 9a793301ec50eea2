#include "form_graph.h"

#include <set>

namespace attn::testing {

using namespace ir;

Graph form_graph(const plan::Function& f, const plan::Kernel& k, const plan::Form& form,
                 const std::vector<int64_t>& sizes) {
  Graph g = definitions_of(f.graph, form);
  for (size_t n = 0; n < sizes.size(); ++n)
    g.sizes[n] = {.name = g.sizes[n].name, .value = sizes[n]};
  for (Tensor& t : g.tensors) t.role = Role::interior;
  std::set<TensorId> defined;
  for (const Definition& d : g.definitions) defined.insert(d.target);
  for (TensorId t : k.reads)
    if (!defined.count(t)) g[t].role = Role::input;
  for (TensorId t : k.writes) {
    g[t].role = Role::output;
    const TensorId state = f.graph.updated_by(t);
    if (state.valid()) g[state].role = Role::input;
    g.outputs.push_back({.name = g[t].name, .tensor = t, .updates = state});
  }
  return g;
}

}  // namespace attn::testing
