#include "compiler/plan/result_blocks.h"

#include <algorithm>

#include "compiler/plan/blocks.h"
#include "compiler/plan/estimate.h"

namespace attn::plan {

using namespace ir;

namespace {

constexpr int64_t kBlocks = 2;
constexpr int64_t kLine = 64;  // elements: blocks are of whole cache lines

std::optional<int64_t> block_of(const Graph& g, const Poly& extent, const Costs& costs) {
  const auto count = g.known(extent);
  if (!count || *count % (kBlocks * kLine) != 0 || *count / kBlocks < costs.least_block) return {};
  return *count / kBlocks;
}

// Whether whatever is read at the index is read there only.
bool are_cut(const Graph& g, const Definition& d, IndexId index,
             const std::map<TensorId, size_t>& at) {
  return std::ranges::all_of(read_sites(d), [&](const Expr& site) {
    const auto found = at.find(site->tensor);
    return found == at.end() ||
           (site.args()[found->second] == index_value(index) && !g[site->tensor].split);
  });
}

// The last kernel that sums the terms of groups, if no later one writes as much.
std::optional<size_t> last_of_groups(const Function& f) {
  double later = 0;
  for (size_t n = f.kernels.size(); n-- > 0;) {
    double most = 0;
    for (TensorId t : f.kernels[n].writes)
      if (f.places[t.value] == Place::result)
        most = std::max(most, estimate(f.graph, elements(f.graph, t)));
    if (sums_groups(f.kernels[n])) return most > later ? std::optional(n) : std::nullopt;
    later = std::max(later, most);
  }
  return {};
}

bool is_step_or_has_steps(const Function& f, TensorId t) {
  return std::ranges::any_of(f.slices,
                             [&](const Slice& s) { return s.tensor == t || s.whole == t; });
}

bool is_read_after(const Function& f, size_t n, TensorId t) {
  return std::any_of(f.kernels.begin() + static_cast<long>(n) + 1, f.kernels.end(),
                     [&](const Kernel& k) { return std::ranges::count(k.reads, t) > 0; });
}

// The loop of a cut: each step copies its block of `copied`, and computes a block of the result.
Segment blocked(Function& f, const Definition& d, const ResultCut& cut,
                const std::set<TensorId>& copied) {
  Graph& g = f.graph;
  const IndexId index = d.free[cut.dimension];
  Blocks blocks(g, index, cut.block);
  std::vector<Definition> definitions;
  std::vector<Output> outputs;
  const auto add = [&](const Definition& part) {
    definitions.push_back(part);
    outputs.push_back({.name = g[part.target].name, .tensor = part.target});
  };
  for (const auto& [t, place] : cut.read) {
    const TensorId part = blocks.add_given(t, place);
    if (!copied.count(t)) continue;
    const Tensor like = g[part];
    const TensorId copy = g.new_part(part, ".copy", like.storage, like.extents);
    blocks.read_in_place(t, copy);
    add(copying(g, part, copy));
  }
  blocks.add(d.target, cut.dimension);
  add(normal_form(blocks.at_block(d, index)));
  Segment s = blocks.segment();
  s.definitions = std::move(definitions);
  s.outputs = std::move(outputs);
  f.places.resize(g.tensors.size(), Place::none);
  return s;
}

}  // namespace

bool sums_groups(const Kernel& k) {
  const auto* form = std::get_if<ContractionForm>(&k.form);
  return form && form->groups && !form->groups->of_rows();
}

TensorId copied_by(const Function& f, const Kernel& k) {
  const auto* form = std::get_if<LoopsForm>(&k.form);
  if (!form || form->start) return {};
  const Definition& d = form->definition;
  const bool is_copy = d.combine == Combine::set && d.guard.empty() && d.position.empty() &&
                       d.body.is(Kind::read) && d.body.args() == index_values(d.free);
  const TensorId from = is_copy ? d.body->tensor : TensorId();
  if (!is_copy || !is_block(f, from)) return {};
  for (TensorId t : {d.target, whole_of(f, from)})
    if (f.places[t.value] != Place::workspace) return {};
  return from;
}

std::optional<ResultCut> cut_of(const Graph& g, const Kernel& k, const Costs& costs) {
  if (!sums_groups(k) || costs.least_block == 0 || k.definitions.size() != 1) return {};
  const Definition& d = k.definitions[0];
  if (!d.position.empty() || !g.is_output(d.target) || g[d.target].split ||
      results_of(k.form) != std::vector{d.target})
    return {};
  // Along the last dimension what a step writes is no piece of memory.
  for (size_t n = 0; n + 1 < d.free.size(); ++n) {
    const std::optional<int64_t> block = block_of(g, g[d.free[n]].extent, costs);
    if (!block) continue;
    ResultCut cut{.dimension = n, .block = *block};
    if (!subscripts_alone(d, d.free[n], cut.read) || !are_cut(g, d, d.free[n], cut.read)) continue;
    for (const auto& [t, dimension] : cut.read)
      if (!is_argument(g[t].role) && !g.is_output(t)) cut.computed.insert(t);
    if (!cut.computed.empty()) return cut;
  }
  return {};
}

std::optional<ResultBlocks> block_last_result(Function& f, const Costs& costs) {
  const std::optional<size_t> n = last_of_groups(f);
  if (!n || f.kind != FunctionKind::backward || loop_of(f, *n)) return {};
  const Definition d = f.kernels[*n].definitions[0];
  const std::optional<ResultCut> cut = cut_of(f.graph, f.kernels[*n], costs);
  if (!cut || f.places[d.target.value] != Place::result) return {};
  std::set<TensorId> copied;
  for (const auto& [t, dimension] : cut->read) {
    if (is_step_or_has_steps(f, t)) return {};
    if (cut->computed.count(t) && f.places[t.value] == Place::workspace && !is_read_after(f, *n, t))
      copied.insert(t);
  }
  if (copied.empty()) return {};
  return ResultBlocks{blocked(f, d, *cut, copied), *n};
}

}  // namespace attn::plan
