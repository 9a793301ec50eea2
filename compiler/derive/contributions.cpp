#include "compiler/derive/contributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/derive/combine_vjp.h"
#include "compiler/solve/equalities.h"
#include "compiler/solve/points.h"
#include "compiler/solve/prove.h"

namespace attn::derive {
namespace {

using ir::Definition;
using ir::Expr;
using ir::IndexId;

// What is summed at the points of a read is less than this part of the tensor that is read.
constexpr double kLeastSaving = 1.5;

// For each axis the index of the domain that becomes it.
using Match = std::vector<std::optional<IndexId>>;

Match match(const Contribution& c) {
  Match result(c.at.size());
  std::vector<IndexId> open = c.domain;
  auto take = [&](size_t k) {
    if (!c.at[k].is(ir::Kind::index)) return;
    auto it = std::ranges::find(open, c.at[k]->index);
    if (it == open.end()) return;
    result[k] = *it;
    open.erase(it);
  };
  if (c.step) take(*c.step);
  for (size_t k = 0; k < c.at.size(); ++k)
    if (k != c.step) take(k);
  return result;
}

bool reduces(const Contribution& c, const Match& m) {
  const auto matched = std::ranges::count_if(m, [](const auto& i) { return i.has_value(); });
  return static_cast<size_t>(matched) < c.domain.size();
}

// The contribution over the indices `free` of the left side, with what is left of its domain.
Definition scattered(ir::Graph& g, const Contribution& c, const Match& m,
                     const std::vector<IndexId>& free) {
  std::map<IndexId, Expr> renamed;
  ir::Conditions ranges;
  for (size_t k = 0; k < m.size(); ++k) {
    if (!m[k]) continue;
    const Expr n = ir::index_value(free[k]);
    renamed.emplace(*m[k], n);
    if (!g.same(g[*m[k]].extent, g[free[k]].extent))
      ranges.insert(ir::less(n, ir::size_value(g[*m[k]].extent)));
  }
  Definition d;
  d.free = free;
  for (IndexId i : c.domain) {
    if (renamed.count(i)) continue;
    const ir::Index old = g[i];
    d.reduced.push_back(g.new_index(old.name, old.extent));
    renamed.emplace(i, ir::index_value(d.reduced.back()));
  }
  d.combine = d.reduced.empty() ? ir::Combine::set : ir::Combine::sum;
  d.guard = ir::substitute(c.guard, renamed);
  d.guard.merge(ranges);
  for (size_t k = 0; k < m.size(); ++k)
    if (!m[k])
      d.guard.merge(
          ir::conjuncts(ir::equal(ir::index_value(free[k]), ir::substitute(c.at[k], renamed))));
  d.guard = solve::tidy(g, ir::conjuncts(ir::all_of(d.guard)));
  d.body = solve::assume(g, ir::substitute(c.value, renamed), d.guard);
  d.where = c.where;
  return ir::normal_form(std::move(d));
}

std::vector<IndexId> left_side(ir::Graph& g, const std::vector<ir::Poly>& extents,
                               const std::vector<std::string>& names) {
  std::vector<IndexId> result;
  for (size_t k = 0; k < extents.size(); ++k) result.push_back(g.new_index(names[k], extents[k]));
  return result;
}

// The given names, save where a reduced index has the same one and the contribution's own is free.
std::vector<std::string> names_beside(const ir::Graph& g, const Contribution& c, const Match& m,
                                      const std::vector<std::string>& names) {
  std::set<std::string> used(names.begin(), names.end());
  std::set<std::string> reduced;
  for (IndexId i : c.domain)
    if (std::ranges::find(m, std::optional(i)) == m.end()) reduced.insert(g[i].name);
  std::vector<std::string> result = names;
  for (size_t k = 0; k < m.size(); ++k) {
    if (!m[k] || !reduced.count(names[k])) continue;
    const std::string& own = g[*m[k]].name;
    if (!reduced.count(own) && used.insert(own).second) result[k] = own;
  }
  return result;
}

// A contribution that is summed at the points of the read first, and then moved to where these are
// in the tensor that was read.
struct Moved {
  Definition sum;                // over the indices of the read, without a target
  ir::Conditions guard;          // of the elements that one of these points reads
  std::vector<Expr> subscripts;  // the point, by the indices of the left side
};

// For `x[h * E + e]` and the like, where the subscripts have an inverse: the sum keeps the form
// that the reader has, and only a copy of the sum pays for the move. Nothing where several points
// read one element, or where the move costs nothing and saves none.
std::optional<Moved> summed_at_points(ir::Graph& g, const Contribution& c, ir::TensorId target,
                                      const std::vector<IndexId>& free) {
  std::set<IndexId> in_subscripts;
  for (const Expr& s : c.at) in_subscripts.merge(ir::indices(s));
  Definition sum{.combine = ir::Combine::sum, .guard = c.guard, .body = c.value, .where = c.where};
  for (IndexId i : c.domain) (in_subscripts.count(i) ? sum.free : sum.reduced).push_back(i);
  if (c.step || sum.reduced.empty()) return std::nullopt;
  // What lies side by side in the tensor does so among the points.
  const auto beside = std::ranges::find_if(sum.free, [&](IndexId i) {
    const Expr rest = c.at.back() - ir::index_value(i);
    return !ir::uses(rest, i);
  });
  if (beside != sum.free.end()) std::rotate(beside, beside + 1, sum.free.end());

  Definition move{.target = target, .free = free, .combine = ir::Combine::sum, .reduced = sum.free};
  for (size_t k = 0; k < free.size(); ++k)
    move.guard.merge(ir::conjuncts(ir::equal(ir::index_value(free[k]), c.at[k])));
  move.body = ir::read(target, ir::Type::f32, ir::index_values(sum.free));
  move = solve::solve_equalities(g, move);
  if (!move.reduced.empty() || !move.body.is(ir::Kind::read)) return std::nullopt;
  const bool divides = std::ranges::any_of(move.body.args(), ir::has_division);
  const solve::Points points(g, solve::kTypicalSize);
  if (!divides && kLeastSaving * points.of(g.extents(sum.free)) > points.of(g[target].extents))
    return std::nullopt;
  sum.guard = solve::tidy(g, ir::conjuncts(ir::all_of(sum.guard)));
  sum.body = solve::assume(g, sum.body, sum.guard);
  return Moved{ir::with_fresh_indices(g, ir::normal_form(std::move(sum))).definition, move.guard,
               move.body.args()};
}

}  // namespace

std::vector<ir::TensorId> add_up(ir::Graph& g, ir::TensorId target,
                                 const std::vector<std::string>& names,
                                 const std::vector<Contribution>& contributions) {
  std::vector<ir::TensorId> places(contributions.size(), target);
  const ir::Tensor of = g[target];
  auto finish = [&](Definition d, ir::TensorId to) {
    d.target = to;
    // What was named as f64 before it is defined has been read as that.
    if (g[to].role == ir::Role::interior && g[to].storage != ir::Storage::f64)
      g[to].storage = storage_of(d.body);
    g.definitions.push_back(std::move(d));
  };
  std::vector<Expr> addends;
  Definition total;
  total.free = left_side(g, of.extents, names);
  total.where = of.where;
  int parts = 0;
  auto new_part = [&](const std::vector<ir::Poly>& extents, Span where) {
    return g.new_tensor(
        tensor(fmt::format("{}.{}", of.name, ++parts), ir::Storage::f32, extents, where));
  };
  for (size_t k = 0; k < contributions.size(); ++k) {
    const Contribution& c = contributions[k];
    if (auto moved = summed_at_points(g, c, target, total.free)) {
      places[k] = new_part(g.extents(moved->sum.free), c.where);
      finish(std::move(moved->sum), places[k]);
      addends.push_back(ir::where(moved->guard, g.read(places[k], std::move(moved->subscripts))));
      continue;
    }
    const Match m = match(c);
    if (!reduces(c, m)) {
      const Definition d = scattered(g, c, m, total.free);
      addends.push_back(ir::where(d.guard, d.body));
      continue;
    }
    Definition d = scattered(g, c, m, left_side(g, of.extents, names_beside(g, c, m, names)));
    if (contributions.size() == 1 && !d.body.is_zero()) {
      finish(std::move(d), target);
      return places;
    }
    if (d.body.is_zero()) continue;
    const ir::TensorId part = new_part(of.extents, c.where);
    finish(std::move(d), part);
    places[k] = part;
    addends.push_back(g.read(part, ir::index_values(total.free)));
  }
  total.body = ir::add(std::move(addends));
  total = ir::normal_form(std::move(total));
  finish(std::move(total), target);
  return places;
}

}  // namespace attn::derive
