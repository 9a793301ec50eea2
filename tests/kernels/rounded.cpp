#include "rounded.h"

#include "compiler/ir/operation.h"
#include "tests/support/form_graph.h"

namespace attn::testing {

using namespace ir;

namespace {

double as_bf16(std::span<const double> x) { return as_stored(x[0], Storage::bf16); }
const Operation kRounded{.name = "bf16", .brief = "as bf16 holds it", .value = as_bf16};

Expr rounded(const Expr& e) { return call(kRounded, {e}); }

// The storage of a factor whose values are halves in memory.
std::optional<Storage> half_of(const Graph& g, const Expr& e) {
  if (!e.is(Kind::read)) return std::nullopt;
  const Storage s = g[e->tensor].storage;
  return s == Storage::bf16 || s == Storage::f16 ? std::optional(s) : std::nullopt;
}

void round_factors(const Graph& g, plan::Product& p) {
  const auto left = half_of(g, p.left), right = half_of(g, p.right);
  if (left && left == right) return;  // exact
  p.left = rounded(p.left);
  p.right = rounded(p.right);
}

struct Rounding {
  const Graph& g;

  void operator()(plan::LoopsForm&) const {}
  void operator()(plan::RowForm&) const {}
  void operator()(plan::ContractionForm& form) const {
    if (form.groups) return;
    for (plan::Product& p : form.products) round_factors(g, p);
  }
  void operator()(plan::TilesForm& form) const {
    for (plan::Tile& tile : form.tiles)
      for (plan::Product& p : tile.dots)
        if (form.is_apart(p)) round_factors(g, p);
    for (plan::TileResult& r : form.results) {
      if (!form.packs_panel(r)) continue;
      r.panel = rounded(r.panel);
      if (r.kind == plan::TileResult::Kind::weighted) continue;
      plan::Tile tile = form.tiles[r.tile];
      tile.tensor = {};
      tile.value = rounded(tile.value);
      r.tile = form.tiles.size();
      form.tiles.push_back(std::move(tile));
    }
  }
};

// Adds what the kernel writes.
void run(const plan::Function& f, const plan::Kernel& k, const std::vector<int64_t>& sizes,
         Arrays& values) {
  plan::Form form = k.form;
  std::visit(Rounding{f.graph}, form);
  const Graph g = form_graph(f, k, form, sizes);
  const Arrays got = evaluate::evaluate(g, values);
  for (TensorId t : k.writes) values[g[t].name] = got.at(g[t].name);
}

void run(const plan::Function& f, Arrays& values) {
  const std::vector<int64_t> sizes = evaluate::read_sizes(f.graph, values);
  for (const plan::Kernel& k : f.kernels) run(f, k, sizes, values);
}

}  // namespace

Arrays reference_of_rounded_factors(const driver::Compiled& model, const Arrays& given) {
  Arrays values = given, results;
  const auto add_outputs = [&](const plan::Function& f) {
    run(f, values);
    for (const Output& o : f.graph.outputs) results[o.name] = values.at(f.graph[o.tensor].name);
  };
  add_outputs(model.plan->forward);
  add_outputs(*model.plan->backward);
  return results;
}

}  // namespace attn::testing
