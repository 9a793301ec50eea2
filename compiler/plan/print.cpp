// The printed plan: what a golden file holds, so that a lost fusion shows as a difference.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/plan.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {
namespace {

using namespace ir;

std::string shape_text(const Graph& g, TensorId t) {
  std::string text = g[t].name;
  if (g[t].extents.empty()) return text;
  text += "[";
  for (size_t k = 0; k < g[t].extents.size(); ++k)
    text += (k ? ", " : "") + poly_text(g, g[t].extents[k]);
  return text + "]";
}

std::string group_text(const Graph& g, const char* label, const std::vector<IndexId>& group) {
  if (group.empty()) return {};
  std::string text = fmt::format(" {}", label);
  for (size_t k = 0; k < group.size(); ++k) text += (k ? "," : " ") + g[group[k]].name;
  return text;
}

Poly points(const Graph& g, const std::vector<IndexId>& indices) {
  Poly product = 1;
  for (IndexId i : indices) product = product * g[i].extent;
  return product;
}

// Of all tiles at one point.
Poly operations(const Graph& g, const std::vector<Tile>& tiles) {
  Poly each;
  for (const Tile& tile : tiles) {
    each = each + Poly(cost(tile.value));
    for (const Term& t : tile.dots) each = each + points(g, t.reduced) * Poly(2);
  }
  return each;
}

Poly features(const Graph& g, IndexId feature) {
  return feature.valid() ? g[feature].extent : Poly(1);
}

// The products and their sums; each factor is computed once, when it is packed, and the epilogue
// once for each element.
Poly operations(const Graph& g, const Contraction& c) {
  const Poly rows = points(g, c.rows), columns = points(g, c.columns);
  Poly sum = rows * columns * Poly(cost(c.epilogue));
  for (const Term& t : c.terms)
    sum = sum + points(g, t.reduced) * (rows * columns * Poly(2) + rows * Poly(cost(t.left)) +
                                        columns * Poly(cost(t.right)));
  return points(g, c.batch) * sum;
}

// Scores once for each row and column, and their products with the features.
Poly operations(const Graph& g, const Streaming& s) {
  constexpr int kExponential = 9;
  Poly each = operations(g, s.tiles) + Poly(kExponential);
  if (s.sum) each = each + Poly(cost(s.sum->weight)) + features(g, s.sum->feature) * Poly(2);
  return points(g, s.batch) * points(g, {s.row, s.column}) * each;
}

Poly operations(const Graph& g, const TileSums& s) {
  Poly each = operations(g, s.tiles);
  for (const TileSums::Result& r : s.results) each = each + features(g, r.feature) * Poly(2);
  return points(g, s.batch) * points(g, {s.row, s.column}) * each;
}

std::string kernel_text(const Graph& g, const Kernel& k) {
  std::string text = fmt::format("    {:<12}", k.kind->name);
  for (size_t n = 0; n < k.writes.size(); ++n) text += (n ? ", " : "") + shape_text(g, k.writes[n]);
  text += " <-";
  for (TensorId t : k.reads) text += " " + g[t].name;
  if (k.contraction) {
    const Contraction& c = *k.contraction;
    text += "  |" + group_text(g, "batch", c.batch) + group_text(g, "rows", c.rows) +
            group_text(g, "columns", c.columns);
    for (const Term& t : c.terms) text += group_text(g, "sum", t.reduced);
  }
  if (k.row)
    text += "  |" + group_text(g, "rows", k.row->rows) + group_text(g, "columns", k.row->columns);
  if (k.streaming) {
    const Streaming& s = *k.streaming;
    text += "  |" + group_text(g, "batch", s.batch) + group_text(g, "rows", {s.row}) +
            group_text(g, "columns", {s.column});
    for (const Tile& tile : s.tiles)
      for (const Term& t : tile.dots) text += group_text(g, "sum", t.reduced);
    if (s.sum && s.sum->feature.valid()) text += group_text(g, "features", {s.sum->feature});
  }
  if (k.tile_sums) {
    const TileSums& s = *k.tile_sums;
    text += "  |" + group_text(g, "batch", s.batch) + group_text(g, "rows", {s.row}) +
            group_text(g, "columns", {s.column}) + " tiles";
    for (const Tile& tile : s.tiles)
      if (tile.tensor.valid()) text += " " + g[tile.tensor].name;
  }
  Poly work = operations(g, k);
  return text + fmt::format("  ({} operations)\n", poly_text(g, work));
}

std::string loop_text(const Graph& g, const Steps& s) {
  return fmt::format("    for each {} below {}{}\n", g[s.step].name, poly_text(g, s.count),
                     s.down ? ", the last first" : "");
}

bool is_stepped(const Function& f, size_t n) {
  return std::any_of(f.loops.begin(), f.loops.end(),
                     [&](const Loop& loop) { return loop.first <= n && n < loop.end; });
}

std::string function_text(const Function& f) {
  const Graph& g = f.graph;
  std::string text = "  " + title(f) + "\n";
  for (const DataCheck& c : f.data_checks)
    text += fmt::format("    check       {} reads {} in 0..{} - 1\n", c.data, c.read,
                        poly_text(g, c.extent));
  for (size_t n = 0; n < f.kernels.size(); ++n) {
    for (const Loop& loop : f.loops)
      if (loop.first == n) text += loop_text(g, loop.steps);
    text += (is_stepped(f, n) ? "  " : "") + kernel_text(g, f.kernels[n]);
  }
  std::string saved, gone;
  for (TensorId t : f.saved) saved += " " + shape_text(g, t);
  if (!saved.empty()) text += "    saved:" + saved + "\n";
  Poly bytes;
  for (size_t n = 0; n < f.workspace.size(); ++n) {
    text += fmt::format("    slot {}:", n);
    for (TensorId t : f.workspace[n].tensors) text += " " + shape_text(g, t);
    text += "\n";
  }
  return text;
}

}  // namespace

