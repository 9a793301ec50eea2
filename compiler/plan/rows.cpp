// Claims definitions over common rows: reductions over the columns of a row, maps that read them
// while the row is in cache, and sums down the columns. A claim starts from a reduction, which says
// what rows and columns are; everything that reads or feeds its members, or reads the same tensors,
// joins when its own indices can be named after theirs.
#include <algorithm>

#include "compiler/plan/row_shape.h"
#include "compiler/plan/sets.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {
namespace {

using namespace ir;

// A claim gives up after so many definitions that a read ties to it: thousands may read one tensor.
constexpr size_t kMostTried = 1000;

struct RowClaim {
  RowForm form;
  std::vector<size_t> taken;  // the places of its definitions in the graph
};

// The definitions that a claim may take: those from `open.at` on that are not claimed, by their
// places in the graph.
class Run {
 public:
  Run(const Graph& g, const Open& open) : g_(g), open_(open) {}

  size_t first() const { return open_.at; }
  bool has(size_t n) const { return n >= open_.at && !open_.claimed.count((*this)[n].target); }
  const Definition& operator[](size_t n) const { return g_.definitions[n]; }
  // What one reads, which many claims ask for.
  const std::vector<Expr>& sites(size_t n) {
    const auto [found, is_new] = sites_.try_emplace(n);
    if (is_new) found->second = read_sites((*this)[n]);
    return found->second;
  }
  const std::vector<size_t>& readers(TensorId t) const { return open_.uses.readers(t); }
  std::optional<size_t> definition(TensorId t) const { return open_.uses.definition(t); }
  // Whether it is computed neither before the first of the run nor by that.
  bool is_missing(TensorId t) const {
    if (open_.claimed.count(t)) return open_.is_later(t);
    const auto n = definition(t);
    return n && *n >= open_.at;
  }

 private:
  const Graph& g_;
  const Open& open_;
  std::map<size_t, std::vector<Expr>> sites_;
};

class Claim {
 public:
  Claim(const Graph& g, const Costs& costs, Run& run, RowForm row)
      : g_(g), costs_(costs), run_(run), row_(std::move(row)) {}

  // Takes what can join run[seed].
  void grow(size_t seed) {
    add(seed, run_[seed]);
    for (bool changed = true; changed;) {
      changed = false;
      for (auto n = next(run_.first()); n && members_.size() < costs_.most_definitions;
           n = next(*n + 1)) {
        if (members_.count(*n) || !run_.has(*n)) continue;
        if (++tried_ > kMostTried) return;
        std::optional<Definition> d = joined(*n);
        if (!d) continue;
        add(*n, std::move(*d));
        changed = true;
      }
    }
  }

  // Drops members that read what is computed neither before the kernel nor rightly inside it.
  void prune() {
    std::set<TensorId> inside;
    for (auto m = members_.begin(); m != members_.end();) {
      const bool keeps = legal(m->second.sites, inside);
      if (keeps) inside.insert(run_[m->first].target);
      m = keeps ? std::next(m) : members_.erase(m);
    }
  }

  RowClaim result() const {
    RowClaim claim{.form = row_, .taken = {}};
    bool reduces = false;
    for (const auto& [n, m] : members_) {
      reduces = reduces || !m.definition.reduced.empty();
      claim.form.definitions.push_back(m.definition);
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
    if (!solve::find_scatters(d).empty() || runs_along(g_, costs_, d).valid()) return false;
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

  void add(size_t n, Definition d) {
    std::vector<Expr> sites = read_sites(d);
    near_.insert(&run_.readers(d.target));
    for (const Expr& site : sites) {
      if (const auto of = run_.definition(site->tensor)) read_.insert(*of);
      if (is_whole(site)) near_.insert(&run_.readers(site->tensor));
    }
    members_.emplace(n, Member{std::move(d), std::move(sites)});
  }

  // The first from `n` on that something ties to a member.
  std::optional<size_t> next(size_t n) const {
    std::optional<size_t> first;
    const auto look = [&](auto found, auto end) {
      if (found != end && (!first || *found < *first)) first = *found;
    };
    look(read_.lower_bound(n), read_.end());
    for (const std::vector<size_t>* some : near_)
      look(std::ranges::lower_bound(*some, n), some->end());
    return first;
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
    for (const auto& [place, m] : members_) {
      for (const Expr& site : own_sites)
        if (site->tensor == m.definition.target) tie(site.args(), index_values(m.definition.free));
      for (const Expr& site : m.sites)
        if (site->tensor == d.target) tie(target, site.args());
    }
    for (const auto& [place, m] : members_) {
      for (const Expr& site : m.sites)
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

  bool legal(const std::vector<Expr>& sites, const std::set<TensorId>& inside) const {
    for (const Expr& site : sites) {
      if (!inside.count(site->tensor)) {
        if (run_.is_missing(site->tensor)) return false;
        continue;
      }
      const Definition& m = members_.at(*run_.definition(site->tensor)).definition;
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
  std::map<size_t, Member> members_;
  std::set<size_t> read_;                      // by a member
  std::set<const std::vector<size_t>*> near_;  // that read a member, or what a member reads
  size_t tried_ = 0;
};

// Definitions that one sweep over rows can compute, the first of the run among them; nothing taken
// where there are none. No member of the claim reads what is computed later, so the kernel can come
// at once.
RowClaim claim_rows(const Graph& g, const Costs& costs, const Open& open) {
  Run run(g, open);
  size_t seeds = 0;
  for (size_t n = open.at; n < g.definitions.size() && seeds < costs.row_seeds; ++n) {
    if (!run.has(n)) continue;
    std::optional<RowForm> shape = row_shape(g, costs, run[n]);
    if (!shape) {
      if (run[n].combine != Combine::set && n == open.at) return {};
      continue;
    }
    ++seeds;
    Claim claim(g, costs, run, *shape);
    claim.grow(n);
    claim.prune();
    RowClaim result = claim.result();
    if (!result.taken.empty() && result.taken[0] == open.at) return result;
    if (n == open.at) return {};
  }
  return {};
}

}  // namespace

std::optional<Proposal> claim_row(const Graph& g, const Costs& costs, const Open& open) {
  RowClaim claim = claim_rows(g, costs, open);
  if (claim.taken.empty()) return std::nullopt;
  Kernel kernel{.form = std::move(claim.form)};
  for (size_t n : claim.taken) kernel.definitions.push_back(g.definitions[n]);
  return Proposal{{{g.definitions[open.at].target, std::move(kernel)}}, {}};
}

}  // namespace attn::plan
