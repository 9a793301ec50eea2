#include "compiler/plan/kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {

namespace {

// In the order of the forms, from the last.
constexpr KernelKind kKinds[] = {
    {"tiles", "sums over rows and columns of what exists in tiles only", 40, claim_tiles},
    {"streaming", "sums over scores that exist in tiles only", 20, nullptr},
    {"contraction", "sum of products of two packed factors", 10, claim_contraction},
    {"row", "reductions and maps over rows held in cache", 5, claim_row},
    {"loops", "the definition as written", 2, claim_loops},
};

// A product of which no factor alone has all points: no memory decides its time.
bool multiplies(const ir::Definition& d, const std::set<ir::IndexId>& points) {
  return d.body.is(ir::Kind::multiply) &&
         std::ranges::none_of(ir::read_sites(d.body), [&](const ir::Expr& read) {
           return std::ranges::includes(ir::indices(read), points);
         });
}

// Why `d` lowers slowly as plain loops, or empty where loops are the right form (maps, small sums).
std::string why_slow(const ir::Graph& g, const Costs& costs, const ir::Definition& d) {
  if (d.reduced.empty()) return {};
  std::set<ir::IndexId> all(d.free.begin(), d.free.end());
  all.insert(d.reduced.begin(), d.reduced.end());
  const auto scatter = solve::find_scatter(d);
  if (scatter) all.erase(d.free[scatter->dimension]);  // each point is visited once
  if (points(g, all) < costs.slow_points || (scatter && !multiplies(d, all))) return {};
  if (sums_in_registers(g, costs, d)) return {};
  if (scatter) return "its products are added one by one where data says";
  return fmt::format("its {} is a plain loop{}", name_of(d.combine),
                     d.combine == ir::Combine::sum ? ": no two factors of it can be packed apart"
                                                   : " over all its points");
}

}  // namespace

std::span<const KernelKind> kernel_kinds() { return kKinds; }

const KernelKind& kind_of(const Form& form) {
  struct Row {
    size_t operator()(const TilesForm& f) const { return f.streams() ? 1 : 0; }
    size_t operator()(const ContractionForm&) const { return 2; }
    size_t operator()(const RowForm&) const { return 3; }
    size_t operator()(const LoopsForm&) const { return 4; }
  };
  return kKinds[std::visit(Row{}, form)];
}

bool sums_in_registers(const ir::Graph& g, const Costs& costs, const ir::Definition& d) {
  const bool is_short = std::ranges::all_of(
      d.reduced, [&](ir::IndexId i) { return points(g, {i}) <= costs.most_mixed; });
  return is_short && (reads_vectors_as_they_lie(g, costs, d) || mixes_planes(g, costs, d));
}

std::optional<Proposal> claim_loops(const ir::Graph& g, const Costs& costs, const Open& open) {
  const ir::Definition& d = g.definitions[open.at];
  Kernel kernel{.form = LoopsForm{d}, .definitions = {d}, .why = why_slow(g, costs, d)};
  return Proposal{{{d.target, std::move(kernel)}}, {}};
}

}  // namespace attn::plan