Poly operations(const Graph& g, const Kernel& k) {
  if (k.contraction) return operations(g, *k.contraction);
  if (k.streaming) return operations(g, *k.streaming);
  if (k.tile_sums) return operations(g, *k.tile_sums);
  Poly sum;
  for (const Definition& d : k.definitions) {
    Poly count = 1;
    const auto landing = solve::find_landing(d);
    for (size_t n = 0; n < d.free.size(); ++n)
      if (!landing || n != landing->position) count = count * g[d.free[n]].extent;
    for (IndexId i : d.reduced) count = count * g[i].extent;
    sum = sum + count * Poly(cost(d.body) + (d.reduced.empty() ? 0 : 1));
  }
  return sum;
}

Poly runs(const Function& f, size_t n) {
  for (const Loop& loop : f.loops)
    if (loop.first <= n && n < loop.end) return loop.steps.count;
  return 1;
}

std::string poly_text(const Graph& g, const Poly& p) {
  std::string sum;
  for (const auto& [monomial, c] : p.terms()) {
    std::string product;
    for (auto [size, power] : monomial)
      for (int k = 0; k < power; ++k) product += (product.empty() ? "" : "*") + g[size].name;
    Rational positive{c.num < 0 ? -c.num : c.num, c.den};
    if (product.empty() || positive.num != 1)
      product = product.empty() ? std::to_string(positive.num)
                                : fmt::format("{}*{}", positive.num, product);
    if (positive.den != 1) product += fmt::format("/{}", positive.den);
    sum += sum.empty() ? (c.num < 0 ? "-" : "") : (c.num < 0 ? " - " : " + ");
    sum += product;
  }
  return sum.empty() ? "0" : sum;
}

std::string to_string(const Plan& plan) {
  std::string text = "plan " + plan.model + "\n";
  for (const Function* f : functions(plan)) text += function_text(*f);
  return text;
}

}  // namespace attn::plan
