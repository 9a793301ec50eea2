// Integer data that is used in subscripts must be checked when the model is called. The check is
// itself two definitions: the least and the greatest value of the subscript where its conditions
// hold.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/under.h"
#include "compiler/plan/function.h"
#include "compiler/solve/equalities.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

struct Site {
  Expr subscript;
  Conditions known;
  std::vector<IndexId> over;  // all indices of the definition
  TensorId read;
  size_t dimension;
  bool is_written = false;
};

// The subscripts of `d` that read data and that no proof bounds.
std::vector<Site> sites_of(const Graph& g, const Definition& d) {
  std::vector<Site> sites;
  std::vector<IndexId> over = d.free;
  over.insert(over.end(), d.reduced.begin(), d.reduced.end());
  const auto look_at = [&](TensorId t, const std::vector<Expr>& subscripts, const Conditions& known,
                           bool is_written) {
    for (size_t k = 0; k < subscripts.size(); ++k) {
      const Expr& s = subscripts[k];
      if (tensors(s).empty()) continue;
      const Expr extent = size_value(g[t].extents[k]);
      if (!solve::proves(g, known, at_least_zero(s)) || !solve::proves(g, known, less(s, extent)))
        sites.push_back({s, known, over, t, k, is_written});
    }
  };
  const auto look = [&](const Expr& e, const Conditions& known) {
    if (e.is(Kind::read)) look_at(e->tensor, e.args(), known, false);
    return true;
  };
  // A state is known to the caller by its own name.
  if (!d.position.empty()) look_at(g.updated_by(d.target), d.position, d.guard, true);
  for (const Expr& p : d.position) visit_under(p, d.guard, look);
  for (const Expr& c : d.guard) {
    Conditions others = d.guard;
    others.erase(c);
    visit_under(c, others, look);
  }
  visit_under(d.body, d.guard, look);
  return sites;
}

// What data in subscripts is computed from, computed once more: a call is checked first.
class Copies {
 public:
  Copies(Graph& g, std::vector<Definition>& result) : g_(g), result_(result) {}

  // Whether it reads arguments and integer data alone, and no recurrence.
  bool can_copy(const Expr& e) {
    return std::ranges::all_of(tensors(e), [&](TensorId t) { return can_copy(t); });
  }
  // Of the same value, and reading copies.
  Expr of(const Expr& e) {
    return rewrite(e, [&](const Expr& x) {
      // Arguments are there, and so is what was made here.
      if (!x.is(Kind::read) || !g_.definition_of(x->tensor)) return x;
      return read(of(x->tensor), x.type(), x.args());
    });
  }

 private:
  bool can_copy(TensorId t) {
    if (is_argument(g_[t].role)) return true;
    auto [it, fresh] = can_copy_.emplace(t, false);  // false while a recurrence reads itself
    if (!fresh) return it->second;
    const Definition* d = g_.definition_of(t);
    const bool good = d && !is_real(arithmetic_type(g_[t].storage)) &&
                      std::ranges::all_of(reads(*d), [&](TensorId r) { return can_copy(r); });
    return can_copy_[t] = good;
  }
  TensorId of(TensorId t) {
    if (const auto it = copies_.find(t); it != copies_.end()) return it->second;
    const Definition original = *g_.definition_of(t);
    const Definition d = original.position.empty() ? original : whole(original);
    const TensorId copy = g_.new_part(t, ".checked", g_[t].storage, g_[t].extents);
    copies_.emplace(t, copy);
    add(d, copy);
    return copy;
  }

  void add(Definition d, TensorId target) {
    d = with_fresh_indices(g_, d).definition;
    map_exprs(d, [&](const Expr& e) { return of(e); });
    d.target = target;
    result_.push_back(normal_form(std::move(d)));
  }

  // What a state becomes, over all of its places: sums find the value that is stored at each, and
  // whether there is one; elsewhere the state stays.
  Definition whole(const Definition& d) {
    const Tensor tensor = g_[d.target];
    Definition result{.target = d.target}, sum{.combine = Combine::sum, .guard = d.guard};
    for (size_t k = 0; k < d.position.size(); ++k) {
      const Expr& p = d.position[k];
      result.free.push_back(p.is(Kind::index) ? p->index : g_.new_index("s", tensor.extents[k]));
      if (!p.is(Kind::index)) sum.guard.insert(is_zero(index_value(result.free[k]) - p));
    }
    for (IndexId i : d.free)
      if (!std::ranges::count(result.free, i)) sum.reduced.push_back(i);
    const bool truth = d.body.type() == Type::boolean;
    const Expr old = g_.read(g_.updated_by(d.target), index_values(result.free));
    if (sum.reduced.empty()) {
      result.body = select(all_of(sum.guard), d.body, old);
      return result;
    }
    sum.free = result.free;
    const auto sum_of = [&](const char* suffix, const Expr& body) {
      const TensorId t = g_.new_part(d.target, suffix, Storage::i32, tensor.extents);
      sum.body = body;
      add(sum, t);
      return g_.read(t, index_values(result.free));
    };
    const Expr value = sum_of(".stored", truth ? select(d.body, 1, 0) : d.body);
    const Expr is_stored = not_zero(sum_of(".is_stored", 1));
    result.body = select(is_stored, truth ? not_zero(value) : value, old);
    return result;
  }

