#include "with_loss.h"

#include "compiler/ops/table.h"

namespace attn::testing {

ir::Graph with_loss(const ir::Graph& graph) {
  ir::Graph g = graph;
  std::vector<ir::Expr> addends;
  for (const ir::Output& o : g.outputs) {
    if (!ir::is_real(ir::arithmetic_type(g[o.tensor].storage))) continue;
    g[o.tensor].role = ir::Role::interior;
    ir::Tensor part;
    part.name = "loss." + o.name;
    ir::Definition d{.target = g.new_tensor(part), .combine = ir::Combine::sum};
    std::vector<ir::Expr> at;
    for (const ir::Poly& extent : g[o.tensor].extents) {
      d.reduced.push_back(g.new_index("n", extent));
      at.push_back(ir::index_value(d.reduced.back()));
    }
    if (d.reduced.empty()) d.combine = ir::Combine::set;
    d.body = ops::apply("tanh", {g.read(o.tensor, std::move(at))});
    addends.push_back(g.read(d.target, {}));
    g.definitions.push_back(ir::normal_form(std::move(d)));
  }
  for (ir::Tensor& t : g.tensors)
    if (t.role == ir::Role::output) t.role = ir::Role::interior;
  ir::Tensor loss;
  loss.name = "loss";
  loss.role = ir::Role::output;
  ir::Definition d{.target = g.new_tensor(loss), .body = ir::add(std::move(addends))};
  g.definitions.push_back(ir::normal_form(std::move(d)));
  g.outputs = {{"loss", g.definitions.back().target}};
  ir::verify(g, "with_loss");
  return g;
}

}  // namespace attn::testing
