// Claims definitions over common rows: reductions over the columns of a row, maps that read them
// while the row is in cache, and sums down the columns. A claim starts from a reduction, which says
// what rows and columns are; everything that reads or feeds its members, or reads the same tensors,
// joins when its own indices can be named after theirs.
#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/groups.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/sets.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {
namespace {

using namespace ir;

std::optional<IndexId> plain_index(const Expr& e) {
  return e.is(Kind::index) ? std::optional(e->index) : std::nullopt;
}

// The read of the most elements whose last subscript is an index: it says what is contiguous.
std::optional<Expr> largest_read(const Graph& g, const Definition& d) {
  std::optional<Expr> best;
  double most = -1;
  for (const Expr& site : read_sites(d)) {
    if (site.args().empty() || !plain_index(site.args().back())) continue;
    double count = points(g, indices(site));
    if (count > most) best = site, most = count;
  }
  return best;
}

// Whether neighbours in memory are neighbours along `reduced`; the index of it that they follow.
std::optional<IndexId> contiguous_reduced(const Graph& g, const Definition& d) {
  std::optional<Expr> site = largest_read(g, d);
  if (!site) return d.reduced.size() == 1 ? std::optional(d.reduced[0]) : std::nullopt;
  IndexId last = *plain_index(site->args().back());
  return contains(d.reduced, last) ? std::optional(last) : std::nullopt;
}

bool is_row_reduction(Combine c) {
  return c == Combine::sum || c == Combine::max || c == Combine::min || c == Combine::logsumexp;
}

// Rows and columns as the reduction has them, or nothing where plain loops do as well.
std::optional<RowForm> shape_of(const Graph& g, const Costs& costs, const Definition& d) {
  if (d.reduced.empty() || !is_row_reduction(d.combine)) return std::nullopt;
  // Compiled for rows of nothing: no row to keep.
  if (std::ranges::any_of(d.reduced, [&](IndexId i) { return g.known(g[i].extent) == 0; }))
    return std::nullopt;
  if (sums_in_registers(g, costs, d)) return std::nullopt;
  if (solve::find_scatter(d))
    return std::nullopt;  // else every row would be asked for by every one
  if (contiguous_reduced(g, d)) {
    if (d.reduced.size() != 1) return std::nullopt;
    return RowForm{d.free, d.reduced, {}};
  }
  std::optional<Expr> site = largest_read(g, d);
  if (d.combine != Combine::sum || !site || d.free.empty()) return std::nullopt;
  if (!(*plain_index(site->args().back()) == d.free.back())) return std::nullopt;
  if (d.free.size() > 1) {
    std::optional<int64_t> run = g.known(g[d.free.back()].extent);
    if (!run || *run < costs.least_run) return std::nullopt;
  }
  // Rows in the order of memory.
  RowForm row{{}, d.free, {}};
  for (const Expr& s : site->args())
    if (auto i = plain_index(s); i && contains(d.reduced, *i) && !contains(row.rows, *i))
      row.rows.push_back(*i);
  for (IndexId i : d.reduced)
    if (!contains(row.rows, i)) row.rows.push_back(i);
  return row;
}

struct RowClaim {
  RowForm form;
  std::vector<size_t> taken;  // the places of its definitions in the run
};

// The definitions that claims may take, and what each reads, which many claims ask for.
class Run {
 public:
  explicit Run(std::span<const Definition> definitions)
      : definitions_(definitions), sites_(definitions.size()) {}
  size_t size() const { return definitions_.size(); }
  const Definition& operator[](size_t n) const { return definitions_[n]; }
  const std::vector<Expr>& sites(size_t n) {
    if (!sites_[n]) sites_[n] = read_sites(definitions_[n]);
    return *sites_[n];
  }

 private:
  std::span<const Definition> definitions_;
  std::vector<std::optional<std::vector<Expr>>> sites_;
};

class Claim {
 public:
  Claim(const Graph& g, const Costs& costs, Run& run, RowForm row)
      : g_(g), costs_(costs), run_(run), row_(std::move(row)), members_(run.size()) {}