  Graph& g_;
  std::vector<Definition>& result_;
  std::map<TensorId, bool> can_copy_;
  std::map<TensorId, TensorId> copies_;
};

// Indices that only conditions mention are reduced first, to how often these hold: along such an
// index lies what they read, and the subscript is read once.
void reduce_conditions(Graph& g, Definition& d, const std::string& data,
                       std::vector<Definition>& result) {
  std::vector<IndexId> others;
  for (IndexId i : d.reduced)
    if (!uses(d.body, i)) others.push_back(i);
  if (others.empty()) return;
  Definition holds{.combine = Combine::sum, .reduced = others, .body = Expr(1)};
  for (const Expr& c : Conditions(d.guard))
    if (std::ranges::any_of(others, [&](IndexId i) { return uses(c, i); }))
      holds.guard.insert(d.guard.extract(c));
  std::erase_if(d.reduced, [&](IndexId i) { return !uses(d.body, i); });
  const std::set<IndexId> used = indices(holds.guard);
  for (IndexId i : d.reduced)
    if (used.count(i)) holds.free.push_back(i);
  holds.target = g.new_tensor(
      {.name = data + ".seen", .storage = Storage::i32, .extents = g.extents(holds.free)});
  d.guard.insert(not_zero(g.target(holds)));
  // Solved as every definition is: for i == 0 and j <= i Halide asks for one region of all j that
  // are wanted and of those that the conditions leave.
  result.push_back(solve::solve_equalities(g, with_fresh_indices(g, holds).definition));
}

// The values of a subscript, where its conditions hold.
struct Range {
  Expr subscript;
  Conditions known;
  std::vector<IndexId> over;
  DataCheck check;

  // Whether all values of the other are among these.
  bool holds(const Range& other) const {
    return this != &other && subscript == other.subscript && check.extent == other.check.extent &&
           std::ranges::includes(other.known, known) && known.size() < other.known.size();
  }
};

// Indices of one name and extent are one in all of them, so that equal ranges of several
// definitions are one.
std::vector<Range> ranges_of(Graph& g, const std::vector<Site>& sites, Copies& copies) {
  std::vector<Range> ranges;
  std::map<std::pair<std::string, Poly>, IndexId> common;
  std::set<std::tuple<Expr, Expr, Poly>> seen;
  for (const Site& s : sites) {
    ATTN_CHECK(copies.can_copy(s.subscript), "a subscript depends on what real data computes");
    std::set<IndexId> used = indices(s.subscript);
    Conditions known;
    for (const Expr& c : s.known)
      if (copies.can_copy(c)) known.insert(c);
    // Conditions bind further indices where they mention one that is used.
    for (const Expr& c : known)
      for (IndexId i : indices(c)) used.insert(i);
    // Where another index has no value, nothing is read.
    for (IndexId i : s.over) {
      const Expr is_there = at_least_zero(size_value(g[i].extent) - 1);
      if (!used.count(i) && !solve::proves(g, {}, is_there)) known.insert(is_there);
    }
    std::map<IndexId, Expr> names;
    Range range;
    for (IndexId i : used) {
      Index index = g[i];
      auto [it, fresh] = common.try_emplace({index.name, index.extent});
      if (fresh) it->second = g.new_index(index.name, index.extent);
      names.emplace(i, index_value(it->second));
      range.over.push_back(it->second);
    }
    range.known = substitute(known, names);
    range.subscript = substitute(s.subscript, names);
    range.check = {.extent = g[s.read].extents[s.dimension],
                   .data = g[*tensors(s.subscript).begin()].name,
                   .read = g[s.read].name,
                   .is_written = s.is_written};
    if (seen.insert({range.subscript, all_of(range.known), range.check.extent}).second)
      ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace

Expr of_nothing(Combine combine) {
  using Limits = std::numeric_limits<int32_t>;
  return Expr(combine == Combine::min ? Limits::max() : Limits::min());
}

Checks data_checks(Graph& g) {
  std::vector<Site> sites;
  for (const Definition& d : g.definitions)
    for (Site& s : sites_of(g, d)) sites.push_back(std::move(s));
  Checks result;
  Copies copies(g, result.definitions);
  std::vector<Range> ranges = ranges_of(g, sites, copies);
  for (const Range& range : ranges) {
    if (std::ranges::any_of(ranges, [&](const Range& r) { return r.holds(range); })) continue;
    Definition d{.reduced = range.over, .body = copies.of(range.subscript)};
    for (const Expr& c : range.known) d.guard.insert(copies.of(c));
    DataCheck check = range.check;
    reduce_conditions(g, d, check.data, result.definitions);
    for (Combine combine : {Combine::min, Combine::max}) {
      Definition end = d;
      end.combine = combine;
      if (d.reduced.empty()) {
        end.combine = Combine::set;
        end.body = select(all_of(end.guard), end.body, of_nothing(combine));
        end.guard.clear();
      }
      end.target = g.new_tensor(
          {.name = fmt::format("{}.{}", check.data, combine == Combine::min ? "least" : "greatest"),
           .storage = Storage::i32});
      (combine == Combine::min ? check.lowest : check.highest) = end.target;
      result.definitions.push_back(std::move(end));
    }
    result.checks.push_back(check);
  }
  return result;
}

}  // namespace attn::plan
