// Groups of unmaterialised tensors and of the definitions that read them.
#include <algorithm>
#include <functional>
#include <tuple>

#include "compiler/plan/estimate.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/tiles/tiles.h"

namespace attn::plan {

using namespace ir;

namespace {

class Growth {
 public:
  Growth(const Graph& g, const std::set<TensorId>& candidates)
      : g_(g), uses_(g), candidates_(candidates) {}

  // Nothing where a reader does not fit; `misfit` is then the tensor that it reads.
  std::optional<Group> grow(TensorId seed) {
    const Definition& d = definition(seed);
    Names own;
    for (IndexId i : d.free) own.emplace(i, i);
    group_.indices = d.free;
    if (!join(seed, own)) return {};
    while (!open_.empty()) {
      TensorId at = open_.back();
      open_.pop_back();
      if (!visit_tile(at)) return {};
    }
    for (const auto& [t, names] : group_.names)
      if (!group_.tiles.count(t)) group_.readers.push_back(t);
    std::ranges::sort(group_.readers, {}, [&](TensorId t) { return *uses_.definition(t); });
    return group_;
  }

  TensorId misfit;

 private:
  bool join(TensorId t, const Names& names) {
    auto known = group_.names.find(t);
    if (known != group_.names.end()) return known->second == names;
    group_.names[t] = names;
    if (candidates_.count(t)) {
      group_.tiles.insert(t);
      open_.push_back(t);
    }
    return true;
  }

  bool visit_tile(TensorId t) {
    if (!visit_reads(definition(t))) return false;
    for (size_t n : uses_.readers(t)) {
      const Definition& d = g_.definitions[n];
      misfit = t;
      if (!name_reader(d, t) || !visit_reads(d)) return false;
    }
    return true;
  }

  // All tiles that a named definition reads, by the same indices.
  bool visit_reads(const Definition& d) {
    const Names& names = group_.names.at(d.target);
    for (const Expr& site : read_sites(d, candidates_)) {
      misfit = site->tensor;
      const std::vector<IndexId>& free = definition(site->tensor).free;
      Names of_tile;
      std::set<IndexId> used;
      for (size_t k = 0; k < free.size(); ++k) {
        const Expr& s = site.args()[k];
        if (!s.is(Kind::index) || !names.count(s->index)) return false;
        of_tile.emplace(free[k], names.at(s->index));
        used.insert(names.at(s->index));
      }
      if (used.size() != group_.indices.size() || free.size() != used.size()) return false;
      if (!join(site->tensor, of_tile)) return false;
    }
    return true;
  }

  bool name_reader(const Definition& d, TensorId t) {
    if (group_.names.count(d.target)) return true;
    const Expr site = read_sites(d, {t})[0];
    const Definition& tile = definition(t);
    Names names;
    for (size_t k = 0; k < site.args().size(); ++k) {
      if (!site.args()[k].is(Kind::index)) return false;
      names.emplace(site.args()[k]->index, group_.names.at(t).at(tile.free[k]));
    }
    if (names.size() != site.args().size()) return false;
    // A row of a log-sum-exp lies along the tile: each of its points is a point of the tile.
    if (d.combine == Combine::logsumexp && !has_all(names, d.reduced)) return false;
    if (candidates_.count(d.target)) {
      if (d.free.size() != names.size() || !has_all(names, d.free)) return false;
    }
    return join(d.target, names);
  }

  const Definition& definition(TensorId t) const {
    return g_.definitions[uses_.definition(t).value()];
  }