  // Takes what can join run[seed].
  void grow(size_t seed) {
    members_[seed] = Member{run_[seed], run_.sites(seed)};
    size_t count = 1;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t n = 0; n < run_.size() && count < costs_.most_definitions; ++n) {
        if (members_[n]) continue;
        std::optional<Definition> d = joined(n);
        if (!d) continue;
        members_[n] = Member{*d, read_sites(*d)};
        ++count;
        changed = true;
      }
    }
  }

  // Drops members that read what is computed neither before the kernel nor rightly inside it.
  void prune(const std::set<TensorId>& later) {
    std::map<TensorId, size_t> inside;
    std::set<TensorId> missing = later;
    for (size_t n = 0; n < run_.size(); ++n) {
      if (members_[n] && !legal(members_[n]->sites, inside, missing)) members_[n].reset();
      if (members_[n])
        inside[run_[n].target] = n;
      else
        missing.insert(run_[n].target);
    }
  }

  RowClaim result() const {
    RowClaim claim{.form = row_, .taken = {}};
    bool reduces = false;
    for (size_t n = 0; n < run_.size(); ++n) {
      if (!members_[n]) continue;
      const Definition& d = members_[n]->definition;
      reduces = reduces || !d.reduced.empty();
      claim.form.definitions.push_back(d);
      claim.taken.push_back(n);
    }
    return reduces ? claim : RowClaim{};
  }

 private:
  bool same_group(const std::vector<IndexId>& list, const std::vector<IndexId>& group) const {
    return list.size() == group.size() &&
           std::ranges::all_of(list, [&](IndexId i) { return contains(group, i); });
  }

  // Whether the kernel can compute `d`, which is over its indices.
  bool fits(const Definition& d) const {
    if (d.combine == Combine::set) {
      std::vector<IndexId> all = row_.rows;
      all.insert(all.end(), row_.columns.begin(), row_.columns.end());
      // Plain loops share a map of the only row among threads.
      const bool has_row = !row_.rows.empty() && row_.columns.size() == 1;
      return same_group(d.free, row_.rows) || (has_row && same_group(d.free, all));
    }
    if (solve::find_scatter(d)) return false;
    const bool along = row_.columns.size() == 1 && is_row_reduction(d.combine) &&
                       same_group(d.free, row_.rows) && same_group(d.reduced, row_.columns);
    return along || sums_columns(d);
  }

  bool sums_columns(const Definition& d) const {
    return d.combine == Combine::sum && same_group(d.free, row_.columns) &&
           same_group(d.reduced, row_.rows);
  }

  void name(Names& names, IndexId own, IndexId kernel) const {
    const bool used =
        std::ranges::any_of(names, [&](const auto& name) { return name.second == kernel; });
    if (names.count(own) || used) return;
    if (!contains(row_.rows, kernel) && !contains(row_.columns, kernel)) return;
    if (g_.same(g_[own].extent, g_[kernel].extent)) names.emplace(own, kernel);
  }

  void name_alike(Names& names, const std::vector<Expr>& own,
                  const std::vector<Expr>& kernel) const {
    for (size_t k = 0; k < own.size() && k < kernel.size(); ++k) {
      auto a = plain_index(own[k]), b = plain_index(kernel[k]);
      if (a && b) name(names, *a, *b);
    }
  }

  bool is_whole(const Expr& site) const {
    std::set<IndexId> used = indices(site);
    return used.size() == row_.rows.size() + row_.columns.size();
  }

  // run[n] over the kernel's indices, where something ties it to a member and its indices fit.
  std::optional<Definition> joined(size_t n) const {
    const Definition& d = run_[n];
    if (d.free.size() + d.reduced.size() > row_.rows.size() + row_.columns.size())
      return std::nullopt;
    Names names;
    bool tied = false;
    const std::vector<Expr>& own_sites = run_.sites(n);
    const std::vector<Expr> target = index_values(d.free);
    const auto tie = [&](const std::vector<Expr>& own, const std::vector<Expr>& kernel) {
      tied = true;
      name_alike(names, own, kernel);
    };
    for (const auto& m : members_) {
      if (!m) continue;
      for (const Expr& site : own_sites)
        if (site->tensor == m->definition.target)
          tie(site.args(), index_values(m->definition.free));
      for (const Expr& site : m->sites)
        if (site->tensor == d.target) tie(target, site.args());
    }
    for (const auto& m : members_) {
      if (!m) continue;
      for (const Expr& site : m->sites)
        for (const Expr& own : own_sites)
          if (own->tensor == site->tensor && is_whole(site) && is_whole(own))
            tie(own.args(), site.args());
    }
    if (!tied) return std::nullopt;
    for (const auto* list : {&d.free, &d.reduced})
      for (IndexId own : *list)
        for (const auto* group : {&row_.rows, &row_.columns})
          for (IndexId kernel : *group) name(names, own, kernel);
    if (names.size() != d.free.size() + d.reduced.size()) return std::nullopt;
    Definition result = d;
    substitute(result, values_of(names));
    for (auto* list : {&result.free, &result.reduced})
      for (IndexId& i : *list) i = names.at(i);
    return fits(result) ? std::optional(result) : std::nullopt;
  }

  bool legal(const std::vector<Expr>& sites, const std::map<TensorId, size_t>& inside,
             const std::set<TensorId>& missing) const {
    for (const Expr& site : sites) {
      if (missing.count(site->tensor)) return false;
      auto it = inside.find(site->tensor);
      if (it == inside.end()) continue;
      const Definition& m = members_[it->second]->definition;
      if (sums_columns(m) || site.args() != index_values(m.free)) return false;
    }
    return true;
  }

  // Over the kernel's indices.
  struct Member {
    Definition definition;
    std::vector<Expr> sites;  // what it reads
  };

  const Graph& g_;
  const Costs& costs_;
  Run& run_;
  RowForm row_;
  std::vector<std::optional<Member>> members_;
};

// Definitions that one sweep over rows can compute, the first among them; nothing taken where there
// are none. No member of the claim reads what is `later`, so the kernel can come at once.
RowClaim claim_rows(const Graph& g, const Costs& costs, std::span<const Definition> definitions,
                    const std::set<TensorId>& later) {
  Run run(definitions);
  size_t seeds = 0;
  for (size_t n = 0; n < run.size() && seeds < costs.row_seeds; ++n) {
    std::optional<RowForm> shape = shape_of(g, costs, run[n]);
    if (!shape) {
      if (run[n].combine != Combine::set && n == 0) return {};
      continue;
    }
    ++seeds;
    Claim claim(g, costs, run, *shape);
    claim.grow(n);
    claim.prune(later);
    RowClaim result = claim.result();
    if (!result.taken.empty() && result.taken[0] == 0) return result;
    if (n == 0) return {};
  }
  return {};
}

}  // namespace

std::optional<Proposal> claim_row(const Graph& g, const Costs& costs, const Open& open) {
  std::vector<Definition> run;
  for (size_t n = open.at; n < g.definitions.size(); ++n)
    if (!open.claimed.count(g.definitions[n].target)) run.push_back(g.definitions[n]);
  RowClaim claim = claim_rows(g, costs, run, open.later);
  if (claim.taken.empty()) return std::nullopt;
  Kernel kernel{.form = std::move(claim.form)};
  for (size_t n : claim.taken) kernel.definitions.push_back(run[n]);
  return Proposal{{{run[0].target, std::move(kernel)}}, {}};
}

namespace {

// In which the parts of a tensor of storage `whole` are kept.
Storage storage_of_parts(Storage whole) {
  return arithmetic_type(whole) == Type::f32 ? Storage::f32 : whole;
}

// The free indices of a sum of products over rows whose columns lie in another order in memory than
// those of the target, in the order of memory. Nothing where rows do not compute it in that order
// either.
std::vector<IndexId> order_in_memory(const Graph& g, const Costs& costs, const Definition& d) {
  if (d.combine != Combine::sum || d.free.empty() || !d.body.is(Kind::multiply) ||
      shape_of(g, costs, d) || contraction_of(g, costs, d, nullptr))
    return {};
  const std::optional<Expr> site = largest_read(g, d);
  if (!site) return {};
  const IndexId last = *plain_index(site->args().back());
  if (!contains(d.free, last) || last == d.free.back()) return {};
  Definition ordered = d;
  std::erase(ordered.free, last);
  ordered.free.push_back(last);
  return shape_of(g, costs, ordered) ? ordered.free : std::vector<IndexId>();
}

// The sum as a tensor whose dimensions are in the given order, and a copy.
std::vector<Definition> sum_and_copy(Graph& g, const Definition& d,
                                     const std::vector<IndexId>& order) {
  Definition sum = d;
  sum.free = order;
  sum.target =
      g.new_part(d.target, ".part", storage_of_parts(g[d.target].storage), g.extents(order));
  const Definition copy{
      .target = d.target, .free = d.free, .body = g.target(sum), .where = d.where};
  return {std::move(sum), with_fresh_indices(g, copy).definition};
}

// Reduces over `kept` last: `d` is the rest of it, and what comes first is the result, where `kept`
// are the outermost or the innermost dimensions.
Definition take_first(Graph& g, Definition& d, const std::vector<IndexId>& kept, bool outermost) {
  Definition first = d;
  first.free.insert(outermost ? first.free.begin() : first.free.end(), kept.begin(), kept.end());
  std::erase_if(first.reduced, [&](IndexId i) { return contains(kept, i); });
  first.target =
      g.new_part(d.target, ".part", storage_of_parts(g[d.target].storage), g.extents(first.free));
  const Definition rest{.target = d.target,
                        .free = d.free,
                        .combine = d.combine,
                        .reduced = kept,
                        .body = g.target(first),
                        .where = d.where};
  d = with_fresh_indices(g, rest).definition;
  return first;
}

}  // namespace

std::vector<Definition> split_sum(Graph& g, const Costs& costs, Definition d) {
  const std::vector<IndexId> order = order_in_memory(g, costs, d);
  if (!order.empty()) return sum_and_copy(g, d, order);
  if (sums_in_registers(g, costs, d)) return {std::move(d)};
  std::vector<Definition> result;
  if (const auto later = reduced_after_groups(g, costs, d); !later.empty())
    result.push_back(take_first(g, d, later, true));
  while (d.reduced.size() > 1 && d.combine != Combine::logsumexp && is_row_reduction(d.combine) &&
         !contraction_of(g, costs, d, nullptr)) {
    const std::optional<IndexId> column = contiguous_reduced(g, d);
    if (!column) break;
    std::vector<IndexId> others = d.reduced;
    std::erase(others, *column);
    // One long sum is taken down the columns first, in parallel; others along the rows.
    const bool down = d.free.empty() && d.combine == Combine::sum;
    result.push_back(take_first(g, d, down ? std::vector{*column} : others, false));
  }
  result.push_back(std::move(d));
  return result;
}

}  // namespace attn::plan