  const Graph& g_;
  const Uses uses_;
  const std::set<TensorId>& candidates_;
  Group group_;
  std::vector<TensorId> open_;
};

// The elements that a kernel of these rows and columns writes for what its readers sum: of a sum
// over either, one for each place in the batch, which is added up afterwards.
double stored(const Graph& g, const Group& group, IndexId row, IndexId column) {
  double all = 0;
  for (TensorId t : group.readers) {
    const Definition& d = *g.definition_of(t);
    const Names& names = group.names.at(t);
    std::set<IndexId> over(d.free.begin(), d.free.end());
    bool sums_row = false, sums_column = false;
    for (IndexId i : d.reduced) {
      auto found = names.find(i);
      sums_row = sums_row || (found != names.end() && found->second == row);
      sums_column = sums_column || (found != names.end() && found->second == column);
    }
    for (auto [own, of_group] : names)
      if (sums_row || sums_column)
        if (!(of_group == row) && !(of_group == column)) over.insert(own);
    all += points(g, over);
  }
  return all;
}

// Keeps the best row axes: those with the fewest partial results in memory; of these, those of at
// least `least_rows` elements; of these, those of the column axis' extent.
void keep_best_rows(const Graph& g, const Costs& costs, const Group& group,
                    const std::function<IndexId(IndexId)>& shared, IndexId column,
                    std::vector<IndexId>& rows) {
  std::vector<std::tuple<double, bool, bool>> scores;
  for (IndexId i : rows)
    scores.emplace_back(stored(g, group, shared(i), column),
                        g.known(g[i].extent).value_or(costs.least_rows) < costs.least_rows,
                        !g.same(g[i].extent, g[column].extent));
  const auto least = *std::ranges::min_element(scores);
  std::vector<IndexId> kept;
  for (size_t k = 0; k < rows.size(); ++k)
    if (scores[k] == least) kept.push_back(rows[k]);
  rows = kept;
}

// Rows and columns: a log-sum-exp runs over columns; a sum of products has one factor of each;
// every reader sums over one of them, where that can be had.
void choose_axes(Graph& g, const Costs& costs, Group& group) {
  IndexId column, row;
  auto all_sum = [&](IndexId candidate) {
    return std::ranges::all_of(group.readers, [&](TensorId t) {
      const std::vector<IndexId>& reduced = g.definition_of(t)->reduced;
      return std::ranges::any_of(reduced, [&](IndexId i) {
        auto found = group.names.at(t).find(i);
        return found != group.names.at(t).end() &&
               (found->second == candidate || found->second == column);
      });
    });
  };
  for (TensorId t : group.readers) {
    const Definition& d = *g.definition_of(t);
    if (d.combine == Combine::logsumexp && d.reduced.size() == 1)
      column = group.names.at(t).at(d.reduced[0]);
  }
  Conditions visible;
  for (TensorId t : group.tiles) {
    const Definition& d = *g.definition_of(t);
    visible.merge(substitute(d.guard, values_of(group.names.at(t))));
    std::optional<ContractionForm> c = contraction_of(g, costs, d, nullptr);
    if (row.valid() || !c || c->groups || c->rows.empty() || c->columns.empty()) continue;
    auto shared = [&](IndexId i) { return group.names.at(t).at(i); };
    std::vector<IndexId> others = c->rows;
    for (IndexId i : c->rows)
      if (shared(i) == column) others = c->columns;
    if (!column.valid()) column = shared(c->columns.back());
    const bool several = others.size() > 1;
    if (several) keep_best_rows(g, costs, group, shared, column, others);
    std::vector<IndexId> summed = others;
    std::erase_if(summed, [&](IndexId i) { return !all_sum(shared(i)); });
    if (!summed.empty() || !several) others = summed;
    if (others.empty()) continue;
    row = shared(others.back());
    for (IndexId i : others)
      for (const Expr& condition : visible)
        if (uses(condition, shared(i)) && uses(condition, column)) row = shared(i);
  }
  // Without such a product: the last two that run over unknown sizes.
  for (bool any : {false, true})
    for (size_t k = group.indices.size(); k-- > 0;) {
      IndexId i = group.indices[k];
      if (!any && (g.known(g[i].extent) || (column.valid() && !all_sum(i)))) continue;
      if (!column.valid() && !(i == row)) column = i;
      if (!row.valid() && !(i == column)) row = i;
    }
  group.axes = {{}, row, column};
  for (IndexId i : group.indices)
    if (!(i == row) && !(i == column)) group.axes.batch.push_back(i);
}

}  // namespace

std::optional<Group> grow_group(Graph& g, const Costs& costs, const std::set<TensorId>& candidates,
                                TensorId seed, TensorId& misfit) {
  Growth growth(g, candidates);
  std::optional<Group> group = growth.grow(seed);
  misfit = growth.misfit;
  if (!group || !unify_ranges(g, *group, misfit)) return {};
  choose_axes(g, costs, *group);
  return group;
}

void split_inner_sums(Graph& g, std::set<TensorId>& candidates) {
  std::vector<Definition> result;
  for (Definition d : std::vector<Definition>(g.definitions)) {
    std::optional<Expr> site;
    if (d.combine == Combine::sum)
      for (const Expr& read : read_sites(d.body))
        if (!site && candidates.count(read->tensor)) site = read;
    std::set<IndexId> points;
    if (site)
      for (const Expr& s : site->args())
        if (s.is(Kind::index)) points.insert(s->index);
    std::vector<IndexId> inner, outer;
    for (IndexId i : d.reduced) (points.count(i) ? outer : inner).push_back(i);
    const bool of_points =
        std::ranges::all_of(d.free, [&](IndexId i) { return points.count(i) > 0; });
    // An index that runs further than the tensor is held back by a condition of the reader.
    const auto runs_as_far = [&](const Expr& read) {
      for (size_t k = 0; k < read.args().size(); ++k)
        if (!g.same(g[read.args()[k]->index].extent, g[read->tensor].extents[k])) return false;
      return true;
    };
    if (!site || points.size() != site->args().size() || inner.empty() || outer.empty() ||
        !of_points || d.body.is(Kind::add) || !runs_as_far(*site)) {
      result.push_back(std::move(d));
      continue;
    }
    const std::vector<Poly> extents = g[(*site)->tensor].extents;
    Definition dot{.target = g.new_part(d.target, ".dot", Storage::f32, extents),
                   .free = {},
                   .combine = Combine::sum,
                   .reduced = inner,
                   .where = d.where};
    for (const Expr& s : site->args()) dot.free.push_back(s->index);
    std::vector<Expr> of_dot, rest;
    for (const Expr& f : factors_of(d.body))
      (has_any(indices(f), inner) ? of_dot : rest).push_back(f);
    Conditions guard;
    for (const Expr& c : d.guard) (has_any(indices(c), inner) ? dot.guard : guard).insert(c);
    dot.body = real_product(of_dot);
    rest.push_back(g.target(dot));
    d.body = multiply(std::move(rest));
    d.guard = guard;
    d.reduced = outer;
    candidates.insert(dot.target);
    result.push_back(with_fresh_indices(g, dot).definition);
    result.push_back(std::move(d));
  }
  g.definitions = std::move(result);
}

}  // namespace attn::plan
